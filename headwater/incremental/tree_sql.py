"""A plan as one query, its scans read from wherever the caller says.

Joins stay a flat FROM clause as long as SQL lets them; what has to be a relation of its own becomes a derived table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.incremental.weights import union_all
from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    JoinKind,
    Opaque,
    Plan,
    Project,
    Renamed,
    Scan,
    SetOperation,
    Top,
    Union,
    Window,
    inputs,
    output,
)
from headwater.plan.orderable import orderable
from headwater.plan.push import conjuncts
from headwater.plan.walk import as_ordered, note_type, noted_type

Environment = Mapping[tuple[str, str], exp.Expr]
"""What a column reference (qualifier, name) stands for."""

Leaf = Callable[[Scan], exp.Expr]
"""The rows of a scan as a table or derived table; it is named by the scan's alias afterwards."""

_ONE_WAY = (exp.Count, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
"""Aggregates that give the same whatever the order of the rows."""

_SQL_KINDS = {
    JoinKind.LEFT: "left",
    JoinKind.FULL: "full",
    JoinKind.SEMI: "left semi",
    JoinKind.ANTI: "left anti",
}


@dataclass(frozen=True)
class _From:
    """A FROM clause in the making: its tables, conditions, and what the columns above stand for."""

    first: exp.Expr
    joins: tuple[exp.Join, ...]
    conditions: tuple[exp.Expr, ...]
    columns: Environment

    @property
    def is_bare(self) -> bool:
        """True if it is one table whose columns are taken as they are."""
        plain = all(isinstance(e, exp.Column) for e in self.columns.values())
        return not self.joins and not self.conditions and plain

    @property
    def tables(self) -> set[str]:
        """What its tables are called."""
        return {table.alias for table in (self.first, *(join.this for join in self.joins))}

    def select(self, items: list[Item]) -> exp.Select:
        """`SELECT items` from it; items are in terms of the columns above."""
        chosen = [exp.alias_(substituted(i.expression, self.columns), i.name) for i in items]
        query = exp.select(*(chosen or [exp.alias_(exp.true(), "one")])).from_(self.first.copy())
        query.set("joins", [join.copy() for join in self.joins])
        return query.where(*[c.copy() for c in self.conditions]) if self.conditions else query


def query_of_plan(plan: Plan, leaf: Leaf) -> exp.Select:
    """The query that yields the output columns of a plan."""
    return _Writer(plan, leaf, _scanned(plan)).query(plan)


def _scanned(plan: Plan) -> frozenset[str]:
    """What the scans of a plan are called."""
    own = {plan.alias.lower()} if isinstance(plan, Scan) else set()
    return frozenset(own.union(*map(_scanned, inputs(plan))))


@dataclass
class _Writer:
    whole: Plan
    leaf: Leaf
    taken: frozenset[str]
    """Names that are not ours to give: those of scans."""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def query(self, plan: Plan) -> exp.Select:
        """The output columns of a plan, by their bare names."""
        source = self._from(plan)
        items = [Item(name, exp.column(name, qualifier or None)) for qualifier, name in source.columns]
        return source.select(items)

    def _from(self, plan: Plan) -> _From:
        match plan:
            case Scan():
                table = exp.alias_(self.leaf(plan), plan.alias, table=True)
                columns: Environment = {
                    (plan.alias, name): exp.column(name, plan.alias) for name in plan.columns
                }
                return _From(table, (), (), columns)
            case Filter(below, condition):
                source = self._from(below)
                met = tuple(substituted(c, source.columns) for c in conjuncts(condition))
                return replace(source, conditions=source.conditions + met)
            case Project(below, items):
                source = self._from(below)
                columns = {("", i.name): substituted(i.expression, source.columns) for i in items}
                return replace(source, columns=columns)
            case Alias(below, alias):
                source = self._from(below)
                return replace(source, columns={(alias, n): e for (_, n), e in source.columns.items()})
            case Renamed(below, names):
                source = self._from(below)
                return replace(source, columns=dict(zip(names, source.columns.values(), strict=True)))
            case Join():
                return self._join(plan)
        return self._derived(plan)

    def _join(self, plan: Join) -> _From:
        left, right = self._from(plan.left), self._from(plan.right)
        if left.tables & right.tables:
            # A query of WITH that is read twice: each has its tables by the same names.
            right = self._wrapped(right)
        if plan.kind is JoinKind.INNER:
            if any(join.side == "FULL" for join in right.joins):
                # Behind another table it would join that one too.
                right = self._wrapped(right)
            columns = {**left.columns, **right.columns}
            met = _met(plan, columns)
            first = exp.Join(this=right.first.copy(), kind="CROSS")
            if met and not right.joins:
                first = exp.Join(this=right.first.copy(), on=exp.and_(*met))
                met = ()
            joins = (*left.joins, first, *right.joins)
            return _From(left.first, joins, left.conditions + right.conditions + met, columns)
        extra: tuple[exp.Expr, ...] = ()
        if plan.kind is JoinKind.FULL:
            left = left if left.is_bare else self._wrapped(left)
            right = right if right.is_bare else self._wrapped(right)
        elif not right.joins and replace(right, conditions=()).is_bare:
            # What only the right side has to meet may as well be asked when it is joined.
            extra, right = right.conditions, replace(right, conditions=())
        else:
            right = self._wrapped(right)
        columns = {**left.columns, **right.columns}
        met = _met(plan, columns)
        on = exp.and_(*extra, *met) if extra or met else exp.true()
        side, _, kind = _SQL_KINDS[plan.kind].partition(" ")
        joined = exp.Join(this=right.first.copy(), side=side.upper(), kind=kind.upper() or None, on=on)
        kept = left.columns if plan.kind in (JoinKind.SEMI, JoinKind.ANTI) else columns
        return _From(left.first, (*left.joins, joined), left.conditions, kept)

    def _derived(self, plan: Plan) -> _From:
        """A node that is a relation of its own."""
        match plan:
            case Aggregate():
                return self._named(self._grouped(plan), [("", n) for n in output(plan)])
            case Distinct(below):
                return self._named(self.query(below).distinct(), [("", n) for n in output(plan)])
            case Union(parts):
                rows = union_all([self.query(part) for part in parts])
                return self._named(rows, [("", n) for n in output(plan)])
            case SetOperation(left, right, is_except, copies):
                kind = exp.Except if is_except else exp.Intersect
                both = kind(this=self.query(left), expression=self.query(right), distinct=not copies)
                return self._named(both, [("", n) for n in output(plan)])
            case Window(below, items):
                source = self._from(below)
                if any(not isinstance(i.expression.this, _ONE_WAY) for i in items):
                    # Other columns tell rows apart that are alike for the windows, unless they have no order.
                    names = [exp.column(n, q or None) for q, n in source.columns]
                    others = [name for name in names if (name.table, name.name) in orderable(self.whole)]
                    source = self._in_order(source, names, by=[*(i.expression for i in items), *others])
                return self._widened(source, items)
            case Generate(below, call, alias, names):
                return self._generated(self._from(below), call, alias, names)
            case Top(below, order, limit, offset):
                ordered = exp.select("*").from_(self.query(below).subquery(self._alias()))
                ordered = ordered.order_by(*[key.copy() for key in order]).limit(limit)
                made = ordered.offset(offset) if offset else ordered
                return self._named(made, [("", n) for n in output(plan)])
            case Opaque():
                return self._named(plan.query.copy(), [("", n) for n in plan.columns])
        raise AssertionError(f"{type(plan).__name__} is no relation of its own")

    def _grouped(self, plan: Aggregate) -> exp.Select:
        source = self._from(plan.input)
        if any(not isinstance(m.expression.unnest(), _ONE_WAY) for m in plan.measures):
            keys, measures = ([i.expression for i in items] for items in (plan.keys, plan.measures))
            plain = [key for key in keys if isinstance(key, exp.Column)]
            source = self._in_order(source, [*keys, *measures], by=[*plain, *measures])
        query = source.select([*plan.keys, *plan.measures])
        if not plan.keys:
            return query
        return query.group_by(*[_key(substituted(key.expression, source.columns)) for key in plan.keys])

    def _in_order(self, source: _From, wanted: Sequence[exp.Expr], *, by: Sequence[exp.Expr]) -> _From:
        """The columns of some expressions, in the order of some: the same rows give the same floating sums and lists."""
        used = {(c.table, c.name): c for e in wanted for c in e.find_all(exp.Column)}
        if not used:
            return source
        names = {key: f"c{i}" for i, key in enumerate(used)}
        query = source.select([Item(names[key], column) for key, column in used.items()])
        keys = dict.fromkeys(column for e in by for column in e.find_all(exp.Column))
        if keys:
            query = query.order_by(*[as_ordered(exp.column(names[c.table, c.name]), c) for c in keys])
        alias = self._alias()
        columns = {key: exp.column(f"c{i}", alias) for i, key in enumerate(used)}
        return _From(exp.Subquery(this=query, alias=_table_alias(alias)), (), (), columns)

    def _widened(self, source: _From, items: tuple[Item, ...]) -> _From:
        """The rows of a source with further columns."""
        query, columns, alias = self._all(source)
        for item in items:
            query = query.select(exp.alias_(substituted(item.expression, source.columns), item.name))
            columns["", item.name] = exp.column(item.name, alias)
        return _From(exp.Subquery(this=query, alias=_table_alias(alias)), (), (), columns)

    def _generated(self, source: _From, call: exp.Expr, alias: str, names: tuple[str, ...]) -> _From:
        query, columns, outer = self._all(source)
        made = [exp.to_identifier(f"g{i}") for i in range(len(names))]
        lateral = exp.Lateral(
            this=substituted(call, source.columns),
            view=True,
            alias=exp.TableAlias(this=exp.to_identifier("generated"), columns=made),
        )
        query.append("laterals", lateral)
        for i, name in enumerate(names):
            query = query.select(exp.alias_(exp.column(f"g{i}", "generated"), f"g{i}"))
            columns[alias, name] = exp.column(f"g{i}", outer)
        return _From(exp.Subquery(this=query, alias=_table_alias(outer)), (), (), columns)

    def _wrapped(self, source: _From) -> _From:
        query, columns, alias = self._all(source)
        return _From(exp.Subquery(this=query, alias=_table_alias(alias)), (), (), columns)

    def _all(self, source: _From) -> tuple[exp.Select, dict[tuple[str, str], exp.Expr], str]:
        """A query for all columns of a source, what they are called in it, and the name it will go by."""
        alias = self._alias()
        items = [Item(f"c{i}", exp.column(n, q or None)) for i, (q, n) in enumerate(source.columns)]
        columns: dict[tuple[str, str], exp.Expr] = {
            key: exp.column(f"c{i}", alias) for i, key in enumerate(source.columns)
        }
        return source.select(items), columns, alias

    def _named(self, query: exp.Query, columns: list[tuple[str, str]]) -> _From:
        alias = self._alias()
        named = {key: exp.column(key[1], alias) for key in columns}
        return _From(exp.Subquery(this=query, alias=_table_alias(alias)), (), (), named)

    def _alias(self) -> str:
        return next(name for n in self._numbers if (name := f"t{n}") not in self.taken)


def _met(plan: Join, columns: Environment) -> tuple[exp.Expr, ...]:
    """What the condition of a join asks for, by the names that its columns go by."""
    found = conjuncts(plan.condition) if plan.condition is not None else []
    return tuple(substituted(condition, columns) for condition in found)


def _key(expression: exp.Expr) -> exp.Expr:
    """What to group by; of constants, a number that stands by itself would mean a column by its place."""
    return expression if expression.find(exp.Column, exp.Query) else exp.true()


def _table_alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def substituted(expression: exp.Expr, columns: Environment) -> exp.Expr:
    """The expression with every column replaced by what it stands for."""

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        meant = columns[node.table, node.name].copy()
        if isinstance(meant, exp.Column) and (kind := noted_type(node)) is not None:
            note_type(meant, kind)
        # AND, OR and RLIKE are functions to the library, and are written as operators.
        is_one = isinstance(meant, exp.Column | exp.Literal | exp.Func) and not isinstance(meant, exp.Binary)
        return meant if is_one else exp.paren(meant, copy=False)

    return expression.copy().transform(swap)
