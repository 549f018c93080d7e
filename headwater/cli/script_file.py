"""A SQL file as text."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import UsageError

NESTED = 8
"""How deep files may SOURCE each other."""


def sourced(file: Path, depth: int) -> str:
    """The text of a file that is named by SOURCE, in a text that so many others have led to."""
    if depth >= NESTED:
        raise UsageError(f"{file} is one file too deep", hint="Does it SOURCE itself?")
    return read_file(file)


def read_file(file: Path) -> str:
    """The text of a SQL file."""
    hint = "Give the path of a SQL file."
    try:
        return file.read_text(encoding="utf-8")
    except OSError as failed:
        raise UsageError(f"cannot read {file}", detail=f"{failed.strerror}.", hint=hint) from failed
    except UnicodeDecodeError as failed:
        raise UsageError(f"{file} is not UTF-8 text", detail=f"Byte {failed.start}.", hint=hint) from failed
