"""FROM: tables, derived tables, joins, and generators that make rows from rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from headwater.plan.nodes import Alias, Generate, Item, Join, JoinKind, Opaque, Plan, Project, Scan, output
from headwater.plan.reasons import NotMaintained, Reason
from headwater.plan.walk import table_name
from headwater.sql.calls import aggregates
from headwater.sql.catalog import Catalog
from headwater.sql.free_columns import free_columns, has_subquery
from headwater.sql.inner_query import lateral
from headwater.sql.subqueries import Subqueries

KINDS = {
    ("", ""): JoinKind.INNER,
    ("", "INNER"): JoinKind.INNER,
    ("", "CROSS"): JoinKind.INNER,
    ("LEFT", ""): JoinKind.LEFT,
    ("LEFT", "OUTER"): JoinKind.LEFT,
    ("RIGHT", ""): JoinKind.LEFT,
    ("RIGHT", "OUTER"): JoinKind.LEFT,
    ("FULL", ""): JoinKind.FULL,
    ("FULL", "OUTER"): JoinKind.FULL,
    ("LEFT", "SEMI"): JoinKind.SEMI,
    ("", "SEMI"): JoinKind.SEMI,
    ("LEFT", "ANTI"): JoinKind.ANTI,
    ("", "ANTI"): JoinKind.ANTI,
}
_GENERATORS = (exp.Explode, exp.Unnest, exp.Inline, exp.Posexplode, exp.Stack, exp.ExplodeOuter)
_GENERATOR_NAMES = ("inline_outer", "json_tuple")

_OUTER: dict[type[exp.Expr], str] = {
    exp.Explode: "explode_outer",
    exp.Posexplode: "posexplode_outer",
    exp.Inline: "inline_outer",
}
"""What keeps a row of which a generator makes none."""


def makes_rows(node: exp.Expr) -> bool:
    """True for the call of a function that makes rows, or several columns."""
    is_named_so = isinstance(node, exp.Anonymous) and node.name.lower() in _GENERATOR_NAMES
    return is_named_so or isinstance(node, _GENERATORS)


@dataclass
class FromClause:
    """Plans the sources of a SELECT; `named` plans a name that WITH gave, None if it gave none such."""

    catalog: Catalog
    plan: Callable[[exp.Query], Plan]
    named: Callable[[str], Plan | None]
    subqueries: Subqueries

    def of(self, query: exp.Select) -> Plan:
        """The plan of everything a SELECT reads."""
        first = query.args.get("from_")
        plan = self._source(first.this) if first is not None else _one_row()
        for join in query.args.get("joins") or []:
            plan = self._joined(plan, join)
        for source in query.args.get("laterals") or []:
            plan = _generated(plan, source, outer=bool(source.args.get("outer")))
        return plan

    def _joined(self, plan: Plan, join: exp.Join) -> Plan:
        if join.args.get("using") or join.args.get("method"):
            raise NotMaintained(Reason.NATURAL_JOIN)
        kind = KINDS.get((join.side.upper(), join.kind.upper()))
        if kind is None:
            raise NotMaintained(Reason.SHAPE)
        condition = join.args.get("on")
        if isinstance(join.this, exp.Lateral | exp.Unnest):
            return self._with_rows(plan, join.this, kind, condition)
        other = self._source(join.this)
        if condition is not None and has_subquery(condition):
            if kind is not JoinKind.INNER:
                raise NotMaintained(Reason.SUBQUERY_PLACE)
            return self.subqueries.filtered(Join(plan, other, None), condition)
        if join.side.upper() == "RIGHT":
            plan, other = other, plan
        return Join(plan, other, condition, kind)

    def _with_rows(self, plan: Plan, source: exp.Expr, kind: JoinKind, condition: exp.Expr | None) -> Plan:
        if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
            if free_columns(source.this.this):
                return self._lateral(plan, source, kind, condition)
            derived = exp.Subquery(this=source.this.this, alias=source.args["alias"])
            return Join(plan, self._source(derived), condition, kind)
        is_true = condition is None or (isinstance(condition, exp.Boolean) and condition.this)
        if not is_true or kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise NotMaintained(Reason.LATERAL)
        return _generated(plan, source, outer=kind is JoinKind.LEFT)

    def _lateral(self, plan: Plan, source: exp.Lateral, kind: JoinKind, condition: exp.Expr | None) -> Plan:
        """A subquery for each row: one without tables makes one row, any other joins on what ties it."""
        query, alias = source.this.this, source.args["alias"]
        names = [column.name for column in alias.columns]
        is_true = condition is None or (isinstance(condition, exp.Boolean) and condition.this)
        if not names or kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise NotMaintained(Reason.LATERAL)
        if isinstance(query, exp.Select) and not {k for k, v in query.args.items() if v} - {
            "expressions",
            "kind",
        }:
            if not is_true or aggregates(query) or any(map(has_subquery, query.selects)):
                raise NotMaintained(Reason.LATERAL)
            if any(makes_rows(node) for e in query.selects for node in e.walk()):
                if len(query.selects) > 1:
                    raise NotMaintained(Reason.LATERAL)
                made_rows = exp.Lateral(this=query.selects[0].unalias(), alias=alias)
                return _generated(plan, made_rows, outer=kind is JoinKind.LEFT)
            row = exp.func("STRUCT", *[item.unalias().copy() for item in query.selects], dialect="spark")
            call = exp.Inline(this=exp.array(row, dialect="spark"))
            return Generate(plan, call, alias.name, tuple(names))
        made, keeps = lateral(query, alias.name, names)
        if keeps and not is_true:
            raise NotMaintained(Reason.LATERAL)
        parts = [c for c in (made.condition, condition) if c is not None]
        return Join(
            plan,
            Alias(self.plan(made.query), alias.name),
            exp.and_(*parts),
            JoinKind.LEFT if keeps else kind,
        )

    def _source(self, source: exp.Expr) -> Plan:
        if source.args.get("pivots"):
            raise NotMaintained(Reason.PIVOT)
        if source.args.get("sample"):
            raise NotMaintained(Reason.SAMPLE)
        if isinstance(source, exp.Subquery):
            return self._derived(source)
        if isinstance(source, exp.Values):
            return Alias(_constant(source), source.alias)
        if isinstance(source, exp.Lateral | exp.Unnest):
            return _generated(_one_row(), source, outer=False)
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            raise NotMaintained(Reason.TABLE_FUNCTION)
        found = self.named(table_name(source).lower())
        if found is not None:
            return Alias(found, source.alias_or_name)
        relation = self.catalog.get(table_name(source), None)
        return Scan(relation.name, source.alias_or_name, tuple(n.lower() for n in relation.schema.names))

    def _derived(self, source: exp.Subquery) -> Plan:
        inner = source.this
        if isinstance(inner, exp.Table | exp.Subquery) and not isinstance(inner, exp.Query):
            raise NotMaintained(Reason.SHAPE)
        plan = self.plan(inner)
        names = [column.name for column in source.args["alias"].columns] if source.args.get("alias") else []
        if names:
            items = [Item(n, exp.column(o, "r")) for n, o in zip(names, output(plan), strict=True)]
            plan = Project(Alias(plan, "r"), tuple(items))
        return Alias(plan, source.alias)


def _constant(source: exp.Values) -> Opaque:
    """Rows that the query itself gives: they are there from the start and never change."""
    columns = tuple(column.name for column in source.args["alias"].columns)
    return Opaque(exp.select("*").from_(source.copy()), columns, (), None)


def _one_row() -> Plan:
    return Opaque(exp.select(exp.alias_(exp.true(), "one")), ("one",), (), None)


def _generated(plan: Plan, source: exp.Expr, *, outer: bool) -> Plan:
    """A plan with the rows of EXPLODE and the like; `outer` keeps a row of which it makes none."""
    alias = source.args.get("alias")
    call = source.this
    if isinstance(source, exp.Unnest):
        if source.args.get("offset") or len(source.expressions) != 1:
            raise NotMaintained(Reason.TABLE_FUNCTION)
        call = exp.Explode(this=source.expressions[0].copy())
    elif isinstance(source, exp.Lateral) and source.args.get("ordinality"):
        raise NotMaintained(Reason.TABLE_FUNCTION)
    if alias is None or not alias.columns or has_subquery(call):
        raise NotMaintained(Reason.TABLE_FUNCTION)
    if outer:
        name = _OUTER.get(type(call))
        if name is None:
            raise NotMaintained(Reason.TABLE_FUNCTION)
        call = exp.Anonymous(this=name, expressions=[call.this.copy()])
    return Generate(plan, call.copy(), alias.name, tuple(column.name for column in alias.columns))
