"""What was typed in earlier sessions: a file in the user's data folder, in which no secret stands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from headwater.sql.secrets import masked


def history_file(environ: Mapping[str, str]) -> Path:
    """Where history is kept."""
    base = environ.get("XDG_DATA_HOME") or Path(environ.get("HOME") or Path.home()) / ".local" / "share"
    return Path(base) / "headwater" / "sql_history"


class MaskedHistory(FileHistory):
    """History in a file that only its owner reads, with `***` for every secret."""

    def append_string(self, string: str) -> None:
        """Remember it without its secrets, here and in the file."""
        super().append_string(masked(string))


def open_history(environ: Mapping[str, str] = os.environ) -> History:
    """The history in the file; where none can be kept, one that ends with the session."""
    file = history_file(environ)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return MaskedHistory(str(file))
