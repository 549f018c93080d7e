"""What of a history is kept: changes that are too old, or too many, go again.

They go in steps of a small part of what is kept, so that this is seldom done, and in a batch in which nothing comes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.compute as pc
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.incremental.weights import consolidated
from headwater.schema import WEIGHT
from headwater.sources.history import HistoryOptions
from headwater.spark.engine import Engine
from headwater.tables.state import State

STEPS = 64
"""What is kept goes in so many steps: at most a sixty-fourth more is there than was asked for."""


# Rows that a TRUNCATE took are of one number; a batch that is repeated must choose the same ones.
_ORDER = ("sequence", "TO_JSON(before)", "TO_JSON(after)")


@dataclass(frozen=True)
class Kept:
    """What a history holds; times are microseconds, None before the first that is known."""

    rows: int = 0
    oldest: int | None = None
    """No change with a time is older."""
    newest: int | None = None


def kept_from_text(text: str | None) -> Kept:
    """What was kept with the last batch."""
    return Kept() if text is None else Kept(**json.loads(text))


def kept_to_text(kept: Kept) -> str:
    """The form in which it is kept."""
    return json.dumps({"rows": kept.rows, "oldest": kept.oldest, "newest": kept.newest})


def grown(kept: Kept, come: ChangeSet) -> Kept:
    """What is held when some changes have come."""
    times = [t for t in _times(come) if t is not None]
    oldest = [kept.oldest, *times] if kept.oldest is not None else times
    newest = [kept.newest, *times] if kept.newest is not None else times
    return Kept(kept.rows + come.count, min(oldest, default=None), max(newest, default=None))


def is_due(kept: Kept, limits: HistoryOptions) -> bool:
    """True if so much is too old, or too many, that it has to go."""
    since = _since(kept, limits)
    is_old = since is not None and kept.oldest is not None and kept.oldest < since
    return is_old or (limits.rows is not None and kept.rows - limits.rows > limits.rows // STEPS)


def expired(state: State, kept: Kept, *, limits: HistoryOptions, engine: Engine) -> tuple[ChangeSet, Kept]:
    """What goes of a history, and what it holds then."""
    parts: list[Rows | Files] = []
    since = _since(kept, limits)
    if since is not None and kept.oldest is not None and kept.oldest < since:
        parts.append(_gone(engine, state, before=since))
        kept = replace(kept, rows=kept.rows - _count(parts[0]), oldest=since)
    surplus = 0 if limits.rows is None else kept.rows - limits.rows
    if surplus > 0:
        parts.append(_gone(engine, state, since=since, first=surplus))
        kept = replace(kept, rows=kept.rows - _count(parts[-1]))
    return ChangeSet(state.relation, state.schema, tuple(parts)), kept


def _since(kept: Kept, limits: HistoryOptions) -> int | None:
    """The first moment that is kept; it moves in steps."""
    if kept.newest is None or limits.seconds is None:
        return None
    step = max(1, int(limits.seconds * 1_000_000 / STEPS))
    return (kept.newest - int(limits.seconds * 1_000_000)) // step * step


def _times(come: ChangeSet) -> list[int]:
    """The first and the last time of what comes; first rows of a table are as old as their coming."""
    found: list[int] = []
    for batch in come.batches():
        moments = pc.coalesce(batch.column("committed_at"), batch.column("appended_at"))
        ends: Any = pc.min_max(moments.cast("int64"))
        found += [end for end in (ends["min"].as_py(), ends["max"].as_py()) if end is not None]
    return [min(found), max(found)] if found else []


def _gone(
    engine: Engine,
    state: State,
    *,
    before: int | None = None,
    since: int | None = None,
    first: int | None = None,
) -> Rows | Files:
    """Rows that go: all of before a moment, or the first so many of since one."""
    engine.register("kept_rows", engine.weighted(state))
    rows = exp.select("*").from_("kept_rows")
    if before is not None:
        rows = rows.where(_is_older(before))
    if since is not None:
        rows = rows.where(exp.not_(exp.func("COALESCE", _is_older(since), exp.false())))
    there = consolidated(rows, state.schema.names)
    if first is not None:
        there = exp.select("*").from_(there.subquery("t")).order_by(*_ORDER).limit(first)
    turned = exp.alias_(exp.cast(exp.Neg(this=exp.column(WEIGHT)), "tinyint"), WEIGHT)
    names = [exp.column(name, quoted=True) for name in state.schema.names]
    made = engine.saved(engine.sql(exp.select(*names, turned).from_(there.subquery("g"))))
    return made if isinstance(made, Files) else Rows(made)


def _is_older(moment: int) -> exp.Expr:
    """Written so that files of younger rows need not be read."""
    limit = exp.Anonymous(this="TIMESTAMP_MICROS", expressions=[exp.Literal.number(moment)])
    committed, appended = exp.column("committed_at"), exp.column("appended_at")
    first_rows = exp.and_(
        exp.Is(this=committed, expression=exp.Null()), exp.LT(this=appended, expression=limit)
    )
    return exp.or_(exp.LT(this=committed.copy(), expression=limit.copy()), first_rows)


def _count(part: Rows | Files) -> int:
    return part.count if isinstance(part, Files) else part.table.num_rows
