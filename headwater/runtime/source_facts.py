"""The sources of a pipeline: where each stands, what its database keeps for it, how its tables come."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headwater.runtime.ends import by_source
from headwater.runtime.facts import BatchDone
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import TableNode
from headwater.runtime.resources import retained_for
from headwater.sources.base import Report, Retained
from headwater.sources.dead_letters import DEAD_LETTERS
from headwater.sources.history import HISTORY

SNAPSHOT = "snapshot"
"""The stage of reports that tell how far the first rows of a table have come."""

OURS = (DEAD_LETTERS, HISTORY)
"""What nobody delivers."""


def source_facts(
    pipeline: Pipeline, batches: Sequence[BatchDone], reports: Sequence[tuple[float, Report]]
) -> list[dict[str, Any]]:
    """Every source of a pipeline with its tables."""
    retained = retained_for(pipeline)
    with pipeline.snapshot() as snapshot:
        cut, waiting = snapshot.cut, snapshot.waiting
        rows = {name: state.rows for name, state in snapshot.states.items()}
    found = []
    for name, tables in by_source(pipeline.program).items():
        if any(tables[0].type is one for one in OURS):
            continue
        position = cut.of(name)
        found.append(
            {
                "source": name,
                "connector": tables[0].connector,
                "position": str(position) if position is not None else None,
                "lag": batches[-1].lag if batches else None,
                "retained": _retained(retained.get(name), tables),
                "tables": [
                    _table(one, waiting, rows=rows, batches=batches, reports=reports) for one in tables
                ],
            }
        )
    return found


def _retained(seen: Retained | None, tables: Sequence[TableNode]) -> dict[str, Any] | None:
    """What the database keeps of its log because of us, and how much it may."""
    if seen is None:
        return None
    options = [one.table.options for one in tables]
    limits = [most for one in options if (most := getattr(one, "retained_max", None)) is not None]
    return {
        "slot": seen.slot,
        "status": seen.status,
        "kept": seen.kept,
        "behind": seen.behind,
        "limit": min((int(one) for one in limits), default=None),
        "action": next(
            (one.retained_action or "warn" for one in options if hasattr(one, "retained_action")), None
        ),
    }


def _table(
    node: TableNode,
    waiting: Collection[str],
    *,
    rows: Mapping[str, int],
    batches: Sequence[BatchDone],
    reports: Sequence[tuple[float, Report]],
) -> dict[str, Any]:
    last = next((one for one in reversed(batches) if one.moved.get(node.name)), None)
    return {
        "name": node.name,
        "columns": [{"name": one.name, "type": one.type} for one in node.schema],
        "is_whole": node.name not in waiting,
        "rows": rows.get(node.name),
        "snapshot": _snapshot(node.name, reports),
        "last_event": None
        if last is None
        else {
            "at": last.committed_at or last.done_at,
            "batch_id": last.batch_id,
            "rows": last.moved[node.name],
        },
    }


def _snapshot(table: str, reports: Sequence[tuple[float, Report]]) -> dict[str, Any] | None:
    """How far the first rows of a table have come, as it was told last."""
    told = [
        (at, one)
        for at, one in reports
        if one.stage == SNAPSHOT and one.subject.split(".")[-1] == table.split(".")[-1]
    ]
    if not told:
        return None
    at, last = told[-1]
    return {
        "rows": last.done,
        "total": last.total,
        "per_second": last.per_second,
        "seconds_left": last.seconds_left,
        "is_done": last.total is not None and last.done >= last.total,
        "age": round(time.time() - at, 1),
    }
