"""What a pipeline that runs can be asked: VERIFY a view, EXPLAIN ANALYZE it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    costs: Mapping[str, Sequence[Cost]],
) -> Answer:
    """Answer at the present cut."""
    if question.about == "cost":
        return Answer(analyzed(stops.program, question.result, states, costs))
    found = verify(stops, engine, states, only=question.result)
    if not found:
        return Answer(f"equal: {question.result} is what its query gives at this cut")
    return Answer("\n".join(f"different: {one.relation}: {one.detail}" for one in found), is_bad=True)


def analyzed(
    program: Program, name: str, states: Mapping[str, State], costs: Mapping[str, Sequence[Cost]]
) -> str:
    """EXPLAIN of a result, and for each relation that keeps it what is stored and what its last steps cost."""
    result = program.results[name]
    lines = [explain(result, program.views, program.tables), ""]
    for node in result.nodes:
        lines += [f"-- {node}", *(f"--   {line}" for line in _told(node, states, costs.get(node, ())))]
    return "\n".join(lines)


def _told(node: str, states: Mapping[str, State], steps: Sequence[Cost]) -> list[str]:
    stored = [(what, states[what]) for what in (node, sums_relation(node)) if what in states]
    lines = [f"stored {what}: {_size(state)}" for what, state in stored]
    if not steps:
        return [*lines, "no step of it was done yet"]
    *before, last = steps
    read = ", ".join(f"{relation} {rows:,}" for relation, rows in last.read.items()) or "nothing"
    lines += [
        f"last step: {_took(last)}",
        f"rows that changed below: {last.changed:,}; rows read: {read}; rows written: {last.written:,}",
    ]
    for cost in reversed(before):
        moved = f"{cost.changed:,} changed, {sum(cost.read.values()):,} read, {cost.written:,} written"
        lines.append(f"before it: {_took(cost)}; rows: {moved}")
    return lines


def _took(cost: Cost) -> str:
    expected = "" if cost.expected is None else f", expected {cost.expected:.3f} s"
    return f"{cost.way.value} ({cost.strategy}), {cost.seconds:.3f} s{expected}"


def _size(state: State) -> str:
    taken = sum(path.stat().st_size for path in state.paths)
    runs = "1 run" if len(state.runs) == 1 else f"{len(state.runs)} runs"
    return f"{state.rows:,} rows in {runs}, {taken / 1024:,.0f} KiB"
