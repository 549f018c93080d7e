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

from headwater.incremental.links import joining_links, links_of
from headwater.incremental.ways import (
    Edge,
    Locality,
    Name,
    Origin,
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

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
TypeOf = Callable[[Scan, str], str]
"""Tells the type of a column of a scan."""


def locality(plan: Plan, type_of: TypeOf) -> Locality:
    """Look at a plan whose scans have names of their own."""
    match plan:
        case Scan(_, alias):
            return _scanned(alias, {name: type_of(plan, name) for name in plan.columns})
        case Filter(below, condition):
            known = locality(below, type_of)
            return replace(known, links=known.links + links_of(conjuncts(condition), known.origins))
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


def _scanned(alias: str, types: Mapping[str, str]) -> Locality:
    """A scan is local by each of its columns."""
    names = {name: frozenset([(alias, name)]) for name in types}
    return Locality(
        tuple(
            Way({alias: name}, type_, names[name])
            for name, type_ in types.items()
            if not _has_no_order(type_)
        ),
        origins={(alias, name): Origin(names[name], type_) for name, type_ in types.items()},
        narrowing={(alias, name): column for name, column in names.items()},
    )


def _has_no_order(type_: str) -> bool:
    """True for types whose values Spark does not compare."""
    return any(word in type_ for word in ("map<", "variant", "geometry", "geography"))


def _grouped(known: Locality, keys: tuple[Item, ...]) -> Locality:
    """Groups are apart if a key shows the class."""
    above = projected(known, keys)
    return replace(above, ways=tuple(way for way in above.ways if way.at))


def _windowed(known: Locality, items: tuple[Item, ...]) -> Locality:
    """Windows are apart if each of them is partitioned by the class; a row has its say in all of its windows."""
    by = [{plain(e) for e in item.expression.args.get("partition_by") or []} for item in items]
    common = set.intersection(*by) if by else set()
    ways = tuple(way for way in known.ways if way.at & common)
    origins = {n: o if n in common else replace(o, spreads=True) for n, o in known.origins.items()}
    narrowing = {n: o for n, o in known.narrowing.items() if n in common}
    return replace(known, ways=ways, origins=origins, narrowing=narrowing)


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
    origins: dict[Name, Origin] = {}
    narrowing: dict[Name, frozenset[Name]] = {}
    for place, name in enumerate(output(plan)):
        shown = [("", output(part)[place]) for part in parts]
        found = [one.origins.get(n) for one, n in zip(known, shown, strict=True)]
        sure = [origin for origin in found if origin is not None]
        if len(sure) == len(found) and len({origin.type for origin in sure}) == 1:
            origins["", name] = _either(sure)
        few = [one.narrowing.get(n, frozenset()) for one, n in zip(known, shown, strict=True)]
        if any(few):
            narrowing["", name] = frozenset().union(*few)
    links = tuple(link for one in known for link in one.links)
    edges = tuple(edge for one in known for edge in one.edges)
    return Locality(tuple(ways), links, edges, origins, narrowing)


def _either(origins: list[Origin]) -> Origin:
    return Origin(
        frozenset().union(*(origin.columns for origin in origins)),
        origins[0].type,
        any(origin.may_miss for origin in origins),
        any(origin.spreads for origin in origins),
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
    links = left.links + right.links + joining_links(plan.kind, conditions, left.origins, right.origins)
    edges = left.edges + right.edges + _edges(plan.kind, pairs, left, right)
    origins, narrowing = dict(left.origins), dict(left.narrowing)
    if plan.kind is JoinKind.FULL:
        origins = {n: replace(o, may_miss=True) for n, o in origins.items()}
    if plan.kind not in (JoinKind.SEMI, JoinKind.ANTI):
        misses = plan.kind is not JoinKind.INNER
        origins |= {n: replace(o, may_miss=o.may_miss or misses) for n, o in right.origins.items()}
        narrowing |= right.narrowing
    return Locality(best(ways), links, edges, origins, narrowing)


def _equalities(conditions: list[exp.Expr], left: Locality, right: Locality) -> list[tuple[Name, Name]]:
    """Columns of the left that equal columns of the right."""
    pairs = []
    for condition in conditions:
        whole = condition.unnest()
        if isinstance(whole, exp.EQ):
            one, other = plain(whole.this), plain(whole.expression)
            if one is None or other is None:
                continue
            for a, b in ((one, other), (other, one)):
                if a in left.origins and b in right.origins and _is_alike(left.origins[a], right.origins[b]):
                    pairs.append((a, b))
    return pairs


def _is_alike(one: Origin, other: Origin) -> bool:
    """True if equal values are the same value, whatever they are compared with next: '01' = 1 is not enough."""
    return one.type == other.type or {one.type, other.type} <= _INTEGERS


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
        if kind is not JoinKind.FULL:
            found += _leading(left.origins[one], right.narrowing.get(other))
        if kind in (JoinKind.INNER, JoinKind.SEMI):
            found += _leading(right.origins[other], left.narrowing.get(one))
    return tuple(found)


def _leading(origin: Origin, targets: Iterable[Name] | None) -> list[Edge]:
    """The edges from a column; one that comes from several scans needs the values of all of them, and leads nowhere."""
    if len(origin.columns) != 1:
        return []
    (by,) = origin.columns
    return [Edge(by, to) for to in sorted(targets or ())]
