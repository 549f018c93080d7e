"""One process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.errors import ServiceError


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process is in this block; a process that dies leaves it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a")
    except OSError as broken:
        raise ServiceError(
            f"folder {path.parent} cannot be written",
            detail=f"{broken.strerror}.",
            hint="Choose a folder you may write to; XDG_CACHE_HOME is where packages are kept.",
        ) from broken
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
