"""Make a plan one that can be run on slices: what is not local with the rest is stored by itself and scanned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from headwater.incremental.locality import TypeOf
from headwater.incremental.tree import Tree, scans_of, tree_of
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
    inputs,
    with_inputs,
)
from headwater.plan.prune import pruned
from headwater.plan.push import conjuncts
from headwater.plan.reasons import Reason
from headwater.schema import Schema

Store = Callable[[Plan], Plan]
"""Keeps a plan as a relation of its own and says how it is read."""

_BY_THEMSELVES = (Opaque, Top, Aggregate, Distinct, Union)
"""What rules of their own keep true, wherever it stands."""


@dataclass(frozen=True)
class NotLocal(Exception):
    """A plan that is local by nothing, and why."""

    plan: Plan
    reason: Reason


def needs_tree(plan: Plan) -> bool:
    """True if a plan is more than joins, filters and projections over what is scanned or stored by itself."""
    match plan:
        case Join(left, right, _, kind):
            return kind is not JoinKind.INNER or needs_tree(left) or needs_tree(right)
        case Filter(below) | Project(below) | Alias(below):
            return needs_tree(below)
    return isinstance(plan, SetOperation | Window | Generate)


def grown(
    plan: Plan,
    schema_of: Callable[[str], Schema],
    store: Store | None,
    is_unsteady: Callable[[Tree, Plan], bool] = lambda tree, part: False,
) -> Tree:
    """The tree of a plan; parts that are in its way are stored, or, without `store`, make it fail.

    So are aggregates and windows that are unsteady: computed once more, they may be another.
    """

    def type_of(scan: Scan, name: str) -> str:
        column = schema_of(scan.relation).find(name)
        assert column is not None
        return column.type

    # What is stored of a part is only what the rest asks for.
    plan = pruned(plan)
    while True:
        tree = tree_of(plan, type_of)
        if tree is not None:
            loose = _loose(tree.plan, set(tree.way.cover))
            if loose is not None and store is None:
                raise NotLocal(plan, Reason.SHAPE)
            part = loose or (_apart(tree, type_of) if store is not None else None)
            part = part or _found(tree.plan, partial(is_unsteady, tree))
            if store is None or part is None:
                return tree
            plan = _replaced(tree.plan, part, store(part))
            continue
        if store is None:
            raise NotLocal(plan, Reason.SHAPE)
        try:
            plan = _cut(plan, type_of, store)
        except NotLocal as why:
            raise NotLocal(plan, why.reason) from None


def _cut(plan: Plan, type_of: TypeOf, store: Store) -> Plan:
    """The plan with the deepest part that is not local, or what that part reads, stored by itself."""
    below = inputs(plan)
    for place, part in enumerate(below):
        if tree_of(part, type_of) is None:
            return with_inputs(plan, (*below[:place], _cut(part, type_of, store), *below[place + 1 :]))
    if isinstance(plan, _BY_THEMSELVES):
        return store(plan)
    if isinstance(plan, Window) and not all(i.expression.args.get("partition_by") for i in plan.items):
        raise NotLocal(plan, Reason.LOOSE_WINDOW)
    if isinstance(plan, Window) and len(apart := _by_partition(plan)) > 1:
        # Each set of windows is local by itself; the first one's rows are stored for the next.
        return Window(Window(plan.input, apart[0]), tuple(item for more in apart[1:] for item in more))
    if isinstance(plan, Join) and not _has_equality(plan):
        raise NotLocal(plan, Reason.LOOSE_FULL_JOIN)
    if isinstance(plan, Window) and _parts_by_expression(plan):
        return _by_columns(plan, store)
    kept = tuple(part if isinstance(part, Renamed) else store(part) for part in below)
    if kept != below:
        return with_inputs(plan, kept)
    match plan:
        case Window():
            raise NotLocal(plan, Reason.LOOSE_WINDOW)
        case Join():
            raise NotLocal(plan, Reason.LOOSE_FULL_JOIN)
    raise NotLocal(plan, Reason.SHAPE)


def _found(plan: Plan, is_wanted: Callable[[Plan], bool]) -> Plan | None:
    """The first aggregate or window, from above, of which something is true."""
    if isinstance(plan, Aggregate | Window) and is_wanted(plan):
        return plan
    return next((found for part in inputs(plan) if (found := _found(part, is_wanted)) is not None), None)


def _has_equality(plan: Join) -> bool:
    """True if a join is on a plain column of each side."""
    sides = [set(columns(side)) for side in (plan.left, plan.right)]
    for condition in conjuncts(plan.condition) if plan.condition is not None else []:
        if isinstance(condition, exp.EQ):
            named = [
                {(c.table, c.name)}
                for c in (condition.this, condition.expression)
                if isinstance(c, exp.Column)
            ]
            if len(named) == 2 and any(a <= sides[0] and b <= sides[1] for a, b in (named, named[::-1])):
                return True
    return False


def _by_partition(plan: Window) -> list[tuple[Item, ...]]:
    """The window functions of a plan, those with the same partitions together."""
    found: dict[frozenset[exp.Expr], list[Item]] = {}
    for item in plan.items:
        found.setdefault(frozenset(item.expression.args["partition_by"]), []).append(item)
    return [tuple(items) for items in found.values()]


def _parts_by_expression(plan: Window) -> list[exp.Expr]:
    """What windows are partitioned by and is no plain column."""
    by = [e for item in plan.items for e in item.expression.args.get("partition_by") or []]
    return list(dict.fromkeys(e for e in by if not isinstance(e.unnest(), exp.Column)))


def _by_columns(plan: Window, store: Store) -> Plan:
    """A window function over rows that are stored with what it is partitioned by as columns."""
    names = columns(plan.input)
    given = [Item(f"c{i}", exp.column(n, q or None)) for i, (q, n) in enumerate(names)]
    parts = _parts_by_expression(plan)
    made = [Item(f"p{i}", e) for i, e in enumerate(parts)]
    stored = store(Project(plan.input, (*given, *made)))
    assert isinstance(stored, Renamed)
    called = (*names, *(("", item.name) for item in made))
    swaps = {e: exp.column(item.name) for e, item in zip(parts, made, strict=True)}
    items = []
    for item in plan.items:
        window = item.expression.copy()
        by = [swaps[e].copy() if e in swaps else e for e in window.args["partition_by"]]
        window.set("partition_by", by)
        items.append(Item(item.name, window))
    return Window(Renamed(stored.input, called), tuple(items))


def _loose(plan: Plan, covered: set[str]) -> Plan | None:
    """The first part that has to be looked at as a whole and of which nothing is sliced."""
    if isinstance(plan, Opaque) and plan.relations:
        return plan
    aliases = {scan.alias for scan in scans_of(plan)}
    if aliases and not aliases & covered and _is_whole(plan):
        return plan
    found = (_loose(part, covered) for part in inputs(plan))
    return next((part for part in found if part is not None), None)


def _apart(tree: Tree, type_of: TypeOf) -> Plan | None:
    """A side of a semi or anti join that is local by a class of all its scans, where the tree leaves some of them loose.

    supplier SEMI JOIN (stock with more pieces of one kind of parts than were ordered)
    is local by the supplier, of whom there are few; what is joined to it is local by the part.
    """
    covered = set(tree.way.cover)

    def falls_apart(part: Plan) -> bool:
        if {scan.alias for scan in scans_of(part)} <= covered or not _is_whole(part):
            return False
        own = tree_of(part, type_of)
        return own is not None and {scan.alias for scan in own.scans} <= set(own.way.cover)

    return next((part for part in _asked_sides(tree.plan) if falls_apart(part)), None)


def _asked_sides(plan: Plan) -> Iterator[Plan]:
    """The sides of joins of which nothing is shown."""
    if isinstance(plan, Join) and plan.kind in (JoinKind.SEMI, JoinKind.ANTI):
        yield plan.right
    for part in inputs(plan):
        yield from _asked_sides(part)


def _is_whole(plan: Plan) -> bool:
    """True if a row of a plan may depend on many rows."""
    own = isinstance(plan, Aggregate | Distinct | SetOperation | Window | Top)
    own = own or (isinstance(plan, Join) and plan.kind is not JoinKind.INNER)
    return own or any(_is_whole(part) for part in inputs(plan))


def _replaced(plan: Plan, part: Plan, other: Plan) -> Plan:
    if plan is part:
        return other
    return with_inputs(plan, tuple(_replaced(below, part, other) for below in inputs(plan)))
