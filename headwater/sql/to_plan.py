"""From a bound query to a plan.

What no rule maintains becomes an Opaque node, as small as possible: a derived table that needs a recompute does not
drag the query around it along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Item,
    Join,
    Opaque,
    Plan,
    Project,
    Scan,
    Union,
    output,
)
from headwater.plan.walk import relations_of, table_name
from headwater.sql.bind import Bound
from headwater.sql.catalog import Catalog

NOT_MAINTAINED: tuple[tuple[str, str], ...] = (
    ("laterals", "LATERAL VIEW"),
    ("windows", "a named window"),
    ("qualify", "QUALIFY"),
    ("limit", "LIMIT"),
    ("offset", "OFFSET"),
    ("pivots", "PIVOT"),
    ("sample", "TABLESAMPLE"),
    ("cluster", "CLUSTER BY"),
    ("distribute", "DISTRIBUTE BY"),
    ("sort", "SORT BY"),
)
"""Clauses of a SELECT that no rule maintains yet, and how a reason names them."""


ANONYMOUS_AGGREGATES = frozenset(
    [
        "try_sum",
        "try_avg",
        "every",
        "some",
        "any",
        "std",
        "stddev_samp",
        "histogram_numeric",
        "kurtosis",
        "skewness",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "percentile",
        "percentile_approx",
        "listagg",
        "string_agg",
        "count_min_sketch",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "hll_sketch_agg",
        "hll_union_agg",
        "schema_of_json_agg",
        "product",
        "approx_top_k",
        "kll_sketch_agg_double",
        "theta_sketch_agg",
    ]
)
"""Aggregates of Spark that the parser takes for ordinary functions."""


@dataclass(frozen=True)
class _Reason(Exception):
    """Why a query has to be recomputed; caught where the Opaque node is made."""

    text: str


Ctes = dict[str, "tuple[exp.Query, Ctes]"]
"""What WITH has named so far: each query, and the names that it could see itself."""


@dataclass
class _Planner:
    catalog: Catalog
    ctes: Ctes = field(default_factory=dict)

    def plan(self, query: exp.Expr) -> Plan:
        match query:
            case exp.Subquery():
                return self.plan(query.this)
            case exp.Select() | exp.SetOperation():
                outside = self.ctes
                try:
                    self._take_ctes(query)
                    return self._select(query) if isinstance(query, exp.Select) else self._union(query)
                except _Reason as reason:
                    return self._opaque(query, reason.text, outside)
                finally:
                    self.ctes = outside
        return self._opaque(query, f"{query.key.upper()} as a query", self.ctes)

    def _take_ctes(self, query: exp.Query) -> None:
        if query.args.get("with_") and query.args["with_"].args.get("recursive"):
            raise _Reason("a recursive WITH")
        for cte in query.ctes:
            self.ctes = self.ctes | {cte.alias.lower(): (cte.this, self.ctes)}

    def _opaque(self, query: exp.Expr, reason: str, outside: Ctes) -> Opaque:
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
            items = zip(first.selects, names_out, strict=True)
            first.set("expressions", [exp.alias_(item.unalias(), name) for item, name in items])
        return Opaque(whole, names_out, tuple(read), reason)

    def _union(self, query: exp.SetOperation) -> Plan:
        if not isinstance(query, exp.Union):
            raise _Reason(query.key.upper())
        for clause in ("limit", "offset"):
            if query.args.get(clause):
                raise _Reason(clause.upper())
        parts: list[Plan] = []
        for side in (query.this, query.expression):
            inner = self.plan(side)
            parts += inner.inputs if isinstance(inner, Union) else (inner,)
        both = Union(tuple(parts))
        return Distinct(both) if query.args.get("distinct") else both

    def _select(self, query: exp.Select) -> Plan:
        self._refuse(query)
        plan = self._from(query)
        if query.args.get("where"):
            plan = Filter(plan, query.args["where"].this)
        if query.args.get("group") or _aggregates(query):
            plan = self._aggregate(query, plan)
        else:
            plan = Project(plan, tuple(Item(e.alias_or_name, e.unalias()) for e in query.selects))
        return Distinct(plan) if query.args.get("distinct") else plan

    def _refuse(self, query: exp.Select) -> None:
        for clause, name in NOT_MAINTAINED:
            if query.args.get(clause):
                raise _Reason(name)
        distinct = query.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise _Reason("DISTINCT ON")
        for node in _own_nodes(query):
            match node:
                case exp.Window():
                    raise _Reason("a window function")
                case exp.Exists() | exp.Subquery() | exp.Select() if node is not query:
                    raise _Reason("a subquery in an expression")
                case exp.Anonymous() if node.name.lower() in ANONYMOUS_AGGREGATES:
                    raise _Reason(f"the aggregate {node.name.upper()}")
                case exp.Explode() | exp.Unnest() | exp.Inline() | exp.Posexplode() | exp.Stack():
                    raise _Reason(f"{node.key.upper()} in the select list")

    def _from(self, query: exp.Select) -> Plan:
        first = query.args.get("from_")
        if first is None:
            raise _Reason("a query without FROM")
        plan = self._source(first.this)
        for join in query.args.get("joins") or []:
            if join.side or join.kind.upper() not in ("", "INNER", "CROSS") or join.args.get("using"):
                raise _Reason(f"{' '.join(filter(None, (join.side, join.kind)))} JOIN".upper())
            plan = Join(plan, self._source(join.this), join.args.get("on"))
        return plan

    def _source(self, source: exp.Expr) -> Plan:
        if isinstance(source, exp.Subquery) and not source.args.get("pivots"):
            return Alias(self.plan(source.this), source.alias)
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            raise _Reason(f"{source.key.upper()} in FROM")
        if source.args.get("sample") or source.args.get("pivots") or source.args.get("laterals"):
            raise _Reason("TABLESAMPLE or PIVOT")
        named = self.ctes.get(table_name(source).lower())
        if named is not None:
            outside, (body, self.ctes) = self.ctes, named
            inner = self.plan(body)
            self.ctes = outside
            return Alias(inner, source.alias_or_name)
        relation = self.catalog.get(table_name(source), None)
        return Scan(relation.name, source.alias_or_name, tuple(n.lower() for n in relation.schema.names))

    def _aggregate(self, query: exp.Select, plan: Plan) -> Plan:
        group = query.args.get("group")
        if group is not None and any(group.args.get(a) for a in ("grouping_sets", "rollup", "cube", "all")):
            raise _Reason("GROUPING SETS, ROLLUP or CUBE")
        keys = tuple(Item(f"k{i}", e) for i, e in enumerate(group.expressions if group else ()))
        having = query.args.get("having")
        calls = _aggregates(query)
        unique = list(dict.fromkeys(calls))
        measures = tuple(Item(f"m{i}", call) for i, call in enumerate(unique))
        names: dict[exp.Expr, str] = {i.expression: i.name for i in keys + measures}
        result: Plan = Aggregate(plan, keys, measures)
        if having is not None:
            result = Filter(result, _renamed(having.this, names))
        items = [Item(e.alias_or_name, _renamed(e.unalias(), names)) for e in query.selects]
        return Project(result, tuple(items))


def _own_nodes(query: exp.Select) -> list[exp.Expr]:
    """The nodes of a SELECT's own expressions: not of its FROM clause, not of its WITH."""
    clauses = [*query.selects, query.args.get("where"), query.args.get("group"), query.args.get("having")]
    clauses += [join.args.get("on") for join in query.args.get("joins") or []]
    return [node for clause in clauses if clause is not None for node in clause.walk()]


def _aggregates(query: exp.Select) -> list[exp.Expr]:
    """The aggregate calls of the select list and HAVING, each with its FILTER clause if it has one."""
    having = query.args.get("having")
    found: list[exp.Expr] = []
    for clause in [*query.selects, *([having] if having else [])]:
        for call in clause.find_all(exp.AggFunc):
            if call.find_ancestor(exp.Window, exp.AggFunc):
                continue
            whole = call
            while isinstance(whole.parent, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
                whole = whole.parent
            found.append(whole)
    return found


def _renamed(expression: exp.Expr, names: Mapping[exp.Expr, str]) -> exp.Expr:
    """An expression above an Aggregate: keys and calls become the aggregate's columns."""

    def swap(node: exp.Expr) -> exp.Expr:
        name = names.get(node)
        return exp.column(name) if name else node

    renamed = expression.copy().transform(swap)
    stray = next((c for c in renamed.find_all(exp.Column) if c.table), None)
    if stray is not None:
        raise _Reason(f"the expression {stray.sql(dialect='spark')} outside of GROUP BY")
    return renamed


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
