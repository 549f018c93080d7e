"""ORDER BY with LIMIT: the first rows are found among a few more that are kept beside them.

What is kept is a beginning of the order: all rows up to the last of them, more than are asked for. A change behind that
last row moves nothing. Only when too few are left, or far too many came, the stored relation is read again.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.incremental.block import Block
from headwater.incremental.change_plan import (
    ChangePlan,
    Guard,
    Input,
    Statement,
    Strategy,
    Version,
    change_view,
    sums_relation,
)
from headwater.incremental.weights import bag, consolidated, union_all, view, weight
from headwater.schema import WEIGHT

HELD = "__hw_held"
"""How many rows are kept after a step."""

_WAS, _RANK = "__hw_was", "__hw_rank"
_SPARE, _MOST = 500, 5_000
_LARGEST = 2**31 - 1
"""The largest LIMIT there is."""


def query_of(block: Block, rows: exp.Expr) -> exp.Select:
    """The first rows of some rows."""
    assert block.first is not None
    first = block.first
    chosen = [exp.alias_(item.expression.copy(), item.name) for item in block.items]
    query = exp.select(*chosen).from_(exp.alias_(rows, first.scan.alias, table=True))
    query = query.order_by(*[key.copy() for key in first.order]).limit(first.limit)
    return query.offset(first.offset) if first.offset else query


def maintain(block: Block) -> ChangePlan:
    """The change plan of a step: a change of what is kept, and of the first rows among it."""
    near = f"{block.name}__near"
    inputs = (_own(block), _changed(block))
    finding = Statement(near, _near(block), inputs)
    guard = Guard(near, HELD, _needed(block), _needed(block) * 2 + _MOST, _refilled(block))
    return ChangePlan(Strategy.KEY_LOCAL, (finding, _emitted(block, near)), sums=near, guard=guard)


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    near = f"{block.name}__near"
    filling = Statement(near, _beginning(block), (_now(block),))
    kept = exp.select("*").from_(view(near))
    rows = bag(kept, _columns(block)).subquery()
    come = exp.select("*", exp.alias_(exp.Literal.number(1), WEIGHT)).from_(
        query_of(block, rows).subquery("q")
    )
    emitting = Statement(
        change_view(block.name), consolidated(come, block.columns), (Input(near, near, Version.RESULT),)
    )
    return ChangePlan(Strategy.KEY_LOCAL, (filling, emitting), sums=near)


def _refilled(block: Block) -> ChangePlan:
    """The change plan that keeps a new beginning."""
    near = f"{block.name}__near"
    gone = exp.select(*_names(block), exp.alias_(exp.Neg(this=weight()), WEIGHT)).from_(
        view(_own(block).view)
    )
    whole = consolidated(union_all([_beginning(block), gone]), _columns(block))
    finding = Statement(near, whole, (_own(block), _now(block)))
    return ChangePlan(Strategy.KEY_LOCAL, (finding, _emitted(block, near)), sums=near)


def _near(block: Block) -> exp.Select:
    """Rows of the change up to the last row that is kept; all of them if everything there is, is kept."""
    assert block.first is not None
    names, first = _names(block), block.first
    # A row that went is stored beside the one that came: neither is the last one.
    own = consolidated(exp.select(*names, weight()).from_(view(_own(block).view)), _columns(block))
    kept = exp.select(*names, weight(), exp.alias_(exp.Literal.number(1), _WAS)).from_(own.subquery("k"))
    moved = exp.select(*[n.copy() for n in names], weight(), exp.alias_(exp.Literal.number(0), _WAS)).from_(
        view(_changed(block).view)
    )
    pool = exp.alias_(union_all([kept, moved]).subquery(), first.scan.alias, table=True)
    order = exp.Order(expressions=[key.copy() for key in first.order])
    ranked = exp.select(
        *[exp.column(c, first.scan.alias) for c in first.scan.columns],
        weight(first.scan.alias),
        exp.column(_WAS, first.scan.alias),
        exp.alias_(exp.Window(this=exp.Anonymous(this="RANK"), order=order), _RANK),
    ).from_(pool)
    last = f"MAX(IF({_WAS} = 1, {_RANK}, NULL)) OVER ()"
    count = f"COALESCE(SUM(IF({_WAS} = 1, {WEIGHT}, 0)) OVER (), 0)"
    bounded = exp.select("*", f"{last} AS last", f"{count} AS kept").from_(ranked.subquery("r"))
    needed = _needed(block)
    inside = exp.select(
        "*",
        f"SUM(IF({_WAS} = 1 OR kept < {needed} OR {_RANK} <= last, {WEIGHT}, 0)) OVER () AS held",
        f"COALESCE(SUM(IF({_RANK} = last, {WEIGHT}, 0)) OVER (), 0) AS ending",
    )
    inside = inside.from_(bounded.subquery("b"))
    # What holds everything there is needs no more, however little it is.
    # Of the last row not all copies may be kept; if more go than are, what comes next is not known.
    told = f"CASE WHEN ending < 0 THEN -1 WHEN kept < {needed} THEN GREATEST(held, {needed}) ELSE held END"
    held = f"CAST({told} AS BIGINT) AS {HELD}"
    chosen = exp.select(*[n.copy() for n in names], weight(), held).from_(inside.subquery("i"))
    return chosen.where(f"{_WAS} = 0 AND (kept < {needed} OR {_RANK} <= last)")


def _beginning(block: Block) -> exp.Select:
    """The first rows of everything, with some to spare."""
    assert block.first is not None
    first = block.first
    rows = exp.alias_(view(_now(block).view), first.scan.alias, table=True)
    columns = [exp.column(c, first.scan.alias) for c in first.scan.columns]
    begun = exp.select(*columns).from_(rows).order_by(*[key.copy() for key in first.order])
    begun = begun.limit(min(2 * _needed(block) + _SPARE, _LARGEST))
    once = exp.alias_(exp.cast(exp.Literal.number(1), "tinyint"), WEIGHT)
    return exp.select(*_names(block), once).from_(begun.subquery("f"))


def _emitted(block: Block, near: str) -> Statement:
    """The first rows of what is kept now, less those that were the first before."""
    own, old = _own(block), f"{block.name}__old"
    kept = [exp.select(*_names(block), weight()).from_(view(v)) for v in (own.view, near)]
    rows = bag(union_all(kept), _columns(block)).subquery()
    columns = [exp.column(name) for name in block.columns]
    come = exp.select(*columns, exp.alias_(exp.Literal.number(1), WEIGHT)).from_(
        query_of(block, rows).subquery("q")
    )
    gone = exp.select(*[c.copy() for c in columns], exp.alias_(exp.Neg(this=weight()), WEIGHT)).from_(
        view(old)
    )
    inputs = (own, Input(near, near, Version.RESULT), Input(old, block.name, Version.OLD, block.columns))
    return Statement(change_view(block.name), consolidated(union_all([come, gone]), block.columns), inputs)


def _needed(block: Block) -> int:
    assert block.first is not None
    return block.first.limit + block.first.offset


def _columns(block: Block) -> tuple[str, ...]:
    assert block.first is not None
    return block.first.scan.columns


def _names(block: Block) -> list[exp.Column]:
    return [exp.column(name) for name in _columns(block)]


def _own(block: Block) -> Input:
    kept = sums_relation(block.name)
    return Input(kept, kept, Version.SUMS)


def _changed(block: Block) -> Input:
    assert block.first is not None
    scan = block.first.scan
    return Input(f"{scan.alias}__change", scan.relation, Version.CHANGE, scan.columns)


def _now(block: Block) -> Input:
    assert block.first is not None
    return Input(f"{block.first.scan.alias}__now", block.first.scan.relation, Version.NOW)
