"""The log for a reader who keeps his own position: which files lie between two places, and what may be forgotten.

    log = LogRanges(folder)
    log.files(0, log.end)       # all there is
    log.trim(log.end)           # all of it is done

Between two ends the files are always the same ones, until they are trimmed: a range can be read again.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import StateError
from headwater.log.manifest import Manifest
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.storage.place import files_of

NAME = "name"
ANEW = "Begin anew, with an empty folder for the log and without the checkpoint, or bring back the one that is missing."


@dataclass(frozen=True)
class Piece:
    """Files that are read one after the other, and how many events they hold."""

    files: tuple[Path, ...]
    rows: int


class LogRanges:
    """The log of one source; see the module."""

    def __init__(self, folder: Path) -> None:
        self._log = LogReader(folder)
        self._folder = files_of(folder)

    @property
    def manifest(self) -> Manifest:
        """What is remembered of the log."""
        return self._log.manifest

    @property
    def name(self) -> str:
        """What tells this log from every other, given when it is first asked for."""
        known = self.manifest.recall(NAME)
        if known is None:
            known = uuid.uuid4().hex[:12]
            self.manifest.remember(NAME, known)
        return known

    @property
    def notation(self) -> str:
        """How positions are written."""
        return self.manifest.recall("notation") or "number"

    @property
    def trimmed(self) -> int:
        """Up to where the log was forgotten; 0 if it has its beginning."""
        return self.manifest.number("trimmed") or 0

    @property
    def end(self) -> int:
        """Where the last events end, kept or forgotten; 0 before there are any. It never goes back.

        Where the source only said how far it is, there is nothing to read: such places are no ends. What was appended
        since something of a table was lost is not for one who wants all of it.
        """
        losing = min((position for position, _ in self.manifest.losses()), default=None)
        return max(self.trimmed, self.manifest.last_with_rows(losing) or 0)

    def check_whole(self, after: int) -> None:
        """Raise what was lost, to one who has read all before it."""
        losses = self.manifest.losses()
        if losses and after >= self.end:
            raise losses[0][1].error()

    @property
    def last(self) -> int:
        """Up to where the log is durable, events or not."""
        return self.manifest.number("last") or 0

    def pieces(self, after: int, upto: int, *, rows: int) -> list[Piece]:
        """All events between two ends, in pieces of about so many."""
        if after < self.trimmed:
            raise StateError(
                "the log no longer has what is asked for",
                detail=f"It begins after {self.shown(self.trimmed)}, asked for is what follows {self.shown(after)}.",
                hint=ANEW,
            )
        if upto > self.last:
            raise StateError(
                "the log ends before what is asked for",
                detail=f"It ends at {self.shown(self.last)}, asked for is all up to {self.shown(upto)}.",
                hint=ANEW,
            )
        found: list[list[tuple[Path, int]]] = [[]]
        for segment in self.manifest.segments_between(after, upto):
            if sum(count for _, count in found[-1]) + segment.rows > rows and found[-1]:
                found.append([])
            found[-1].append((self._folder / segment.file, segment.rows))
        return [_piece(files) for files in found if files]

    def trim(self, position: int) -> None:
        """Forget everything up to a position."""
        self._log.trim(Position(position))

    def tidy(self) -> None:
        """Forget places at which there is nothing to read."""
        self.manifest.drop_empty()

    def shown(self, position: int) -> str:
        """A position as the source writes it."""
        return str(Position(position, self.notation))

    def close(self) -> None:
        """Free the files."""
        self._log.close()


def _piece(files: Sequence[tuple[Path, int]]) -> Piece:
    return Piece(tuple(path for path, _ in files), sum(count for _, count in files))
