"""Where the rows of a plan come from, and how it falls apart into parts that have nothing to do with each other.

A plan is *local* by a class of equal columns, one of each scan that has such a column, if rows that differ in it never
meet: the plan of all rows is then the sum of the plans of each value's rows. After a change it is enough to run the plan
on the rows of the touched values, as they were and as they are.

    customers LEFT JOIN orders ON orders.customer = customers.id GROUP BY customers.id
    is local by {customers.id, orders.customer}

A scan without a column of the class is *loose*: it is the same for all values, so all of it that joins is read, and a
change of it touches the values it is linked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from headwater.incremental.ways import (
    Edge,
    Link,
    Locality,
    Name,
    Way,
    best,
    plain,
    projected,
    renamed,
    widest,
)
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
    columns,
    output,
)
from headwater.plan.push import conjuncts

TypeOf = Callable[[Scan, str], str]
"""Tells the type of a column of a scan."""


def locality(plan: Plan, type_of: TypeOf) -> Locality:
    """Look at a plan whose scans have names of their own."""
    match plan:
        case Scan(_, alias):
            names = {(alias, name): frozenset([(alias, name)]) for name in plan.columns}
            ways = tuple(
                Way({alias: name}, type_of(plan, name), frozenset([(alias, name)])) for name in plan.columns
            )
            return Locality(ways, (), (), names, names)
        case Filter(below, condition):
            return _with_links(locality(below, type_of), conjuncts(condition))
        case Alias(below, alias):
            known = locality(below, type_of)
            return renamed(known, {key: (alias, key[1]) for key in columns(below)})
        case Renamed(below, names):
            return renamed(locality(below, type_of), dict(zip(columns(below), names, strict=True)))
        case Project(below, items):
            return projected(locality(below, type_of), items)
        case Join():
            return _joined(plan, locality(plan.left, type_of), locality(plan.right, type_of))
        case Aggregate(below, keys):
            return _grouped(locality(below, type_of), keys)
        case Distinct(below):
            known = locality(below, type_of)
            return replace(known, ways=tuple(way for way in known.ways if way.at))
        case Window(below, items):
            return _windowed(locality(below, type_of), items)
        case Generate(below):
            return locality(below, type_of)
        case Union(parts):
            return _united(plan, [locality(part, type_of) for part in parts], parts, is_linear=True)
        case SetOperation(left, right):
            both = [locality(left, type_of), locality(right, type_of)]
            return _united(plan, both, (left, right), is_linear=False)
        case Top(below):
            known = locality(below, type_of)
            return replace(known, ways=(), narrowing={})
        case Opaque():
            return Locality(())


def _grouped(known: Locality, keys: tuple[Item, ...]) -> Locality:
    """Groups are apart if a key shows the class."""
    above = projected(known, keys)
    return replace(above, ways=tuple(way for way in above.ways if way.at))


def _windowed(known: Locality, items: tuple[Item, ...]) -> Locality:
    """Windows are apart if each of them is partitioned by the class."""
    by = [{plain(e) for e in item.expression.args.get("partition_by") or []} for item in items]
    common = set.intersection(*by) if by else set()
    ways = tuple(way for way in known.ways if way.at & common)
    narrowing = {n: o for n, o in known.narrowing.items() if n in common}
    return replace(known, ways=ways, narrowing=narrowing)


def _united(plan: Plan, known: list[Locality], parts: Iterable[Plan], *, is_linear: bool) -> Locality:
    """Parts side by side: local by a column that shows the class in each; UNION ALL also where none does."""
    places = [{("", n): i for i, n in enumerate(output(part))} for part in parts]
    ways = []
    width = len(output(plan))
    for place in range(width):
        chosen = [
            [w for w in one.ways if any(spot.get(n) == place for n in w.at)]
            for one, spot in zip(known, places, strict=True)
        ]
        if all(chosen) and len({w[0].type for w in chosen}) == 1:
            cover = {alias: c for w in chosen for alias, c in widest(w).cover.items()}
            ways.append(Way(cover, chosen[0][0].type, frozenset([("", output(plan)[place])])))
    if is_linear and not ways and all(one.ways for one in known):
        first = widest(known[0].ways)
        rest = [[w for w in one.ways if w.type == first.type] for one in known[1:]]
        if all(rest):
            cover = dict(first.cover) | {a: c for w in rest for a, c in widest(w).cover.items()}
            ways.append(Way(cover, first.type, frozenset()))
    names = output(plan)
    merged: list[dict[Name, frozenset[Name]]] = [{}, {}]
    for number, kind in enumerate(("origins", "narrowing")):
        for place, name in enumerate(names):
            found = [
                origin
                for one, spot in zip(known, places, strict=True)
                for n, origin in getattr(one, kind).items()
                if spot.get(n) == place
            ]
            if found:
                merged[number]["", name] = frozenset().union(*found)
    return Locality(
        tuple(ways),
        tuple(link for one in known for link in one.links),
        tuple(edge for one in known for edge in one.edges),
        merged[0],
        merged[1],
    )


def _joined(plan: Join, left: Locality, right: Locality) -> Locality:
    conditions = conjuncts(plan.condition) if plan.condition is not None else []
    pairs = _equalities(conditions, left, right)
    ways = list(_common_ways(plan.kind, left, right, pairs))
    if plan.kind is not JoinKind.FULL:
        ways += [_shown(way, plan.kind, pairs) for way in left.ways]
    if plan.kind is JoinKind.INNER:
        turned = [(other, one) for one, other in pairs]
        ways += [_shown(way, plan.kind, turned) for way in right.ways]
    sees_right = plan.kind not in (JoinKind.SEMI, JoinKind.ANTI)
    both = Locality(
        best(ways),
        left.links + right.links,
        left.edges + right.edges + _edges(plan.kind, pairs, left, right),
        {**left.origins, **right.origins},
        {**left.narrowing, **right.narrowing},
    )
    linked = _with_links(both, conditions)
    if sees_right:
        return linked
    return replace(linked, origins=left.origins, narrowing=left.narrowing)


def _equalities(conditions: list[exp.Expr], left: Locality, right: Locality) -> list[tuple[Name, Name]]:
    """Columns of the left that equal columns of the right."""
    pairs = []
    for condition in conditions:
        whole = condition.unnest()
        if isinstance(whole, exp.EQ):
            one, other = plain(whole.this), plain(whole.expression)
            if one is None or other is None:
                continue
            if one in left.origins and other in right.origins:
                pairs.append((one, other))
            elif other in left.origins and one in right.origins:
                pairs.append((other, one))
    return pairs


def _common_ways(
    kind: JoinKind, left: Locality, right: Locality, pairs: list[tuple[Name, Name]]
) -> Iterable[Way]:
    """Both sides local by the columns that they are joined on."""
    for one, other in pairs:
        for a in left.ways:
            for b in right.ways:
                if one in a.at and other in b.at and a.type == b.type:
                    at = {JoinKind.INNER: a.at | b.at, JoinKind.FULL: frozenset()}.get(kind, a.at)
                    yield Way({**a.cover, **b.cover}, a.type, at)


def _shown(way: Way, kind: JoinKind, pairs: list[tuple[Name, Name]]) -> Way:
    """A way of one side beside a loose other one; an equality shows its class there too."""
    if kind is not JoinKind.INNER:
        return way
    return replace(way, at=way.at | {other for one, other in pairs if one in way.at})


def _edges(
    kind: JoinKind, pairs: list[tuple[Name, Name]], left: Locality, right: Locality
) -> tuple[Edge, ...]:
    found: list[Edge] = []
    for one, other in pairs:
        sources, targets = left.origins.get(one, ()), right.narrowing.get(other, ())
        if kind is not JoinKind.FULL:
            found += [Edge(by, to) for by in sources for to in targets]
        if kind in (JoinKind.INNER, JoinKind.SEMI):
            back = left.narrowing.get(one, ())
            found += [Edge(by, to) for by in right.origins.get(other, ()) for to in back]
    return tuple(found)


def _with_links(known: Locality, conditions: list[exp.Expr]) -> Locality:
    """Take in conditions that say which rows of two scans have to do with each other."""
    links = []
    for condition in conditions:
        named = {(c.table, c.name) for c in condition.find_all(exp.Column)}
        meant = {name: known.origins.get(name, frozenset()) for name in named}
        if any(len(origin) != 1 for origin in meant.values()):
            continue
        scans = sorted({alias for origin in meant.values() for alias, _ in origin})
        if len(scans) == 2:
            links.append(Link(scans[0], scans[1], _on_scans(condition, meant)))
    return replace(known, links=known.links + tuple(links))


def _on_scans(condition: exp.Expr, meant: Mapping[Name, frozenset[Name]]) -> exp.Expr:
    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        ((alias, name),) = meant[node.table, node.name]
        return exp.column(name, alias)

    return condition.copy().transform(swap)
