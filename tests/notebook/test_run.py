"""A pipeline in its thread: what is asked of it, and how it ends.

Oracle: what a pipeline of a few lines was told to do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from headwater.errors import SourceError
from headwater.notebook.area import Area, Look
from headwater.notebook.run import Run
from headwater.runtime.pipeline import Pipeline

SECONDS = 30.0


class Steps:
    """As much of a pipeline as a run asks; each step does what it is told."""

    def __init__(self, step: Callable[[], None] = lambda: None, *, is_away: bool = False) -> None:
        self._step = step
        self.is_away = is_away
        self.is_closed = False

    def step(self, wait: float) -> None:
        self._step()
        threading.Event().wait(0.001)

    def now(self) -> dict[str, int]:
        if self.is_away:
            raise SourceError("the server is away")
        return {}

    def has_reached(self, target: Any) -> bool:
        return True

    def close(self) -> None:
        self.is_closed = True


def run_of(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(Area, "open", lambda self, pipeline: None)
    area = Area("In [1] p", Look(20, 0.5), lambda picture: None)
    run = Run("p", "In [1]", "SELECT", area, lambda _: cast(Pipeline, steps), once=False, is_kept=True)
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
        printed.append(str(given.exc_value))
        told.set()

    monkeypatch.setattr(threading, "excepthook", hear)
    steps = Steps(fail)
    run = run_of(steps, monkeypatch)
    assert run.join(SECONDS) and steps.is_closed, "its folder is free again"
    assert run.area.state == "failed" and run.area.error is not None
    assert run.area.error.detail == "ZeroDivisionError: oh"
    assert told.wait(SECONDS) and printed == ["oh"]
