"""A SQL file as text."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import UsageError


def read_file(file: Path) -> str:
    """The text of a SQL file."""
    hint = "Give the path of a SQL file."
    try:
        return file.read_text(encoding="utf-8")
    except OSError as failed:
        raise UsageError(f"cannot read {file}", detail=f"{failed.strerror}.", hint=hint) from failed
    except UnicodeDecodeError as failed:
        raise UsageError(f"{file} is not UTF-8 text", detail=f"Byte {failed.start}.", hint=hint) from failed
