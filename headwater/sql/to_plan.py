"""From a bound query to a plan.

What no rule maintains becomes an Opaque node, as small as possible: a derived table that needs a recompute does not
drag the query around it along.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Item,
    Opaque,
    Plan,
    Project,
    SetOperation,
    Union,
    Window,
    output,
)
from headwater.plan.reasons import NotMaintained, Reason
from headwater.plan.walk import relations_of, table_name
from headwater.sql.bind import Bound
from headwater.sql.calls import calls_in, walk, windows_in, without_null_counts
from headwater.sql.catalog import Catalog
from headwater.sql.free_columns import free_columns, has_subquery, inner_query
from headwater.sql.from_clause import FromClause, makes_rows
from headwater.sql.grouping import GROUPS, grouped, put_for, renamed
from headwater.sql.ordering import has_limit, in_terms_of, is_name, order_of, ordered, top_of
from headwater.sql.subqueries import Subqueries

Ctes = dict[str, "tuple[exp.Query, Ctes]"]
"""What WITH has named so far: each query, and the names that it could see itself."""


@dataclass
class _Select:
    """The expressions of a SELECT on their way up: through aggregate, window functions and subqueries."""

    names: tuple[str, ...]
    items: list[exp.Expr]
    order: list[exp.Expr]
    shown: list[bool]
    """Of each key of the order: whether it is the name of an output column."""
    having: exp.Expr | None
    qualify: exp.Expr | None

    def all(self) -> list[exp.Expr]:
        late = [clause for clause in (self.having, self.qualify) if clause is not None]
        return [*self.items, *self.order, *late]


@dataclass
class _Planner:
    catalog: Catalog
    ctes: Ctes = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._subqueries = Subqueries(self.plan)
        self._from = FromClause(self.catalog, self.plan, self._named, self._subqueries)

    def plan(self, query: exp.Expr) -> Plan:
        match query:
            case exp.Subquery():
                return self.plan(query.this)
            case exp.Select() | exp.SetOperation():
                outside = self.ctes
                try:
                    self._take_ctes(query)
                    return self._select(query) if isinstance(query, exp.Select) else self._set(query)
                except NotMaintained as why:
                    return self._opaque(query, why.reason, outside)
                finally:
                    self.ctes = outside
        return self._opaque(query, Reason.SHAPE, self.ctes)

    def _take_ctes(self, query: exp.Query) -> None:
        if query.args.get("with_") and query.args["with_"].args.get("recursive"):
            raise NotMaintained(Reason.RECURSION)
        for cte in query.ctes:
            self.ctes = self.ctes | {cte.alias.lower(): (cte.this, self.ctes)}

    def _named(self, name: str) -> Plan | None:
        """The plan of what WITH named so."""
        if name not in self.ctes:
            return None
        outside, (body, self.ctes) = self.ctes, self.ctes[name]
        try:
            return self.plan(body)
        finally:
            self.ctes = outside

    def _opaque(self, query: exp.Expr, reason: Reason, outside: Ctes) -> Opaque:
        """The query as it stands, with the WITH of the queries around it that it can see."""
        assert isinstance(query, exp.Query)
        whole = query.copy()
        inner = [whole.args.pop("with_")] if whole.args.get("with_") else []
        for name, (body, _) in outside.items():
            whole = whole.with_(name, as_=body.copy(), copy=False)
        for with_ in inner:
            for cte in with_.expressions:
                is_recursive = bool(with_.args.get("recursive"))
                whole = whole.with_(cte.args["alias"], as_=cte.this, recursive=is_recursive, copy=False)
        read = dict.fromkeys(self.catalog.get(table_name(table), None).name for table in relations_of(whole))
        names_out = unique_names(tuple(query.named_selects))
        first = whole
        while isinstance(first, exp.SetOperation):
            first = first.left
        if isinstance(first, exp.Select):
            first.set("expressions", _called(first.selects, names_out))
        return Opaque(whole, names_out, tuple(read), reason)

    def _set(self, query: exp.SetOperation) -> Plan:
        left, right = (_with_unique_names(self.plan(side)) for side in (query.this, query.expression))
        copies = not query.args.get("distinct")
        if isinstance(query, exp.Union):
            parts = [
                p for side in (left, right) for p in (side.inputs if isinstance(side, Union) else (side,))
            ]
            both: Plan = Union(tuple(parts))
            plan = both if copies else Distinct(both)
        else:
            plan = SetOperation(left, right, isinstance(query, exp.Except), copies)
        if not has_limit(query):
            return plan
        keys = query.args["order"].expressions if query.args.get("order") else []
        return top_of(plan, tuple(key.copy() for key in keys), query)

    def _select(self, query: exp.Select) -> Plan:
        _refuse(query)
        plan = self._from.of(query)
        where = query.args.get("where")
        if where is not None:
            plan = self._subqueries.filtered(plan, where.this)
        asked = _asked(query)
        if query.args.get("group") or asked.having is not None or calls_in(asked.all()):
            plan = self._aggregate(query, asked, plan)
        plan = self._windows(asked, plan)
        return self._projected(query, asked, plan)

    def _aggregate(self, query: exp.Select, asked: _Select, plan: Plan) -> Plan:
        grouping = grouped(query, plan)
        calls = list(dict.fromkeys(calls_in(asked.all())))
        if not calls and not grouping.keys:
            calls = [exp.Count(this=exp.Star())]  # HAVING alone: one group of everything
        if any(has_subquery(e) for e in [*calls, *grouping.names]):
            raise NotMaintained(Reason.SUBQUERY_PLACE)
        measures = tuple(Item(f"m{i}", call) for i, call in enumerate(calls))
        names = {**grouping.names, **{m.expression: exp.column(m.name) for m in measures}}
        result: Plan = Aggregate(grouping.plan, grouping.keys, measures)
        if any(inner_query(c, e) is not None for e in asked.all() for c in free_columns(e)):
            # What a query inside is tied to has to be told from what it calls its own.
            result = Alias(result, GROUPS)
            for column in (c for one in names.values() for c in one.find_all(exp.Column)):
                column.set("table", exp.to_identifier(GROUPS))
        if asked.having is not None:
            result = self._subqueries.filtered(result, renamed(asked.having, names))
        asked.items = [renamed(e, names) for e in asked.items]
        asked.order = [ordered(key, renamed(key.this, names)) for key in asked.order]
        asked.qualify = renamed(asked.qualify, names) if asked.qualify is not None else None
        return result

    def _windows(self, asked: _Select, plan: Plan) -> Plan:
        qualify = [asked.qualify] if asked.qualify is not None else []
        windows = list(dict.fromkeys(windows_in([*asked.items, *asked.order, *qualify])))
        if not windows:
            return plan
        if any(has_subquery(window) for window in windows):
            raise NotMaintained(Reason.SUBQUERY_PLACE)
        plan = Window(plan, tuple(Item(f"w{i}", window) for i, window in enumerate(windows)))
        names = {window: exp.column(f"w{i}") for i, window in enumerate(windows)}

        def above(expression: exp.Expr) -> exp.Expr:
            return expression.copy().transform(
                lambda node: put_for(node, names[node]) if node in names else node
            )

        asked.items = [above(e) for e in asked.items]
        asked.order = [above(e) for e in asked.order]
        return self._subqueries.filtered(plan, above(qualify[0])) if qualify else plan

    def _projected(self, query: exp.Select, asked: _Select, plan: Plan) -> Plan:
        items: list[Item] = []
        for name, expression in zip(unique_names(asked.names), asked.items, strict=True):
            if has_subquery(expression):
                attached, expression = self._subqueries.lifted(expression)
                for one in attached:
                    plan = one.to(plan)
            items.append(Item(name, expression))
        if not has_limit(query):
            made: Plan = Project(plan, tuple(items))
            return Distinct(made) if query.args.get("distinct") else made
        extra, order = order_of(asked.order, asked.shown, items)
        made = Project(plan, (*items, *extra))
        if query.args.get("distinct"):
            made = Distinct(made)
        top = top_of(made, order, query)
        return Project(top, tuple(Item(i.name, exp.column(i.name)) for i in items)) if extra else top


def _asked(query: exp.Select) -> _Select:
    having, qualify, order = (query.args.get(clause) for clause in ("having", "qualify", "order"))
    names = tuple(e.alias_or_name for e in query.selects)
    keys = list(order.expressions) if order is not None and has_limit(query) else []
    items = [e.unalias() for e in query.selects]
    shown = [is_name(key.this.unnest(), names) for key in keys]
    meant = dict(zip(names, items, strict=True))
    return _Select(
        names,
        items,
        [key if is_shown else in_terms_of(meant, key) for key, is_shown in zip(keys, shown, strict=True)],
        shown,
        without_null_counts(having.this) if having is not None else None,
        qualify.this if qualify is not None else None,
    )


def _called(items: Sequence[exp.Expr], names: Sequence[str]) -> list[exp.Expr]:
    """The items of a select list under these names; STACK(...) AS (a, b) takes several of them."""
    left = iter(names)
    made: list[exp.Expr] = []
    for item in items:
        if isinstance(item, exp.Aliases):
            several = [exp.to_identifier(name) for name in itertools.islice(left, len(item.expressions))]
            made.append(exp.Aliases(this=item.this, expressions=several))
        else:
            made.append(exp.alias_(item.unalias(), next(left)))
    return made


def _refuse(query: exp.Select) -> None:
    distinct = query.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise NotMaintained(Reason.DISTINCT_ON)
    if query.args.get("sample"):
        raise NotMaintained(Reason.SAMPLE)
    if query.args.get("pivots"):
        raise NotMaintained(Reason.PIVOT)
    nodes = [node for item in query.selects for node in walk(item)]
    if any(map(makes_rows, nodes)):
        raise NotMaintained(Reason.GENERATOR)


def unique_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names with the repeated ones numbered: `id, id` becomes `id, id_1`."""
    taken: list[str] = []
    for name in names:
        number, unique = len(taken), name
        while unique.lower() in (
            other.lower() for other in (*taken, *names[len(taken) + 1 :] * (unique != name))
        ):
            unique, number = f"{name}_{number}", number + 1
        taken.append(unique)
    return tuple(taken)


def to_plan(bound: Bound, catalog: Catalog) -> Plan:
    """The plan of a bound query; its output columns are the bound ones, in lower case, made unique."""
    return _with_unique_names(_Planner(catalog).plan(bound.query))


def _with_unique_names(plan: Plan) -> Plan:
    match plan:
        case Project(below, items):
            names = unique_names(output(plan))
            return Project(below, tuple(Item(n, i.expression) for n, i in zip(names, items, strict=True)))
        case Distinct(below):
            return Distinct(_with_unique_names(below))
        case Union(parts):
            return Union(tuple(_with_unique_names(part) for part in parts))
    return plan
