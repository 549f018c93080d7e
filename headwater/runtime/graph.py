"""A pipeline as a graph: tables that are read, views, sinks that are written, and who reads whom."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater.incremental.change_plan import sums_relation
from headwater.runtime.answers import explain
from headwater.runtime.clock import Doing
from headwater.runtime.costs import Cost
from headwater.runtime.facts import BatchDone
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Result
from headwater.schema import Schema
from headwater.sql.script import parse_script
from headwater.sql.secrets import masked
from headwater.sql.statements import CreateTable, CreateView
from headwater.tables.state import State

WINDOW = 30.0
"""Rates are taken over so many seconds."""


def graph(pipeline: Pipeline, batches: list[BatchDone]) -> dict[str, Any]:
    """Nodes and edges, with what moves along each edge."""
    speed = rates(batches, time.time())
    doing = doing_now(pipeline)
    nodes = [
        _node(pipeline, name) | {"rate": speed.get(_kept(pipeline, name), 0.0)}
        for name in node_names(pipeline)
    ]
    for node in nodes:
        node["doing"] = doing if doing is not None and _is_at(pipeline, node["id"], doing) else None
    edges = [
        {"from": source, "to": result.name, "rate": speed.get(source, 0.0)}
        for result in pipeline.program.results.values()
        for source in result.reads
    ]
    return {"nodes": nodes, "edges": edges}


def node_of(pipeline: Pipeline, name: str, script: str) -> dict[str, Any]:
    """All that is known of one node."""
    program = pipeline.program
    shown = _node(pipeline, name)
    if name in program.tables:
        shown["sql"] = _declared(script).get(name.lower(), "")
        return shown | {"stored": _stored(pipeline, [name])}
    result = program.results[name]
    table = _target(pipeline, name) or name
    written = _declared(script).get(table.lower(), "")
    return shown | {
        "sql": written or masked(result.query_text),
        "query": masked(result.query_text),
        "explain": masked(explain(result, program.views, program.tables)),
        "steps": [_step(node, cost) for node in result.nodes for cost in pipeline.costs.recent.get(node, ())],
        "stored": _stored(pipeline, [n for node in result.nodes for n in (node, sums_relation(node))]),
    }


def node_names(pipeline: Pipeline) -> list[str]:
    """Tables and results, in the order of the script."""
    return [*pipeline.program.tables, *pipeline.program.results]


def rates(batches: list[BatchDone], now: float) -> dict[str, float]:
    """Rows that came or went in each relation, a second."""
    total: dict[str, float] = {}
    for batch in batches:
        if now - batch.done_at <= WINDOW:
            for name, count in batch.moved.items():
                total[name] = total.get(name, 0.0) + count
    return {name: round(count / WINDOW, 3) for name, count in total.items()}


def doing_now(pipeline: Pipeline) -> dict[str, Any] | None:
    """What the step at hand is busy with, and for how long; waiting for something to come is nothing."""
    doing = pipeline.doing
    if doing is None or doing.stop == "read":
        return None
    seconds = max(0.0, time.time() - doing.since)
    late = _late(pipeline, doing)
    return {"stop": doing.stop, "what": doing.what, "late": late, "seconds": round(seconds, 1)}


def _late(pipeline: Pipeline, doing: Doing) -> list[str]:
    """The views whose rows wait for what the step is busy with."""
    results = pipeline.program.results
    if doing.stop == "sinks":
        written = [one.relation for one in pipeline.program.sinks if one.sink == doing.what]
        return list(dict.fromkeys(name for one in written for name in results[one].reads))
    return [name for name, one in results.items() if doing.stop == "views" and doing.what in one.nodes]


def _kept(pipeline: Pipeline, name: str) -> str:
    """The stored relation whose rows are those of a node."""
    found = pipeline.program.results.get(name)
    return found.nodes[-1] if found is not None and found.nodes else name


def _node(pipeline: Pipeline, name: str) -> dict[str, Any]:
    program = pipeline.program
    with pipeline.snapshot() as snapshot:
        state, is_waiting = snapshot.states.get(_kept(pipeline, name)), name in snapshot.waiting
        stopped: HeadwaterError | None = snapshot.stopped.get(name)
    said: dict[str, Any] = {
        "id": name,
        "name": _target(pipeline, name) or name,
        "rows": state.rows if state is not None else None,
        "is_waiting": is_waiting,
        "stopped": masked(stopped.message) if stopped is not None else None,
    }
    if (table := program.tables.get(name)) is not None:
        return said | {"kind": "table", "connector": table.connector, "columns": _columns(table.schema)}
    result = program.results[name]
    kind = {"view": "view", "insert": "sink", "query": "query"}[result.kind]
    return said | {
        "kind": kind,
        "connector": next((one.connector for one in program.sinks if one.relation == name), None),
        "columns": _columns(result.schema),
        "strategies": _strategies(pipeline, result),
        "seconds": _seconds(pipeline, result),
    }


def _target(pipeline: Pipeline, name: str) -> str | None:
    """The table that an INSERT INTO writes."""
    return next((one.table.name for one in pipeline.program.sinks if one.relation == name), None)


def _is_at(pipeline: Pipeline, name: str, doing: dict[str, Any]) -> bool:
    """True if the step at hand is busy with a node."""
    what = doing["what"]
    if doing["stop"] == "sinks":
        return any(one.relation == name and one.sink == what for one in pipeline.program.sinks)
    result = pipeline.program.results.get(name)
    return doing["stop"] == "views" and result is not None and what in result.nodes


def _strategies(pipeline: Pipeline, result: Result) -> list[str]:
    """How its last steps were computed; what is stored of it may take several ways."""
    last = pipeline.costs.last
    return list(dict.fromkeys(last[node].strategy for node in result.nodes if node in last))


def _seconds(pipeline: Pipeline, result: Result) -> float | None:
    """What its last step took."""
    last = pipeline.costs.last
    took = [last[node].seconds for node in result.nodes if node in last]
    return round(sum(took), 4) if took else None


def _step(node: str, cost: Cost) -> dict[str, Any]:
    return {
        "relation": node,
        "way": cost.way.value,
        "strategy": cost.strategy,
        "changed": cost.changed,
        "read": sum(cost.read.values()),
        "written": cost.written,
        "seconds": round(cost.seconds, 4),
    }


def _stored(pipeline: Pipeline, names: list[str]) -> list[dict[str, Any]]:
    with pipeline.snapshot() as snapshot:
        found = [(name, snapshot.states[name]) for name in names if name in snapshot.states]
        return [_size(name, state) for name, state in found]


def _size(name: str, state: State) -> dict[str, Any]:
    taken = sum(size for path in state.paths if (size := _bytes(path)) is not None)
    return {"relation": name, "rows": state.rows, "runs": len(state.runs), "bytes": taken}


def _bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _columns(schema: Schema) -> list[dict[str, Any]]:
    return [{"name": one.name, "type": one.type, "is_key": one.name in schema.key} for one in schema]


def _declared(script: str) -> dict[str, str]:
    """The statements that declare tables and views, secrets as stars, by name in lower case."""
    return {name.lower(): text for name, text in _statements(script)}


def _statements(script: str) -> Iterator[tuple[str, str]]:
    try:
        found = parse_script(script, "script")
    except HeadwaterError:
        return
    for statement in found:
        if isinstance(statement, CreateTable | CreateView):
            yield statement.name, masked(statement.text)
