"""Slice and rerun: outer, semi and anti joins, subqueries, windows, set operations and what stands on them.

The first statement finds the values that the change touches. The second runs the plan as it stands on the rows of
these values, as they were and as they are, and emits the difference. Where the plan adds something up, what it gave
before is taken as it is stored, if the result shows of which value a row is: a floating number computed twice may be two
numbers.
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
from headwater.incremental.tree import Tree, adds_up, filtered, is_only_asked
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
    statements, rows = change_of(block, changed, stored=_shown_value(block))
    last = Statement(change_view(block.name), consolidated(rows.query, block.columns), rows.inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (*statements, last))


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    rows = whole(block)
    statement = Statement(change_view(block.name), consolidated(rows.query, block.columns), rows.inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (statement,))


def change_of(
    block: Block, changed: Collection[str], *, stored: str | None = None
) -> tuple[tuple[Statement, ...], Rows]:
    """The statement that finds what is touched, if it can be known, and the weighted rows that change.

    `stored` is the column of the block's own rows by which they are taken back; without it they are computed again.
    """
    assert block.tree is not None
    tree, name = block.tree, f"{block.name}__touched"
    finding = _touched(tree, changed, name)
    if finding is None:
        was, now = (_run_weighted(tree, v, changed, None) for v in (Version.OLD, Version.NEW))
        return (), _difference(was, now, ())
    own = Input(name, name, Version.RESULT)
    now = _run_weighted(tree, Version.NEW, changed, name)
    was = (
        _run_weighted(tree, Version.OLD, changed, name)
        if stored is None
        else _taken_back(block, stored, name)
    )
    narrowing = _narrowing(tree, changed, f"{name}_at_all", name)
    if narrowing is None:
        return (finding,), _difference(was, now, (own,))
    return (replace(finding, target=narrowing.narrows), narrowing), _difference(was, now, (own,))


def whole(block: Block) -> Rows:
    """All rows, each with weight one."""
    assert block.tree is not None
    return _run_weighted(block.tree, Version.NEW, [s.relation for s in block.tree.scans], None)


def _shown_value(block: Block) -> str | None:
    """The column of the result that shows of which value a row is, where it is needed: see the module."""
    assert block.tree is not None
    if not adds_up(block.tree.plan):
        return None
    shown = {name for _, name in block.tree.way.at}
    return next((name for name in block.columns if name in shown), None)


def _taken_back(block: Block, column: str, touched: str) -> Rows:
    """What is stored of the touched values, each row turned round."""
    own = f"{block.name}__old"
    columns = [exp.column(name, "o") for name in block.columns]
    turned = exp.alias_(exp.Neg(this=weight("o")), WEIGHT)
    same = exp.NullSafeEQ(this=exp.column(column, "o"), expression=exp.column(VALUE, "t"))
    rows = (
        exp.select(*columns, turned)
        .from_(exp.alias_(view(own), "o", table=True))
        .join(exp.alias_(view(touched), "t", table=True), on=same, join_type="left semi")
    )
    restriction = Restriction(column, touched, VALUE)
    return Rows(rows, (Input(own, block.name, Version.OLD, block.columns, restriction),))


def _difference(was: Rows, now: Rows, first: tuple[Input, ...]) -> Rows:
    rows = union_all([was.query, now.query])
    return Rows(rows, tuple(dict.fromkeys((*first, *was.inputs, *now.inputs))))


def _run_weighted(tree: Tree, version: Version, changed: Collection[str], touched: str | None) -> Rows:
    """The rows of one version, those that were with weight minus one."""
    query, inputs = _run(tree, version, changed, touched)
    return Rows(_weighted(query, -1 if version is Version.OLD else 1), inputs)


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
