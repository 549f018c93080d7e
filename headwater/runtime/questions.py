"""What a pipeline that runs can be asked: VERIFY a view, EXPLAIN ANALYZE it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.incremental.change_plan import sums_relation
from headwater.runtime.answers import explain
from headwater.runtime.costs import Cost
from headwater.runtime.program import Program, Question
from headwater.runtime.stops import Stops
from headwater.runtime.verify import verify
from headwater.spark.engine import Engine
from headwater.tables.state import State


@dataclass(frozen=True)
class Answer:
    """What is said to a question; `is_bad` if something is not as it should be."""

    text: str
    is_bad: bool = False


def answer(
    question: Question,
    stops: Stops,
    engine: Engine,
    states: Mapping[str, State],
    costs: Mapping[str, Cost],
) -> Answer:
    """Answer at the present cut."""
    if question.about == "cost":
        return Answer(analyzed(stops.program, question.result, states, costs))
    found = verify(stops, engine, states, only=question.result)
    if not found:
        return Answer(f"equal: {question.result} is what its query gives at this cut")
    return Answer("\n".join(f"different: {one.relation}: {one.detail}" for one in found), is_bad=True)


def analyzed(program: Program, name: str, states: Mapping[str, State], costs: Mapping[str, Cost]) -> str:
    """EXPLAIN of a result, and for each relation that keeps it what is stored and what its last step cost."""
    result = program.results[name]
    lines = [explain(result, program.views, program.tables), ""]
    for node in result.nodes:
        lines += [f"-- {node}", *(f"--   {line}" for line in _told(node, states, costs.get(node)))]
    return "\n".join(lines)


def _told(node: str, states: Mapping[str, State], cost: Cost | None) -> list[str]:
    stored = [(what, states[what]) for what in (node, sums_relation(node)) if what in states]
    lines = [f"stored {what}: {_size(state)}" for what, state in stored]
    if cost is None:
        return [*lines, "no step of it was done yet"]
    read = ", ".join(f"{relation} {rows:,}" for relation, rows in cost.read.items()) or "nothing"
    expected = "" if cost.expected is None else f", expected {cost.expected:.3f} s"
    return [
        *lines,
        f"last step: {cost.way.value} ({cost.strategy}), {cost.seconds:.3f} s{expected}",
        f"rows that changed below: {cost.changed:,}; rows read: {read}; rows written: {cost.written:,}",
    ]


def _size(state: State) -> str:
    taken = sum(path.stat().st_size for path in state.paths)
    runs = "1 run" if len(state.runs) == 1 else f"{len(state.runs)} runs"
    return f"{state.rows:,} rows in {runs}, {taken / 1024:,.0f} KiB"
