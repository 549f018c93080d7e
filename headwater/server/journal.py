"""What happens in the server, as lines of JSON: all of it in one file, and that of each application in one of its own."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_LOG = logging.getLogger("headwater.server")

LARGEST = 10 * 1024 * 1024
"""How large a file grows before it is laid aside, in the place of the one that was laid aside before."""


class Journal:
    """Writes lines; any thread may call."""

    def __init__(self, folder: Path, mask: Callable[[str], str] = lambda text: text) -> None:
        self._folder = folder
        self._mask = mask
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def note(self, event: str, *, application: str = "", id: str = "", **fields: Any) -> None:
        """Write what happened; `id` is that of the application it happened to."""
        said = {"at": _moment(), "event": event} | ({"application": application} if application else {})
        line = json.dumps(masked_in(said | fields, self._mask), ensure_ascii=False)
        with self._lock:
            for name in ("server", id):
                if name:
                    self._try(self._file(name), line)

    def lines(self, id: str, limit: int) -> list[dict[str, Any]]:
        """The last things that happened to an application, the latest last."""
        file = self._file(id)
        with self._lock:
            found: list[str] = []
            for path in (_aside(file), file):
                found += path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [said for line in found[-limit:] if (said := _read(line)) is not None]

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"

    def _try(self, file: Path, line: str) -> None:
        try:
            self._write(file, line)
        except OSError as problem:
            # What happens must not end because it cannot be written down.
            _LOG.warning("%s cannot be written (%s): %s", file, problem.strerror or problem, line)

    def _write(self, file: Path, line: str) -> None:
        if file.exists() and file.stat().st_size > LARGEST:
            file.replace(_aside(file))
        # Made so that only its owner reads it, whatever the umask says.
        opened = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        with os.fdopen(opened, "a", encoding="utf-8") as out:
            out.write(line + "\n")


def masked_in(said: Any, mask: Callable[[str], str]) -> Any:
    """What is said with each of its texts masked. In JSON as a text, a secret such as 1 would be found in its numbers."""
    match said:
        case str():
            return mask(said)
        case Mapping():
            return {name: masked_in(value, mask) for name, value in said.items()}
        case list() | tuple():
            return [masked_in(value, mask) for value in said]
        case None | bool() | int() | float():
            return said
        case _:
            return mask(str(said))


def _read(line: str) -> dict[str, Any] | None:
    """What a line says; None if a full disk, or the end of the process, has cut it."""
    try:
        said: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return said


def _aside(file: Path) -> Path:
    return file.with_suffix(".1.jsonl")


def _moment() -> str:
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
