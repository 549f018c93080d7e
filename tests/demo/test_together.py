"""Services that start and stop together. Oracle: the order in which they say that they did."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from headwater.demo.together import News, Part, run_together
from headwater.errors import ServiceError

SECONDS = 60.0


class Told:
    """A service that notes what it is told, and may fail or take long."""

    place = "here"

    def __init__(self, name: str, notes: list[str], *, act: Callable[[], None] = lambda: None) -> None:
        self._name, self._notes, self._act = name, notes, act
        self._stopped = threading.Event()

    def start(self) -> None:
        self._notes.append(f"{self._name} starts")
        self._act()
        self._notes.append(f"{self._name} runs")

    def stop(self) -> None:
        if not self._stopped.is_set():
            self._notes.append(f"{self._name} stops")
        self._stopped.set()

    def until_stopped(self) -> None:
        """Start for as long as nobody stops it, as a server does whose process is awaited."""
        assert self._stopped.wait(SECONDS)
        raise ServiceError("it did not start")


def fail() -> None:
    raise ServiceError("no such luck")


def test_a_part_starts_after_those_it_needs_and_stops_before_them() -> None:
    notes: list[str] = []
    news: list[News] = []
    parts = [
        Part("worker", Told("worker", notes), needs=("base", "log")),
        Part("base", Told("base", notes)),
        Part("log", Told("log", notes)),
    ]
    with run_together(parts, news.append, closing=lambda: notes.append("closing")):
        assert notes[-2:] == ["worker starts", "worker runs"]
        assert sorted(notes[:4]) == ["base runs", "base starts", "log runs", "log starts"]
        assert [one.part for one in news if one.is_over][-1] == "worker"
    assert notes[6:8] == ["closing", "worker stops"]
    assert sorted(notes[8:]) == ["base stops", "log stops"]


def test_a_part_that_fails_stops_the_others_and_who_needs_it_never_starts() -> None:
    notes: list[str] = []
    slow = Told("slow", notes)
    slow._act = slow.until_stopped
    parts = [
        Part("base", Told("base", notes, act=fail)),
        Part("slow", slow),
        Part("worker", Told("worker", notes), needs=("base",)),
    ]
    with (
        pytest.raises(ServiceError, match="no such luck"),
        run_together(parts, lambda news: None, closing=lambda: None),
    ):
        pytest.fail("the block runs although a part failed")
    assert "slow stops" in notes and "worker starts" not in notes


def test_what_is_no_error_of_ours_is_told_too() -> None:
    def break_down() -> None:
        raise OSError("no room")

    with (
        pytest.raises(OSError, match="no room"),
        run_together(
            [Part("base", Told("base", [], act=break_down))], lambda news: None, closing=lambda: None
        ),
    ):
        pytest.fail("the block runs although a part failed")


def test_an_interrupted_start_is_stopped() -> None:
    notes: list[str] = []
    slow = Told("slow", notes)
    slow._act = slow.until_stopped

    def interrupt(news: News) -> None:
        if news.part == "quick" and news.is_over:
            raise KeyboardInterrupt

    parts = [Part("slow", slow), Part("quick", Told("quick", notes))]
    with (
        pytest.raises(KeyboardInterrupt),
        run_together(parts, interrupt, closing=lambda: notes.append("closing")),
    ):
        pytest.fail("the block runs although the start was interrupted")
    assert notes.index("closing") < notes.index("slow stops")
    assert "slow runs" not in notes
