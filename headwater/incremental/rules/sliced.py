"""Slice and rerun: outer, semi and anti joins, subqueries, windows, set operations and what stands on them.

The first statement finds the values that the change touches. The second runs the plan as it stands on the rows of
these values, as they were and as they are, and emits the difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.incremental.block import Block
from headwater.incremental.change_plan import (
    ChangePlan,
    Input,
    Restriction,
    Statement,
    Strategy,
    Version,
    change_view,
)
from headwater.incremental.tree import Tree, filtered, is_only_asked
from headwater.incremental.tree_sql import query_of_plan
from headwater.incremental.ways import Link
from headwater.incremental.weights import consolidated, union_all, view, weight
from headwater.plan.nodes import Scan
from headwater.schema import WEIGHT

VALUE = "v"
"""The column of touched values."""


@dataclass(frozen=True)
class Rows:
    """Weighted rows of a plan, and the views they are made from."""

    query: exp.Query
    inputs: tuple[Input, ...]


def maintain(block: Block, changed: Collection[str]) -> ChangePlan:
    """The change plan of a block without an aggregate on top."""
    statements, rows = change_of(block, changed)
    last = Statement(change_view(block.name), consolidated(rows.query, block.columns), rows.inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (*statements, last))


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    rows = whole(block)
    statement = Statement(change_view(block.name), consolidated(rows.query, block.columns), rows.inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (statement,))


def change_of(block: Block, changed: Collection[str]) -> tuple[tuple[Statement, ...], Rows]:
    """The statement that finds what is touched, if it can be known, and the weighted rows that change."""
    assert block.tree is not None
    tree, name = block.tree, f"{block.name}__touched"
    finding = _touched(tree, changed, name)
    if finding is None:
        sides = [_run(tree, version, changed, None) for version in (Version.OLD, Version.NEW)]
        return (), _difference(sides, ())
    own = Input(name, name, Version.RESULT)
    sides = [_run(tree, version, changed, name) for version in (Version.OLD, Version.NEW)]
    narrowing = _narrowing(tree, changed, f"{name}_at_all", name)
    if narrowing is None:
        return (finding,), _difference(sides, (own,))
    return (replace(finding, target=narrowing.narrows), narrowing), _difference(sides, (own,))


def whole(block: Block) -> Rows:
    """All rows, each with weight one."""
    assert block.tree is not None
    query, read = _run(block.tree, Version.NEW, [s.relation for s in block.tree.scans], None)
    return Rows(_weighted(query, 1), read)


def _difference(sides: list[tuple[exp.Select, tuple[Input, ...]]], first: tuple[Input, ...]) -> Rows:
    (was, old_inputs), (now, new_inputs) = sides
    rows = union_all([_weighted(was, -1), _weighted(now, 1)])
    return Rows(rows, tuple(dict.fromkeys((*first, *old_inputs, *new_inputs))))


def _weighted(query: exp.Select, weight: int) -> exp.Select:
    return exp.select("*", exp.alias_(exp.Literal.number(weight), WEIGHT)).from_(query.subquery("q"))


def _touched(tree: Tree, changed: Collection[str], target: str) -> Statement | None:
    """The values of the class that a change touches; None if a changed scan is not linked to it."""
    parts: list[exp.Query] = []
    read: dict[Input, None] = {}
    for scan in tree.scans:
        if scan.relation not in changed:
            continue
        path = () if scan.alias in tree.way.cover else tree.path(scan.alias)
        if path is None:
            return None
        scans = {s.alias: s for s in tree.scans}
        # Rows on the way count as they were and as they are.
        stops = [scans[link.end] for link in path]
        forms = [(Version.OLD, Version.CHANGE) if s.relation in changed else (Version.OLD,) for s in stops]
        for versions in itertools.product(*forms):
            query, inputs = _reached(tree, scan, path, list(zip(stops, versions, strict=True)))
            parts.append(query)
            read.update(dict.fromkeys(inputs))
    values = exp.select(exp.column(VALUE)).distinct().from_(union_all(parts).subquery("c"))
    return Statement(target, values, tuple(read))


def _narrowing(tree: Tree, changed: Collection[str], touched: str, target: str) -> Statement | None:
    """Of the touched values those that can be in the result: each of its rows needs one of a filtered scan.

    A scan that changes is asked only where values are touched from afar: of its own change they are few. What it has
    now it had before, or it is in the change.
    """
    is_far = any(s.relation in changed and s.alias not in tree.way.cover for s in tree.scans)
    held = [
        (scan, condition)
        for scan, condition in filtered(tree.plan)
        if scan.alias in tree.way.cover and (is_far or scan.relation not in changed)
    ]
    if not held:
        return None
    own = "__hw_touched"
    value = exp.column(VALUE, own)
    query = exp.select(value).from_(exp.alias_(view(touched), own, table=True))
    inputs = [Input(touched, touched, Version.RESULT)]
    for scan, condition in held:
        name, column = f"{scan.alias}__held", tree.way.cover[scan.alias]
        inputs.append(
            Input(name, scan.relation, Version.OLD, scan.columns, Restriction(column, touched, VALUE))
        )
        rows: list[exp.Query] = [_columns_of(scan, name)]
        if scan.relation in changed:
            come = f"{scan.alias}__change"
            inputs.append(Input(come, scan.relation, Version.CHANGE, scan.columns))
            rows.append(_columns_of(scan, come))
        same = exp.NullSafeEQ(this=value.copy(), expression=exp.column(column, scan.alias))
        query = query.join(
            union_all(rows).subquery(scan.alias),
            on=exp.and_(same, condition.copy()),
            join_type="left semi",
        )
    return Statement(target, query, tuple(inputs), narrows=touched)


def _columns_of(scan: Scan, name: str) -> exp.Select:
    return exp.select(*[exp.column(column) for column in scan.columns]).from_(view(name))


def _reached(
    tree: Tree, scan: Scan, path: tuple[Link, ...], stops: list[tuple[Scan, Version]]
) -> tuple[exp.Select, list[Input]]:
    """The values that the change of a scan leads to, along links to other scans."""
    here = f"{scan.alias}__change"
    inputs = [Input(here, scan.relation, Version.CHANGE, scan.columns)]
    query = exp.select().from_(exp.alias_(view(here), scan.alias, table=True))
    alias, before, way = scan.alias, here, scan.alias
    for link, (there, version) in zip(path, stops, strict=True):
        if version is Version.CHANGE:
            name, restriction = f"{there.alias}__change", None
        else:
            name = f"{there.alias}__near_{way}"
            restriction = _restriction(link, before)
        inputs.append(Input(name, there.relation, version, there.columns, restriction))
        table = exp.alias_(view(name), there.alias, table=True)
        query = query.join(table, on=link.condition.copy())
        alias, before, way = there.alias, name, f"{way}_{version.value}_{there.alias}"
    column = exp.column(tree.way.cover[alias], alias)
    query = query.select(exp.alias_(column, VALUE))
    if len(path) == 1 and is_only_asked(tree.plan, scan.alias):
        # A row for which as many come as go meets the condition as before.
        asked = [c.copy() for c in path[0].condition.find_all(exp.Column) if c.table == alias]
        query = query.group_by(column.copy(), *asked).having(exp.Sum(this=weight(scan.alias)).neq(0))
    return query, inputs


def _restriction(link: Link, view_here: str) -> Restriction | None:
    """A link that is an equality lets only its values be read; what only changed now is read besides."""
    condition = link.condition.unnest()
    if not isinstance(condition, exp.EQ):
        return None
    sides = {
        side.table: side for side in (condition.this, condition.expression) if isinstance(side, exp.Column)
    }
    if set(sides) != {link.start, link.end}:
        return None
    return Restriction(sides[link.end].name, view_here, sides[link.start].name)


def _run(
    tree: Tree, version: Version, changed: Collection[str], touched: str | None
) -> tuple[exp.Select, tuple[Input, ...]]:
    """The plan over one version of everything, on the slices of the touched values or on all rows."""
    edges = tree.narrowed() if touched is not None else {}
    views: dict[str, str] = {}
    inputs: list[Input] = []
    rank = {alias: place for place, alias in enumerate([*tree.way.cover, *edges])}
    order = sorted(tree.scans, key=lambda scan: rank.get(scan.alias, len(rank)))
    for scan in order:
        restriction = None
        same = scan.relation not in changed
        if touched is not None and scan.alias in tree.way.cover:
            restriction = Restriction(tree.way.cover[scan.alias], touched, VALUE)
        elif scan.alias in edges:
            edge = edges[scan.alias]
            restriction = Restriction(edge.to[1], views[edge.by[0]], edge.by[1])
            same = same and views[edge.by[0]].endswith("__both")
        shown = Version.OLD if scan.relation not in changed else version
        views[scan.alias] = f"{scan.alias}__{'both' if same else 'was' if version is Version.OLD else 'is'}"
        name = views[scan.alias]
        inputs.append(Input(name, scan.relation, shown, scan.columns, restriction, is_bag=True))

    def leaf(scan: Scan) -> exp.Expr:
        return view(views[scan.alias])

    return query_of_plan(tree.plan, leaf), tuple(inputs)
