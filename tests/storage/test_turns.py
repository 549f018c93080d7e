"""Turns: of several drivers one works, and one that has died is followed by the next.

Oracle: who holds the folder, as the test let them begin and end.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from headwater.errors import StateError
from headwater.storage import turns
from headwater.storage.turns import Turn, is_shared, take_turn


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(turns, "LOOK_SECONDS", 0.02)


def silent(_: str) -> None:
    """Nobody listens."""


def test_a_second_driver_is_refused_and_told_who_works_and_begins_when_that_one_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody who lives is taken for dead, however slow the machine is, and nobody waits for so long.
    monkeypatch.setattr(turns, "LEASE_SECONDS", 60.0)
    assert not is_shared(tmp_path)
    with ExitStack() as first:
        assert take_turn(tmp_path, first, silent).number == 1
        assert is_shared(tmp_path)
        with pytest.raises(StateError) as told, ExitStack() as second:
            take_turn(tmp_path, second, silent)
        assert str(tmp_path) in told.value.message
        assert socket.gethostname() in told.value.detail and str(os.getpid()) in told.value.detail
    begin = time.monotonic()
    with ExitStack() as second:
        assert take_turn(tmp_path, second, silent).number == 2
    assert time.monotonic() - begin < turns.LEASE_SECONDS


def test_a_driver_that_has_died_is_taken_over_after_its_lease_and_learns_of_it_if_it_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "LEASE_SECONDS", 1.5)
    # As one who stands still: he has a turn, and does not renew its lease.
    with ExitStack() as first:
        stopped = take_turn(tmp_path, first, silent)
        stopped._ended.set()
        assert stopped._thread is not None
        stopped._thread.join()
        heard: list[str] = []
        begin = time.monotonic()
        with ExitStack() as second:
            taken = take_turn(tmp_path, second, heard.append)
            assert taken.number == 2
            assert time.monotonic() - begin >= turns.LEASE_SECONDS
            assert len(heard) == 1 and socket.gethostname() in heard[0]
            awake = Turn(stopped.folder, stopped.number)
            awake.begin()
            deadline = time.monotonic() + 60
            while awake._problem is None and time.monotonic() < deadline:
                time.sleep(0.02)
            with pytest.raises(StateError) as told:
                awake.check()
            assert "has taken over" in told.value.message
            taken.check()
