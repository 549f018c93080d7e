"""What we want to reach beside the others: each goal is a ratio of two figures of one run, and a bound for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.results import Run

OURS = "headwater"


@dataclass(frozen=True)
class Goal:
    """Our figure over another one, at most or at least so much; over nothing, the figure itself."""

    workload: str
    what: str
    bound: float
    least: bool = False
    against: str | None = None
    other: str | None = None

    def told(self) -> str:
        """The goal in words."""
        return f"at {'least' if self.least else 'most'} {self.bound:.3g}"


@dataclass(frozen=True)
class Judged:
    """A goal and what came of it; no ratio if one of the figures is missing."""

    goal: Goal
    ratio: float | None

    @property
    def verdict(self) -> str:
        """One word."""
        if self.ratio is None:
            return "not measured"
        met = self.ratio >= self.goal.bound if self.goal.least else self.ratio <= self.goal.bound
        return "met" if met else "missed"


FIRST, BACKLOG, RUNNING = "first load", "backlog", "while running"
P50, P95 = "commit to row, p50", "commit to row, p95"

GOALS: Sequence[Goal] = (
    Goal("W1", FIRST, 1 / 8, against="flink"),
    Goal("W1", FIRST, 1 / 3, against="pathway"),
    Goal("W1", BACKLOG, 4, least=True, against="flink"),
    Goal("W1", BACKLOG, 2, least=True, against="pathway"),
    Goal("W1", BACKLOG, 0.5, least=True, against="pg_recvlogical"),
    Goal("W1", RUNNING, 4, least=True, against="flink"),
    Goal("W1", RUNNING, 2, least=True, against="pathway"),
    Goal("W1", P50, 0.3, against="flink"),
    Goal("W1", P50, 1, against="pathway"),
    Goal("W1", P95, 2, against=OURS, other=P50),
    Goal("W1", "1,000 members move", 0.4, against="flink"),
    Goal("W1", "memory", 0.5, against="flink"),
    Goal("W1", "wrong totals", 0),
    Goal("W4", "growth", 3),
)


def judged(run: Run, goals: Sequence[Goal] = GOALS) -> list[Judged]:
    """Every goal of the workloads that the run has, with what came of it."""
    had = {figure.workload for figure in run.figures} | {failure.workload for failure in run.failures}
    return [Judged(goal, ratio(run, goal)) for goal in goals if goal.workload in had]


def ratio(run: Run, goal: Goal) -> float | None:
    """Our figure over the other one."""
    ours = run.value(goal.workload, goal.what, OURS)
    if goal.against is None or ours is None:
        return ours
    theirs = run.value(goal.workload, goal.other or goal.what, goal.against)
    return ours / theirs if theirs else None
