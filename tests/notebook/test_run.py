"""A pipeline in its thread: what is asked of it, and how it ends.

Oracle: what a pipeline of a few lines was told to do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from headwater.errors import SourceError
from headwater.notebook.area import Area, Look
from headwater.notebook.run import Run
from headwater.notebook.runs import Runs
from headwater.runtime.pipeline import Pipeline

SECONDS = 120.0


class Steps:
    """As much of a pipeline as a run asks; each step does what it is told."""

    def __init__(self, step: Callable[[], None] = lambda: None, *, is_away: bool = False) -> None:
        self._step = step
        self.is_away = is_away
        self.is_closed = False
        self.done = 0
        self.known = 0
        self.most = 0

    def step(self, wait: float) -> None:
        self._step()
        self.done = min(self.done + 1, self.most)
        threading.Event().wait(0.001)

    def now(self) -> dict[str, int]:
        if self.is_away:
            raise SourceError("the server is away")
        return {"s": self.known}

    def has_reached(self, target: Any) -> bool:
        return bool(self.done >= target["s"])

    def close(self) -> None:
        self.is_closed = True


def made_of(steps: Steps, monkeypatch: pytest.MonkeyPatch, *, is_kept: bool = True) -> Run:
    monkeypatch.setattr(Area, "open", lambda self, pipeline: None)
    area = Area("In [1] p", Look(20, 0.5), lambda picture: None)
    return Run("p", "In [1]", "SELECT", area, lambda _: cast(Pipeline, steps), once=False, is_kept=is_kept)


def run_of(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = made_of(steps, monkeypatch)
    run.start()
    return run


def test_a_source_that_is_away_is_told_to_who_waits_and_the_pipeline_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Steps(is_away=True)
    run = run_of(steps, monkeypatch)
    with pytest.raises(SourceError, match="the server is away"):
        run.catch_up(SECONDS)
    assert not run.is_over
    steps.is_away = False
    assert run.catch_up(SECONDS)
    run.stop()
    assert run.join(SECONDS) and steps.is_closed and run.area.state == "stopped"


def test_an_error_of_ours_ends_the_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise SourceError("no more")

    steps = Steps(fail)
    run = run_of(steps, monkeypatch)
    assert run.join(SECONDS) and steps.is_closed
    assert run.area.state == "failed" and str(run.area.error) == "no more"
    assert run.catch_up(SECONDS), "nobody waits for ever for a run that is over"


def test_a_mistake_of_ours_is_told_and_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError("oh")

    printed: list[str] = []
    told = threading.Event()

    def hear(given: threading.ExceptHookArgs) -> None:
        if given.exc_type is ZeroDivisionError:
            printed.append(str(given.exc_value))
            told.set()

    monkeypatch.setattr(threading, "excepthook", hear)
    steps = Steps(fail)
    run = run_of(steps, monkeypatch)
    assert run.join(SECONDS) and steps.is_closed, "its folder is free again"
    assert run.area.state == "failed" and run.area.error is not None
    assert run.area.error.detail == "ZeroDivisionError: oh"
    assert told.wait(SECONDS) and printed == ["oh"]


def test_who_waits_again_waits_for_what_is_committed_then(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, stands = threading.Event(), threading.Event()
    turns: list[None] = []

    def halt() -> None:
        turns.append(None)
        if not gate.is_set():
            stands.set()
            assert gate.wait(SECONDS)

    gate.set()
    steps = Steps(halt)
    run = run_of(steps, monkeypatch)
    steps.known = 1
    assert not run.catch_up(0.3), "nothing moves"
    gate.clear()
    assert stands.wait(SECONDS)
    # The step at hand brings what was waited for before; now more is.
    steps.known, steps.most = 50, 1
    halted = len(turns)

    def opening() -> float:
        """A clock that moves on when the step at hand and one more are over, and were looked at."""
        gate.set()
        return float(len(turns) > halted + 1)

    monkeypatch.setattr("headwater.runtime.turning.time", SimpleNamespace(monotonic=opening))
    assert not run.catch_up(0.3) and steps.done == 1
    steps.most = 50
    assert run.catch_up(SECONDS) and steps.done == 50
    run.stop()
    assert run.join(SECONDS)


class Discarding:
    """Discards, if the server answers."""

    def __init__(self, *, is_away: bool = False) -> None:
        self.is_away = is_away
        self.asked = 0

    def __call__(self, steps: Steps) -> None:
        self.asked += 1
        steps.close()
        if self.is_away:
            raise SourceError("the server is away")


def failing(runs: Runs, monkeypatch: pytest.MonkeyPatch, discarding: Discarding, problem: Exception) -> Run:
    def fail() -> None:
        raise problem

    monkeypatch.setattr("headwater.runtime.turning.discard", discarding)
    monkeypatch.setattr(threading, "excepthook", lambda given: None)
    run = made_of(Steps(fail), monkeypatch, is_kept=False)
    runs.start(run)
    assert run.join(SECONDS) and run.area.state == "failed"
    return run


@pytest.mark.parametrize("problem", [SourceError("no more"), ZeroDivisionError("oh")])
def test_a_query_without_a_name_that_fails_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    runs, discarding = Runs(), Discarding()
    run = failing(runs, monkeypatch, discarding, problem)
    assert discarding.asked == 1 and run.left is None
    run.stop()
    assert run.join(SECONDS) and discarding.asked == 1, "there is nothing left to do"


@pytest.mark.parametrize("way", ["stop", "replace", "close"])
def test_what_could_not_be_removed_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    runs, discarding = Runs(), Discarding(is_away=True)
    run = failing(runs, monkeypatch, discarding, SourceError("no more"))
    assert run.area.error is not None and str(run.area.error) == "no more"
    assert "p: what it made at its sources is still there: the server is away" in str(runs.status())
    discarding.is_away = False
    match way:
        case "stop":
            assert runs.stop([]) == [run]
        case "replace":
            runs.start(made_of(Steps(), monkeypatch))
        case _:
            runs.close()
    assert run.left is None and discarding.asked == 2
    runs.close()
