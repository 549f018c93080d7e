"""What may happen to tables while they are streamed without a word in the log: it is looked at beside the stream.

A table, its schema or the whole publication is taken out of what is published; a table is no longer logged; a partition
goes or comes with rows in it; a value of an enum gets another name. Then the capture begins again, and the checks of a
beginning say what is to be done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from headwater.log.store import LogWriter
from headwater.sources.postgres.catalog import PARTITIONED
from headwater.sources.postgres.changed import TablesChanged
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.labels import labels_of, renamed
from headwater.sources.postgres.membership import members_of, publishes_all, recall_member
from headwater.sources.postgres.partitions import (
    Partitions,
    partition_loss,
    partitions_of,
    recall_partitions,
    remember_partitions,
)


class Guard:
    """See the module. `look` is called on the thread of whoever watches, all else on that of the stream."""

    def __init__(self, log: LogWriter, publication: str, pairs: Sequence[Pair]) -> None:
        """`pairs` are the tables that are streamed, without those that are lost."""
        self._log, self._publication, self._pairs = log, publication, pairs
        self._members = {p.found.oid: recall_member(log, publication, p) for p in pairs}
        self._partitions: dict[str, Partitions] = {
            p.declared.name: recall_partitions(log, p.declared.name) or {}
            for p in pairs
            if p.found.kind == PARTITIONED
        }
        self._labels = {p.found.oid: p.found.labels for p in pairs if p.found.labels}
        self._form: tuple[Any, ...] | None = None
        self._news: deque[tuple[str, Partitions]] = deque()
        self._has_changed = False
        self._there: frozenset[int] = frozenset()

    def look(self, cursor: Any) -> None:
        """Compare with what was there when the stream began."""
        if not self._has_changed:
            self._has_changed = (
                self._is_published_otherwise(cursor)
                or self._has_other_labels(cursor)
                or self._has_lost_rows(cursor)
            )

    def check(self) -> None:
        """Raise if the capture has to begin again; cheap enough to be asked all the time."""
        if self._has_changed:
            raise TablesChanged(None)
        while self._news:
            remember_partitions(self._log, *self._news.popleft())

    def _is_published_otherwise(self, cursor: Any) -> bool:
        form, members = members_of(cursor, self._publication, list(self._members))
        self._there = frozenset(members)
        before, self._form = self._form, form
        # What the first look finds may have changed since the capture began.
        if not publishes_all(form) or (before is not None and form != before):
            return True
        # Of a table that was dropped there is nothing to tell until another one has its name.
        return any(n is None or self._members[oid] not in ("", n) for oid, n in members.items())

    def _has_other_labels(self, cursor: Any) -> bool:
        now = labels_of(cursor, list(self._labels)) if self._labels else {}
        return any(renamed(before, now.get(oid, {})) for oid, before in self._labels.items())

    def _has_lost_rows(self, cursor: Any) -> bool:
        for pair in self._pairs:
            name = pair.declared.name
            if name not in self._partitions or pair.found.oid not in self._there:
                continue
            before, now = self._partitions[name], partitions_of(cursor, pair.found.oid)
            # What one brought with it is looked at when the capture begins again.
            if partition_loss(pair.declared, before, now, lambda _: True) is not None:
                return True
            if {oid: one.file for oid, one in now.items()} != {oid: one.file for oid, one in before.items()}:
                self._partitions[name] = now
                self._news.append((name, now))
        return False
