"""Files that somebody reads are not removed while they do: who removes one never waits, the last reader does it.

One process works on a folder at a time, so what is held is known to this process alone. A pipeline may be closed and
opened again while somebody still reads what it had.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from headwater.tables import lookup
from headwater.tables.state import Run

_LOCK = threading.Lock()
_READERS: Counter[Path] = Counter()
_TO_GO: dict[Path, tuple[int, int]] = {}
"""Files that go with their last reader, and which ones they were: another may have their name by then."""


def hold(paths: Iterable[Path]) -> None:
    """From now on these files stay; each call is undone by one of `let_go`."""
    with _LOCK:
        _READERS.update(paths)


def let_go(paths: Iterable[Path]) -> None:
    """Nobody reads these files on behalf of one call of `hold`."""
    with _LOCK:
        for path in paths:
            _READERS[path] -= 1
            if _READERS[path] == 0:
                del _READERS[path]
                if (known := _TO_GO.pop(path, None)) is not None and known == _identity(path):
                    _remove(path)


def remove(path: Path) -> None:
    """Remove a run, and what was kept beside it: now, or when nobody reads it any more."""
    with _LOCK:
        if path not in _READERS:
            _remove(path)
        elif (known := _identity(path)) is not None:
            _TO_GO[path] = known


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    lookup.forget(Run(path, 0))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns
