"""Files that only their owner reads, whatever the umask says."""

from __future__ import annotations

import os
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
