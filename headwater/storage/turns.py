"""Turns: of all drivers that may work on a folder of shared storage, one does.

A turn is a number that is given once. Who has one renews a lease while he lives; who wants the next one watches whether
the lease is renewed, by his own clock, and takes over when it was not for `LEASE_SECONDS`. Clocks are never compared. A
driver that was only thought dead, because it stood still, finds the numbers it wants to write taken (`storage.book`).
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.errors import StateError
from headwater.storage.chain import create, replace_file

LEASE_SECONDS = 10.0
"""A driver that has not renewed its lease for so long is taken for dead."""

RENEW_SECONDS = 2.0
LOOK_SECONDS = 0.2

FOLDER = "turns"
_TURN, _LEASE = ".json", ".lease"
_OVER = "over"


@dataclass
class Turn:
    """The turn of this process; its lease is renewed until it is ended."""

    folder: Path
    number: int
    _ended: threading.Event = field(default_factory=threading.Event)
    _problem: StateError | None = None
    _thread: threading.Thread | None = None

    def begin(self) -> None:
        """Renew the lease from now on."""
        self._renew(0)
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise if somebody else has taken over."""
        if self._problem is not None:
            raise self._problem

    def end(self) -> None:
        """Let the next one begin at once."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        replace_file(_file(self.folder, self.number, _LEASE), _OVER.encode())

    def _keep(self) -> None:
        count = 0
        while not self._ended.wait(RENEW_SECONDS) and self._problem is None:
            count += 1
            try:
                if (newest := _newest(self.folder)) > self.number:
                    self._problem = _taken(self.folder.parent, self.number, newest)
                    return
                self._renew(count)
            except OSError:
                # Storage that is away for a moment is no reason to stop: nobody else can take over meanwhile.
                continue

    def _renew(self, count: int) -> None:
        replace_file(_file(self.folder, self.number, _LEASE), str(count).encode())


def is_shared(folder: Path) -> bool:
    """True if a driver has worked on a folder as one that is shared."""
    return (folder / FOLDER).exists()


def take_turn(folder: Path, closing: ExitStack, waits: Callable[[str], None]) -> Turn:
    """The next turn on a shared folder; waits for one who may have died, and refuses while somebody else works."""
    turns = folder / FOLDER
    last = _newest(turns) if turns.exists() else 0
    if last:
        _wait_for_end(turns, last, waits)
    number = last + 1
    about = {"host": socket.gethostname(), "pid": os.getpid(), "since": datetime.now(UTC).isoformat()}
    if not create(_file(turns, number, _TURN), json.dumps(about).encode()) or _newest(turns) > number:
        raise _at_work(folder, turns, _newest(turns))
    turn = Turn(turns, number)
    turn.begin()
    closing.callback(turn.end)
    return turn


def _wait_for_end(turns: Path, last: int, waits: Callable[[str], None]) -> None:
    """Return when the last turn is over; raise as soon as it is seen to go on."""
    first = _lease(turns, last)
    deadline, is_told = time.monotonic() + LEASE_SECONDS, False
    while (now := _lease(turns, last)) != _OVER and time.monotonic() < deadline:
        if now != first:
            raise _at_work(turns.parent, turns, last)
        if not is_told:
            waits(f"{_holder(turns, last)} has this state; it is taken over if it has died")
            is_told = True
        time.sleep(LOOK_SECONDS)


def _newest(turns: Path) -> int:
    return max((int(path.stem) for path in turns.glob(f"*{_TURN}")), default=0)


def _lease(turns: Path, number: int) -> str | None:
    try:
        return _file(turns, number, _LEASE).read_text()
    except FileNotFoundError:
        return None


def _file(turns: Path, number: int, suffix: str) -> Path:
    return turns / f"{number:09d}{suffix}"


def _holder(turns: Path, number: int) -> str:
    about: dict[str, Any] = json.loads(_file(turns, number, _TURN).read_bytes())
    return f"the driver on {about['host']} (process {about['pid']}, since {about['since'][:19]}Z)"


def _at_work(folder: Path, turns: Path, number: int) -> StateError:
    return StateError(
        f'another driver works on the state in "{folder}"',
        detail=f"It is {_holder(turns, number)}, and it renews its lease.",
        hint=f"Let it go on, or stop it there. One that has died is taken over {LEASE_SECONDS:g} s later.",
    )


def _taken(folder: Path, mine: int, newest: int) -> StateError:
    return StateError(
        f'another driver has taken over the state in "{folder}"',
        detail=f"It is {_holder(folder / FOLDER, newest)}. This process had turn {mine}, and did not renew its lease in"
        " time.",
        hint="Let the other go on: nothing is lost, and nothing is done twice.",
    )
