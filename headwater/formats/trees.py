"""Short words for trees of Spark SQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from headwater.schema import sql_type

Tree = exp.Expr
Body = Callable[[exp.Expr], exp.Expr]

_numbers = itertools.count()


def text(value: str) -> Tree:
    """A string literal."""
    return exp.Literal.string(value)


def number(value: int) -> Tree:
    """A whole number."""
    return exp.Literal.number(value)


def null(kind: str) -> Tree:
    """NULL of a type."""
    return cast(exp.null(), kind)


def column(name: str) -> Tree:
    """A column of what is selected from."""
    return exp.column(exp.to_identifier(name, quoted=True))


def part(of: Tree, name: str) -> Tree:
    """A field of a struct."""
    return exp.Dot(this=of.copy(), expression=exp.to_identifier(name, quoted=True))


def call(name: str, *arguments: Tree | str) -> Tree:
    """A function call; plain strings are string literals."""
    given = [text(a) if isinstance(a, str) else a.copy() for a in arguments]
    return exp.Anonymous(this=name, expressions=given)


def cast(value: Tree, kind: str) -> Tree:
    """CAST, with our own text for the type."""
    return exp.Cast(this=value.copy(), to=exp.DataType.build(sql_type(kind), dialect="spark"))


def try_cast(value: Tree, kind: str) -> Tree:
    """TRY_CAST: NULL where the value does not fit."""
    # Without `safe` the generator writes a plain CAST, which raises.
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(sql_type(kind), dialect="spark"), safe=True)


def case(*branches: tuple[Tree, Tree], default: Tree | None = None) -> Tree:
    """CASE WHEN ... THEN ... ELSE ... END."""
    ifs = [exp.If(this=when.copy(), true=then.copy()) for when, then in branches]
    return exp.Case(ifs=ifs, default=default.copy() if default is not None else None)


def is_null(value: Tree) -> Tree:
    """value IS NULL."""
    return exp.Is(this=value.copy(), expression=exp.null())


def given(value: Tree) -> Tree:
    """value IS NOT NULL."""
    return exp.Not(this=is_null(value))


def equals(left: Tree, right: Tree) -> Tree:
    """left = right."""
    return exp.EQ(this=left.copy(), expression=right.copy())


def both(*conditions: Tree) -> Tree:
    """All of them, TRUE for none."""
    return exp.and_(*[c.copy() for c in conditions]) if conditions else exp.true()


def either(*conditions: Tree) -> Tree:
    """Any of them, FALSE for none."""
    return exp.or_(*[c.copy() for c in conditions]) if conditions else exp.false()


def negated(condition: Tree) -> Tree:
    """NOT condition."""
    return exp.Not(this=exp.Paren(this=condition.copy()))


def like_pattern(value: Tree, pattern: str) -> Tree:
    """RLIKE."""
    return exp.RegexpLike(this=value.copy(), expression=text(pattern))


def row(fields: Iterable[tuple[str, Tree]]) -> Tree:
    """A struct."""
    arguments: list[Tree | str] = []
    for name, value in fields:
        arguments += [name, value]
    return call("named_struct", *arguments)


def row_or_null(there: Tree, fields: Iterable[tuple[str, Tree]]) -> Tree:
    """A struct where `there` is not NULL."""
    return case((given(there), row(fields)))


def each(function: str, of: Tree, body: Body) -> Tree:
    """A higher-order function over an array: `each("transform", column, lambda x: ...)`."""
    return call(function, of, _lambda("x", lambda names: body(names[0])))


def each_at(function: str, of: Tree, body: Callable[[Tree, Tree], Tree]) -> Tree:
    """The same with the index of the element, from zero."""
    return call(function, of, _lambda("xi", lambda names: body(names[0], names[1])))


def each_entry(function: str, of: Tree, body: Callable[[Tree, Tree], Tree]) -> Tree:
    """A higher-order function over the names and values of a map."""
    return call(function, of, _lambda("kx", lambda names: body(names[0], names[1])))


def each_value(of: Tree, body: Body) -> Tree:
    """A map with every value replaced."""
    return call("transform_values", of, _lambda("kx", lambda names: body(names[1])))


def _lambda(letters: str, body: Callable[[list[Tree]], Tree]) -> Tree:
    """A lambda whose variables are called by its height above the innermost one, so that equal trees have equal text."""
    unknown = [f"unknown{next(_numbers)}" for _ in letters]
    made = body([exp.column(name) for name in unknown]).copy()
    height = max((int(inner.expressions[0].name[1:]) for inner in made.find_all(exp.Lambda)), default=0) + 1
    known = {name: f"{letter}{height}" for name, letter in zip(unknown, letters, strict=True)}
    for variable in [found for found in made.find_all(exp.Column) if found.name in known]:
        variable.set("this", exp.to_identifier(known[variable.name]))
    return exp.Lambda(this=made, expressions=[exp.to_identifier(name) for name in known.values()])


def let(value: Tree, body: Body) -> Tree:
    """`body` of a value that is computed once.

    It is evaluated without compiled code, so it costs nothing where it is not reached and little code where it is.
    """
    return call("element_at", each("transform", call("array", value), body), number(1))


def aliased(value: Tree, name: str) -> Tree:
    """value AS name."""
    return exp.alias_(value.copy(), name, quoted=True)


def concat(*pieces: Tree | str) -> Tree:
    """Texts one after the other."""
    return call("concat", *pieces)


def first_of(*values: Tree) -> Tree:
    """The first that is not NULL."""
    return call("coalesce", *values)


def in_list(value: Tree, items: Sequence[Tree]) -> Tree:
    """value IN (...)."""
    return exp.In(this=value.copy(), expressions=[item.copy() for item in items])
