"""The note beside what is written: which batch of which pipeline it holds, and how long it was then.

    {"pipeline": "shop", "batch_id": 12, "length": 4711, "written": {"format": "csv", ...}}

The note of `orders.csv` is `.orders.csv.headwater`, that of a folder is `_headwater.json` in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from headwater.errors import SinkError
from headwater.options import Secret
from headwater.sinks.filesystem.disk import put
from headwater.sinks.filesystem.target import Target


@dataclass(frozen=True)
class Coming:
    """A batch whose file is whole and about to get its name."""

    batch_id: int
    length: int


@dataclass(frozen=True)
class Note:
    """What is known of a path; a `length` of None says that the file is not made yet."""

    pipeline: str
    written: Mapping[str, Any]
    batch_id: int | None = None
    length: int | None = None
    coming: Coming | None = None


class Notes:
    """The note of one target, on the disk and as this process knows it."""

    def __init__(self, target: Target, pipeline: str) -> None:
        self.target, self.pipeline = target, pipeline
        path = target.path
        self.path = (
            path / "_headwater.json" if target.is_folder else path.with_name(f".{path.name}.headwater")
        )
        self.shown = "***" if isinstance(target.table.options.path, Secret) else self.path.name
        self.now = Note(pipeline, target.signature)

    @property
    def beside(self) -> Path:
        """Where a note is written before it gets its name."""
        return self.path.with_name(f"{self.path.name}.tmp")

    def take_up(self) -> bool:
        """Read what an earlier process left; False if there is nothing."""
        self.beside.unlink(missing_ok=True)
        found = self._read()
        if found is None:
            return False
        if found.pipeline != self.pipeline:
            raise self._error(
                f"'{self.target.shown}' is written by another pipeline",
                f'It is "{found.pipeline}", says {self.shown}; this one is "{self.pipeline}".',
                "Name another path: one file has one writer.",
            )
        wanted = json.loads(json.dumps(self.target.signature))
        different = [name for name in wanted if found.written.get(name) != wanted[name]]
        if different:
            name = different[0]
            raise self._error(
                f"'{self.target.shown}' was begun with other {_WORDS.get(name, name)}",
                f"It has {_said(found.written.get(name))}, and the table asks for {_said(wanted[name])}.",
                "Name another path, or change the table back.",
            )
        self.now = found
        return True

    def put(self, **changes: Any) -> None:
        """Replace the note as a whole."""
        note = replace(self.now, **changes)
        text = json.dumps({key: value for key, value in asdict(note).items() if value is not None})
        put(self.path, lambda file: _fill(file, text), beside=self.beside)
        self.now = note

    def check_own(self) -> None:
        """Raise if somebody else changed or removed the note since we wrote it."""
        if self._read() == self.now:
            return
        raise self._error(
            f"another process writes '{self.target.shown}', or its note was changed",
            f"{self.shown} is not as this process left it.",
            "Stop the other process. If the note was removed, bring it back.",
        )

    def _read(self) -> Note | None:
        try:
            said = json.loads(self.path.read_text())
            coming = said.pop("coming", None)
            return Note(**said, coming=Coming(**coming) if coming else None)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError) as problem:
            raise self._error(
                f"the note of '{self.target.shown}' cannot be read",
                f"{self.shown}: {problem}.",
                "Bring it back, or name another path.",
            ) from problem

    def _error(self, message: str, detail: str, hint: str) -> SinkError:
        return SinkError(message, detail=detail, hint=hint, place=self.target.table.place)


_WORDS = {"kind": "place", "options": "options of its format", "header": "first line"}


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(f"{name} {kind}" for name, kind in value)
    return str(value)


def _fill(file: Any, text: str) -> None:
    file.write(text.encode())
