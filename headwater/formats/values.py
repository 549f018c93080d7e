"""From what a parser gives to what the table's columns are, and what is wrong where it does not fit.

A language says how a format writes each type without parts: as which type the parser reads it (`Leaf.read`) and how
that becomes the column's own. Everything with parts follows from it:

    typed(column, shape_of("array<date>"), language)     # TRANSFORM(column, x -> TRY_CAST(x AS DATE))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape
from headwater.formats.trees import (
    Body,
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each,
    each_value,
    either,
    given,
    is_null,
    let,
    number,
    part,
    row_or_null,
)

SHOWN = 100
"""So many characters of a wrong value stand in an error."""

Bind = Callable[[Tree, Body], Tree]
"""Computes a value once and hands it to the body: a column of an inner query, or a variable."""


@dataclass(frozen=True)
class Leaf:
    """How a format writes one type: the type it is read as, and how that becomes the column's own (None: it is it)."""

    read: str
    typed: Callable[[Tree, Bind], Tree] | None = None
    expects: str = ""
    """What a good value looks like, for the error."""

    def text(self, raw: Tree) -> Tree:
        """What was read, as text; NULL where JSON says null."""
        match self.read:
            case "string":
                return raw
            case "variant":
                return call("try_variant_get", raw, "$", "string")
            case "binary":
                return call("hex", raw)
        return cast(raw, "string")


Language = Callable[[Atom], Leaf]


def read_shape(shape: Shape, language: Language) -> Shape:
    """The shape the parser is asked for."""
    match shape:
        case Atom():
            return Atom(language(shape).read)
        case ArrayOf(element):
            return ArrayOf(read_shape(element, language))
        case MapOf(key, value):
            return MapOf(key, read_shape(value, language))
        case RowOf(fields):
            return RowOf(tuple((name, read_shape(inner, language)) for name, inner in fields))


def is_read_whole(shape: Shape, language: Language) -> bool:
    """True if the parser itself gives the column's type."""
    match shape:
        case Atom():
            return language(shape).typed is None
        case ArrayOf(inner) | MapOf(_, inner):
            return is_read_whole(inner, language)
        case RowOf(fields):
            return all(is_read_whole(inner, language) for _, inner in fields)


def typed(raw: Tree, shape: Shape, language: Language, *, bind: Bind = let) -> Tree:
    """The column's value; NULL where there is none and where what was read does not fit."""
    if is_read_whole(shape, language):
        return raw
    match shape:
        case Atom():
            convert = language(shape).typed
            assert convert is not None
            return convert(raw, bind)
        case ArrayOf(inner):
            return each("transform", raw, lambda x: typed(x, inner, language))
        case MapOf(_, inner):
            return each_value(raw, lambda x: typed(x, inner, language))
        case RowOf(fields):
            return row_or_null(
                raw, [(name, typed(part(raw, name), inner, language)) for name, inner in fields]
            )


def misfits(raw: Tree, shape: Shape, language: Language, *, value: Tree | None = None) -> Tree | None:
    """The condition that something in `raw` does not fit; None if nothing can.

    `value` is what `raw` became, where it is known already.
    """
    if is_read_whole(shape, language):
        return None
    match shape:
        case Atom():
            made = value if value is not None else typed(raw, shape, language)
            return both(is_null(made), given(language(shape).text(raw)))
        case ArrayOf(inner):
            return _exists(raw, inner, language)
        case MapOf(_, inner):
            return _exists(call("map_values", raw), inner, language)
        case RowOf(fields):
            found = [misfits(part(raw, name), inner, language) for name, inner in fields]
            return either(*[condition for condition in found if condition is not None])


def _exists(array: Tree, inner: Shape, language: Language) -> Tree:
    return call(
        "coalesce", each("exists", array, lambda x: _sure(x, inner, language)), cast(number(0), "boolean")
    )


def _sure(raw: Tree, shape: Shape, language: Language) -> Tree:
    condition = misfits(raw, shape, language)
    assert condition is not None
    return condition


def complaint(raw: Tree, shape: Shape, language: Language, *, path: str) -> Tree:
    """What is wrong with a value that misfits: which field of it, and what stands there."""
    match shape:
        case Atom():
            leaf = language(shape)
            return unreadable(leaf.text(raw), shape, path=path, expects=leaf.expects)
        case ArrayOf(inner):
            return _first(raw, inner, language, path=f"{path}[]")
        case MapOf(_, inner):
            return _first(call("map_values", raw), inner, language, path=f"{path}{{}}")
        case RowOf(fields):
            branches = []
            for name, inner in fields:
                condition = misfits(part(raw, name), inner, language)
                if condition is not None:
                    told = complaint(part(raw, name), inner, language, path=f"{path}.{name}")
                    branches.append((condition, told))
            return case(*branches)


def _first(array: Tree, inner: Shape, language: Language, *, path: str) -> Tree:
    wrong = each("filter", array, lambda x: _sure(x, inner, language))
    return let(call("element_at", wrong, number(1)), lambda x: complaint(x, inner, language, path=path))


def unreadable(shown: Tree, shape: Atom, *, path: str, expects: str = "") -> Tree:
    """The error for one value."""
    wanted = f"{shape.name} ({expects})" if expects else shape.name
    return concat(f'field "{path}" cannot be read as {wanted}: ', call("left", shown, number(SHOWN)))
