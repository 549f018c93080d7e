"""Pipelines as those see them who look on: how each is, what it is busy with, what it did last."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from headwater.runtime.facts import BatchDone
from headwater.runtime.graph import WINDOW, doing_now
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.resources import retained_for
from headwater.server.answers import application_answer, moment
from headwater.server.deployed import Deployed
from headwater.server.records import Application
from headwater.server.refusals import Conflict
from headwater.server.server import Server

SHOWN = 60
"""So many batches are drawn."""

REPORTS = 12
"""So many reports of sources and sinks are told."""


def summaries(server: Server) -> list[dict[str, Any]]:
    """Every application that was ever deployed, with how its pipeline is."""
    known = [summary(server, one) for one in server.store.all(Application)]
    return [one for one in known if one["status"] is not None]


def summary(server: Server, application: Application) -> dict[str, Any]:
    """How the pipeline of an application is now."""
    current = application_answer(server, application)["current_deployment"] or {}
    deployed = server.deployed(application)
    said = {
        "name": application.name,
        "status": current.get("status"),
        "mode": current.get("mode"),
        "version": current.get("version"),
        "deployment": current.get("id"),
        "next_run_at": current.get("next_run_at"),
        "started_at": current.get("started_at"),
        "restarts": current.get("restarts", 0),
        "error": current.get("error"),
    }
    pipeline = deployed.pipeline if deployed is not None else None
    batches = deployed.facts.recent() if deployed is not None else []
    return said | _standing(server, pipeline) | _course(deployed, batches)


def batch_answer(batch: BatchDone) -> dict[str, Any]:
    """One batch, without its rows."""
    return {
        "batch_id": batch.batch_id,
        "cut": str(batch.cut),
        "rows": batch.rows_read,
        "seconds": {stop: round(seconds, 4) for stop, seconds in batch.seconds.items()},
        "lag": batch.lag,
        "committed_at": moment(batch.committed_at),
        "done_at": moment(batch.done_at),
        "moved": dict(batch.moved),
        "is_repeat": batch.is_repeat,
    }


def report_answers(server: Server, deployed: Deployed | None) -> list[dict[str, Any]]:
    """The last word on each thing that takes a while or was noted, the newest first."""
    last = (
        {}
        if deployed is None
        else {(one.stage, one.subject): (at, one) for at, one in list(deployed.facts.reports)}
    )
    newest = sorted(last.values(), key=lambda known: -known[0])[:REPORTS]
    return [
        {
            "at": moment(at),
            "stage": one.stage,
            "subject": server.mask(one.subject),
            "done": one.done,
            "total": one.total,
            "per_second": one.per_second,
            "seconds_left": one.seconds_left,
        }
        for at, one in newest
    ]


def running(server: Server, application: Application) -> tuple[Deployed, Pipeline]:
    """What runs of an application, or why nothing can be asked of it."""
    deployed = server.deployed(application)
    pipeline = deployed.pipeline if deployed is not None else None
    if deployed is None or pipeline is None:
        raise Conflict(
            f"'{application.name}' does not run", hint="Resume its deployment, or deploy a version."
        )
    return deployed, pipeline


def _standing(server: Server, pipeline: Pipeline | None) -> dict[str, Any]:
    if pipeline is None:
        nothing = dict.fromkeys(("cut", "cut_at", "batch_id", "doing", "parts", "lag_bytes"))
        return nothing | {"stopped": {}}
    with pipeline.snapshot() as snapshot:
        batch_id, stopped = snapshot.batch_id, snapshot.stopped
    program = pipeline.program
    kinds = [result.kind for result in program.results.values()]
    return {
        "cut": str(snapshot.cut),
        "cut_at": moment(snapshot.reached_at),
        "batch_id": batch_id,
        "doing": doing_now(pipeline),
        "lag_bytes": max((one.behind for one in retained_for(pipeline).values()), default=None),
        "stopped": {name: server.mask(problem.message) for name, problem in stopped.items()},
        "parts": {"tables": len(program.tables), "views": kinds.count("view"), "sinks": len(program.sinks)},
    }


def _course(deployed: Deployed | None, batches: list[BatchDone]) -> dict[str, Any]:
    now = time.time()
    last = batches[-1] if batches else None
    return {
        "now": moment(now),
        "lag": last.lag if last is not None else None,
        "last_batch_at": moment(last.done_at) if last is not None else None,
        "step_seconds": round(sum(last.seconds.values()), 4) if last is not None else None,
        "rows_per_second": round(rows_per_second(batches, now), 3),
        "totals": _totals(deployed),
        "series": [_point(one) for one in batches[-SHOWN:]],
    }


def rows_per_second(batches: Iterable[BatchDone], now: float) -> float:
    """How many rows were read from sources lately."""
    return sum(one.rows_read for one in batches if now - one.done_at <= WINDOW) / WINDOW


def _totals(deployed: Deployed | None) -> Mapping[str, Any]:
    if deployed is None:
        return {"batches": 0, "rows": 0, "seconds": {}}
    counts, seconds = deployed.facts.counts, dict(deployed.facts.seconds)
    return {"batches": counts["batches"], "rows": counts["rows"], "seconds": seconds}


def _point(batch: BatchDone) -> dict[str, Any]:
    return {
        "at": round(batch.done_at, 3),
        "rows": batch.rows_read,
        "seconds": round(sum(batch.seconds.values()), 4),
        "lag": batch.lag,
    }
