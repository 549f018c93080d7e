"""Files that stay after a power cut, and waiting for a disk that is full."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds before a full disk is tried again; each further pause is twice as long."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says when there is no room, or no more for this user."""

_HINTS = {
    errno.EACCES: "Give this user the right to write there, or name another path.",
    errno.EPERM: "Give this user the right to write there, or name another path.",
    errno.EROFS: "The disk can only be read: name a path on another one.",
    errno.ENOTDIR: "A part of the path is a file: name another path.",
    errno.EEXIST: "A part of the path is a file: name another path.",
    errno.ENAMETOOLONG: "Shorten the name; the note beside the file has a longer one.",
}


def synced(file: BinaryIO) -> None:
    """Bring all that was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put(path: Path, fill: Callable[[BinaryIO], None], *, beside: Path) -> None:
    """Write a file `beside` and give it its name: whoever looks sees the old one or the new one, each whole."""
    with beside.open("wb") as file:
        fill(file)
        synced(file)
    beside.replace(path)
    sync_folder(path.parent)


class Patience:
    """Does something until there is room for it; `waits` hears why that takes long, and None when it goes on."""

    def __init__(self, shown: str, waits: Callable[[str | None], None]) -> None:
        self._shown, self._waits = shown, waits

    def until_room(self, action: Callable[[], None]) -> None:
        """Call `action` again and again while the disk is full; it has to begin anew each time."""
        pause = FIRST_PAUSE
        while True:
            try:
                action()
                break
            except OSError as problem:
                if problem.errno not in FULL:
                    raise
                if pause == FIRST_PAUSE:
                    self._waits(f"there is no room for {self._shown}: {problem.strerror}")
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)
        if pause != FIRST_PAUSE:
            self._waits(None)


def refused(problem: OSError, table: SinkTable, shown: str) -> SinkError:
    """What the system says of a path, as an error of the table."""
    full = "Make room on the disk." if problem.errno in FULL else "See that the path can be written."
    return SinkError(
        f"'{shown}' of sink table '{table.name}' cannot be written",
        detail=f"{problem.strerror or type(problem).__name__}.",
        hint=_HINTS.get(problem.errno or 0, full),
        place=table.place,
    )
