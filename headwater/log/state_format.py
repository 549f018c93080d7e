"""The number of the form in which a state folder is written; every file of it that is a database notes it.

Whoever opens such a file asks first, and changes nothing of one that it cannot read. What was written before there were
numbers has none and is read as number 1. A change of the form gets the next number, and the way from the one before it
stands where the file is opened.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from headwater.errors import StateError

FORMAT = 1

PATIENCE = 30.0
"""Seconds to wait for somebody who is making the file."""


def check_format(path: Path, *, table: str, what: str) -> None:
    """Refuse a file that another version wrote in a form of its own; it is only read.

    `table` holds the note, as a name and a value; `what` is how a message calls the file.
    """
    found = _noted(path, table)
    if found is None or found == str(FORMAT):
        return
    if found.isdecimal() and int(found) > FORMAT:
        raise StateError(
            f"{what} has format {found} and was written by a newer version",
            detail=f"{path}: this version reads format {FORMAT}. Nothing was changed.",
            hint="Use the newer version that wrote it, or another --state folder.",
        )
    raise StateError(
        f"{what} has format '{found}', which this version does not know",
        detail=f"{path}: this version reads format {FORMAT}. Nothing was changed.",
        hint="Use the version that wrote it, or another --state folder.",
    )


def _noted(path: Path, table: str) -> str | None:
    """The number in a file; None if it has none, or is not made yet."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    # To open it for writing might already change it: what a crash left beside it would be taken in.
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=PATIENCE)) as opened:
        if not opened.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return None
        noted = [value for name, value in opened.execute(f"SELECT * FROM {table}") if name == "format"]
    return str(noted[0]) if noted else None
