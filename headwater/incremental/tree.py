"""A plan that is run again on slices of what it reads: its scans, how it is local, and how its scans hang together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.incremental.locality import TypeOf, locality
from headwater.incremental.ways import Edge, Link, Way
from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Plan,
    Project,
    Renamed,
    Scan,
    Window,
    columns,
    inputs,
    with_inputs,
)
from headwater.plan.prune import pruned
from headwater.plan.push import conjuncts
from headwater.plan.walk import named_columns


@dataclass(frozen=True)
class Tree:
    """A plan whose scans have names of their own, and one way in which it is local."""

    plan: Plan
    way: Way
    links: tuple[Link, ...]
    edges: tuple[Edge, ...]

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The scans in the order of the plan."""
        return tuple(scans_of(self.plan))

    def path(self, alias: str) -> tuple[Link, ...] | None:
        """The links from a loose scan to the nearest one of the class; None if there are none."""
        known: dict[str, tuple[Link, ...]] = {alias: ()}
        waiting = deque([alias])
        while waiting:
            here = waiting.popleft()
            if here in self.way.cover:
                return known[here]
            for link in self.links:
                if link.start == here and link.end not in known:
                    known[link.end] = (*known[here], link)
                    waiting.append(link.end)
        return None

    def narrowed(self) -> Mapping[str, Edge]:
        """The loose scans of which only what joins a slice is needed, in an order in which that is known."""
        found: dict[str, Edge] = {}
        few = set(self.way.cover)
        while True:
            edge = next((e for e in self.edges if e.by[0] in few and e.to[0] not in few), None)
            if edge is None:
                return found
            found[edge.to[0]] = edge
            few.add(edge.to[0])


def tree_of(plan: Plan, type_of: TypeOf) -> Tree | None:
    """The best way to slice a plan, None if it is not local by anything."""
    whole = pruned(numbered(plan))
    known = locality(whole, type_of)
    trees = [Tree(whole, way, known.links, known.edges) for way in known.ways]
    return max(trees, key=_worth, default=None)


def _worth(tree: Tree) -> tuple[int, int, bool]:
    """Scans whose change touches few values count first, then scans that are sliced.

    Where something is added up, rows that show their value can be taken back as they are stored.
    """
    loose = [scan.alias for scan in tree.scans if scan.alias not in tree.way.cover]
    is_shown = bool(tree.way.at) and adds_up(tree.plan)
    return -sum(tree.path(alias) is None for alias in loose), -len(loose), is_shown


def adds_up(plan: Plan) -> bool:
    """True if rows of a plan are made from several rows."""
    return isinstance(plan, Aggregate | Window) or any(adds_up(part) for part in inputs(plan))


def scans_of(plan: Plan) -> Iterator[Scan]:
    """The scans of a plan."""
    if isinstance(plan, Scan):
        yield plan
    for part in inputs(plan):
        yield from scans_of(part)


def numbered(plan: Plan) -> Plan:
    """The plan with a name of its own for each scan; above it the scan goes by its former one."""
    return _numbered(plan, set())


def _numbered(plan: Plan, taken: set[str]) -> Plan:
    match plan:
        case Scan():
            named = _taken(plan, taken)
            return named if named == plan else Alias(named, plan.alias)
        case Renamed(Scan() as scan, names):
            return Renamed(_taken(scan, taken), names)
    return with_inputs(plan, tuple(_numbered(part, taken) for part in inputs(plan)))


def _taken(scan: Scan, taken: set[str]) -> Scan:
    """A scan under a name that nobody has yet."""
    alias, number = scan.alias, 2
    while alias in taken:
        alias, number = f"{scan.alias}_{number}", number + 1
    taken.add(alias)
    return replace(scan, alias=alias)


def is_only_asked(plan: Plan, alias: str) -> bool:
    """True if the rows of a scan only decide over other rows, by one condition: no column of it goes on from there.

    Of  customers JOIN averages ON customers.balance > averages.balance  averages is only asked, if nothing shows it.
    """
    path = _path_to(plan, alias)
    place = max((i for i, node in enumerate(path) if isinstance(node, Join)), default=None)
    if place is None:
        return False
    join, side = path[place], path[place + 1]
    assert isinstance(join, Join)
    is_one_sided = join.kind is not JoinKind.INNER and (side is join.left or join.kind is JoinKind.FULL)
    if is_one_sided or not all(isinstance(node, Alias | Renamed | Scan) for node in path[place + 1 :]):
        return False
    names = set(columns(side))
    asking = conjuncts(join.condition) if join.condition is not None else []
    if sum(bool(names & named_columns(condition)) for condition in asking) != 1:
        return False
    return _go_nowhere(names, path[:place])


def _go_nowhere(names: set[tuple[str, str]], above: tuple[Plan, ...]) -> bool:
    """True if none of these columns is named above, up to what shows only what it names itself."""
    for node in reversed(above):
        match node:
            case Project(_, items):
                return not names & named_columns(*(item.expression for item in items))
            case Aggregate(_, keys, measures):
                return not names & named_columns(*(item.expression for item in (*keys, *measures)))
            case Filter(_, condition) if not names & named_columns(condition):
                continue
            case Join(_, _, condition) if condition is None or not names & named_columns(condition):
                continue
        return False
    return False


def _path_to(plan: Plan, alias: str) -> tuple[Plan, ...]:
    """The nodes from a plan down to one of its scans."""
    if isinstance(plan, Scan):
        return (plan,) if plan.alias == alias else ()
    return next(((plan, *path) for part in inputs(plan) if (path := _path_to(part, alias))), ())


def filtered(plan: Plan) -> Iterator[tuple[Scan, exp.Expr]]:
    """The scans without whose rows a plan has none, and what these rows must fulfil, as far as that is known."""
    match plan:
        case Filter(Scan() as scan, condition):
            yield scan, condition
        case Filter(Alias(Scan() as scan, alias), condition):
            yield scan, _requalified(condition, alias, scan.alias)
        case Join(left, right, _, kind):
            if kind is not JoinKind.FULL:
                yield from filtered(left)
            if kind in (JoinKind.INNER, JoinKind.SEMI):
                yield from filtered(right)
        case Filter(below) | Project(below) | Alias(below) | Renamed(below) | Distinct(below) | Window(below):
            yield from filtered(below)
        case Aggregate(below, keys) if keys:
            yield from filtered(below)


def _requalified(condition: exp.Expr, was: str, now: str) -> exp.Expr:
    made = condition.copy()
    for column in made.find_all(exp.Column):
        if column.table == was:
            column.set("table", exp.to_identifier(now))
    return made
