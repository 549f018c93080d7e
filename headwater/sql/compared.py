"""What subqueries compare with the query around them learns its type from Spark, where names alone do not tell it.

... k IN (SELECT REPLACE(s, 'a', '') FROM w) OR id = 7   asks   SELECT REPLACE(CAST(NULL AS STRING), 'a', '')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from headwater.plan.walk import note_type, noted_type
from headwater.sql.free_columns import free_columns

Analyse = Callable[[exp.Query], Mapping[str, str]]
"""Tells the types of a query's columns."""


def note_compared(query: exp.Query, analyse: Analyse) -> None:
    """Let both sides of all that ties a subquery of an expression remember their types."""
    asked = [side for pair in _pairs(query) for side in pair]
    if not all(noted_type(side.unnest()) for side in asked):
        types = _Types(query, analyse)
        for side in asked:
            types.note(side)


def _pairs(query: exp.Query) -> Iterable[tuple[exp.Expr, exp.Expr]]:
    for node in query.find_all(exp.In):
        if node.args.get("query"):
            given = node.this.unnest()
            values = given.expressions if isinstance(given, exp.Tuple) else [given]
            for part in parts_of(node.args["query"]):
                yield from zip(values, (item.unalias() for item in part.selects), strict=False)
    for inner in query.find_all(exp.Select):
        free = {id(column) for column in free_columns(inner)} if inner is not query else ()
        for same in inner.find_all(exp.EQ, exp.NullSafeEQ) if free else ():
            if any(id(column) in free for column in same.find_all(exp.Column)):
                yield same.this, same.expression


def parts_of(query: exp.Expr) -> list[exp.Select]:
    """A SELECT, or those that UNION and the like put together."""
    if isinstance(query, exp.SetOperation):
        return [*parts_of(query.this), *parts_of(query.expression)]
    if isinstance(query, exp.Subquery):
        return parts_of(query.this)
    return [query] if isinstance(query, exp.Select) else []


_T = exp.DataType.Type
_WHOLE = (_T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT)
_FLOATING = (_T.FLOAT, _T.DOUBLE)
_MOMENTS = (_T.DATE, _T.TIMESTAMPTZ, _T.TIMESTAMP, _T.TIMESTAMPLTZ)
_TEXTS = tuple(exp.DataType.TEXT_TYPES)
_NUMBERS = (*_WHOLE, *_FLOATING, _T.DECIMAL)
_KEPT: tuple[tuple[tuple[exp.DType, ...], tuple[exp.DType, ...]], ...] = (
    (_WHOLE[:3], (*_NUMBERS, *_TEXTS)),
    (_WHOLE, (*_WHOLE, _T.DECIMAL, *_TEXTS)),
    ((_T.DECIMAL,), (*_WHOLE, _T.DECIMAL)),
    (_FLOATING, (*_NUMBERS, *_TEXTS)),
    (_TEXTS, _TEXTS),
    (_MOMENTS, (*_MOMENTS, *_TEXTS)),
    ((_T.BOOLEAN,), _TEXTS),
)
"""Types of which no two values become one where they are compared with the types behind them."""


def is_one_to_one(inside: exp.Expr, outside: exp.Expr) -> bool:
    """True if of what a subquery gives, each value once, at most one is equal to a value around it.

    '1' and '01' are both the number 1, and floating numbers cannot hold each wide one.
    """
    if any(isinstance(side.unnest(), exp.Null) for side in (inside, outside)):
        return True
    inner, outer = noted_type(inside.unnest()), noted_type(outside.unnest())
    if inner is None or outer is None:
        return False
    return inner == outer or any(inner.this in kept and outer.this in others for kept, others in _KEPT)


class _Types:
    """The types of expressions of one query; each is asked for once."""

    def __init__(self, query: exp.Query, analyse: Analyse) -> None:
        self._analyse = analyse
        self._scopes = {id(column): scope for scope in traverse_scope(query) for column in scope.columns}

    def note(self, node: exp.Expr) -> None:
        """Let an expression remember its type, if it can be told."""
        bare = node.unnest()
        if noted_type(bare) is None and (kind := self._type(bare)) is not None:
            note_type(bare, kind)

    def _type(self, node: exp.Expr) -> exp.DataType | None:
        if isinstance(node, exp.Column):
            return noted_type(node) or self._made(node)
        told = self._told(node)
        return told[0] if told else None

    def _told(self, node: exp.Expr) -> list[exp.DataType]:
        """The types of what an expression, or a generator, gives; none if they cannot be told."""
        if node.find(exp.Query, exp.Grouping, exp.GroupingId) is not None:
            return []
        columns = {column: self._type(column) for column in node.find_all(exp.Column)}

        def typed(inner: exp.Expr) -> exp.Expr:
            kind = columns.get(inner) if isinstance(inner, exp.Column) else None
            return inner if kind is None else exp.cast(exp.null(), kind.copy())

        return self._asked(exp.select(node.copy().transform(typed))) if all(columns.values()) else []

    def _asked(self, query: exp.Query) -> list[exp.DataType]:
        kinds = list(self._analyse(query).values())
        return [] if "void" in kinds else [exp.DataType.build(kind, dialect="spark") for kind in kinds]

    def _made(self, column: exp.Column) -> exp.DataType | None:
        """The type of a column of a derived table, or of what a generator makes: of what it is there."""
        scope = self._scopes.get(id(column))
        while scope is not None and column.table not in scope.sources:
            scope = scope.parent
        source = scope.sources[column.table] if scope is not None else None
        made = source.expression if isinstance(source, Scope) else None
        if isinstance(made, exp.UDTF):
            return self._generated(made).get(column.name)
        names = made.named_selects if isinstance(made, exp.Query) else []
        return self._at(made, names.index(column.name)) if made is not None and column.name in names else None

    def _generated(self, made: exp.UDTF) -> dict[str, exp.DataType | None]:
        """The types of the columns of VALUES, LATERAL and UNNEST."""
        names = made.alias_column_names
        if isinstance(made, exp.Values):
            return dict(zip(names, self._asked(exp.select("*").from_(made.copy())), strict=False))
        if isinstance(made.this, exp.Subquery):
            return {name: self._at(made.this, place) for place, name in enumerate(names)}
        if isinstance(made, exp.Unnest):
            calls = [exp.Explode(this=array.copy()) for array in made.expressions]
            return {name: self._type(call) for name, call in zip(names, calls, strict=False)}
        return dict(zip(names, self._told(made.this), strict=False))

    def _at(self, query: exp.Expr, place: int) -> exp.DataType | None:
        if isinstance(query, exp.Subquery):
            return self._at(query.this, place)
        if isinstance(query, exp.SetOperation):
            sides = [self._at(side, place) for side in (query.this, query.expression)]
            parts = [exp.select(exp.cast(exp.null(), side)) for side in sides if side is not None]
            kinds = self._asked(exp.union(*parts, distinct=False)) if len(parts) == len(sides) else []
            return kinds[0] if kinds else None
        return self._type(query.selects[place].unalias()) if isinstance(query, exp.Select) else None
