"""Files that only their owner reads, whatever the umask says, and that one process at a time makes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ONLY_OWNER = 0o600


def private_file(path: Path) -> Path:
    """The path of a SQLite file that only its owner reads; it is made if it is missing.

    SQLite gives the files it lays beside it, `-wal` and `-shm`, the same mode.
    """
    # Made so, and not changed after: between the two somebody could open it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, ONLY_OWNER))
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if each.exists():
            each.chmod(ONLY_OWNER)
    return path


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """Wait until no other process opens a SQLite file of the folder.

    Two that bring a new one into WAL mode at once do not wait for each other, whatever their timeout: one of them fails.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
