"""The rows of a file after a batch, from the file and the changes, in pieces that fit in memory.

Rows that go are looked for in the old file, as many at a time as fit; rows that come are added behind the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.filesystem.disk import synced
from headwater.sinks.filesystem.layout import filling
from headwater.sinks.filesystem.rows import fields_of, of_sign
from headwater.sinks.filesystem.target import Target
from headwater.sinks.keyed import pieces

GONE_ROWS = 500_000
"""So many different rows that go are looked for at once; more take the file several times through."""

GONE_BYTES = 256 * 1024 * 1024
"""The texts of the rows that are looked for at once are at most so long."""

Keep = Callable[[pa.RecordBatch], pa.RecordBatch]


class Rewrite:
    """One file, read and written anew; `beside` gives the paths of files that are needed on the way."""

    def __init__(self, target: Target, old: Path, *, beside: Callable[[str], Path]) -> None:
        self._target, self._layout = target, target.layout
        self._source, self._beside = old, beside
        self._passes = 0

    def write(self, changes: ChangeSet, new: Path) -> None:
        """Write the rows after the changes to a new file."""
        table = self._target.table
        if table.schema.key and table.append_only:
            self._last_of_each(changes, new)
        else:
            self._bag(changes, new)
        for what in ("pass-0", "pass-1", "added"):
            self._beside(what).unlink(missing_ok=True)

    def _bag(self, changes: ChangeSet, new: Path) -> None:
        """Each row as often as it came less as often as it went."""
        left: Counter[Hashable] = Counter()
        gone: Counter[Hashable] = Counter()
        for piece in self._gone(changes):
            if gone:
                self._pass(self._without(gone))
                left += gone
            gone = piece
        rows = self._read(self._without(gone))
        self._fill(new, _chained(rows, lambda: self._come(changes, left + gone)))

    def _come(self, changes: ChangeSet, left: Counter[Hashable]) -> Iterator[pa.RecordBatch]:
        """The new rows, less those that come and go within the batch."""
        keep = self._without(left)
        for fields in of_sign(self._target, changes, come=True):
            yield keep(self._layout.encode(fields))
        missing = next((row for row, count in left.items() if count > 0), None)
        if missing is not None:
            raise self._absent(missing)

    def _last_of_each(self, changes: ChangeSet, new: Path) -> None:
        """The last row of each key, where rows only come."""
        added = self._beside("added")
        self._fill(added, self._replacing(changes))
        old = self._read(lambda rows: rows)
        self._fill(new, _chained(old, lambda: self._layout.read(added)))

    def _replacing(self, changes: ChangeSet) -> Iterator[pa.RecordBatch]:
        for piece in pieces(self._target.table, changes):
            keys: set[Hashable] = set()
            for rows, _ in piece.parts():
                come = self._layout.encode(fields_of(self._target, rows))
                keys.update(self._layout.keys(come))
                yield come
            self._pass(partial(self._other_keys, keys))

    def _other_keys(self, keys: set[Hashable], rows: pa.RecordBatch) -> pa.RecordBatch:
        return _filtered(rows, [key not in keys for key in self._layout.keys(rows)])

    def _gone(self, changes: ChangeSet) -> Iterator[Counter[Hashable]]:
        """The rows that go and how often, as many as fit in memory."""
        found: Counter[Hashable] = Counter()
        size = 0
        for fields in of_sign(self._target, changes, come=False):
            rows = self._layout.rows(self._layout.encode(fields))
            found.update(rows)
            size += sum(len(row) for row in rows if isinstance(row, bytes | str))
            if len(found) >= GONE_ROWS or size >= GONE_BYTES:
                yield found
                found, size = Counter(), 0
        if found:
            yield found

    def _without(self, gone: Counter[Hashable]) -> Keep:
        """Leaves out rows that go, and counts down how many of each are still to be found."""

        def keep(rows: pa.RecordBatch) -> pa.RecordBatch:
            ids = self._layout.rows(rows) if gone else []
            if gone.keys().isdisjoint(ids):
                return rows
            stays = []
            for row in ids:
                goes = gone.get(row, 0) > 0
                if goes:
                    gone[row] -= 1
                stays.append(not goes)
            return _filtered(rows, stays)

        return keep

    def _pass(self, keep: Keep) -> None:
        """Take all rows once through, into a file from which the next ones are read."""
        path = self._beside(f"pass-{self._passes % 2}")
        self._fill(path, self._read(keep))
        self._source = path
        self._passes += 1

    def _read(self, keep: Keep) -> Iterator[pa.RecordBatch]:
        for rows in self._layout.read(self._source):
            yield keep(rows)

    def _fill(self, path: Path, found: Iterator[pa.RecordBatch]) -> None:
        with path.open("wb") as file:
            with filling(self._layout, file) as writer:
                for rows in found:
                    writer.write(rows)
            synced(file)

    def _absent(self, row: Hashable) -> SinkError:
        text = row.decode(errors="replace") if isinstance(row, bytes) else str(row)
        return SinkError(
            f"a row is taken from sink table '{self._target.table.name}' that is not in '{self._target.shown}'",
            detail=f"{text[:200]}.",
            hint="The file comes from another state of the pipeline: remove it and its note, and start the "
            "pipeline anew, headwater drop; or name another path.",
            place=self._target.table.place,
        )


def _chained(
    first: Iterator[pa.RecordBatch], second: Callable[[], Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """One after the other; the second begins when the first has come to its end."""
    yield from first
    yield from second()


def _filtered(rows: pa.RecordBatch, stays: list[bool]) -> pa.RecordBatch:
    return rows.filter(pa.array(stays, pa.bool_()))
