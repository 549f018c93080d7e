"""Looks for tables that come, and match, and for those that go, while the capture does its work.

Neither is in the server's log. How soon it looks decides only when a table is taken up, not which of its rows are.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Self

import psycopg2

from headwater.errors import HeadwaterError, SourceError
from headwater.sources.base import Report
from headwater.sources.postgres.begin import Begun
from headwater.sources.postgres.changed import TablesChanged
from headwater.sources.postgres.checks import Pair, check_free_slots
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.connect import connect_replication
from headwater.sources.postgres.finding import Opening
from headwater.sources.postgres.matching import matching, stray_error
from headwater.sources.postgres.onlooker import Onlooker
from headwater.sources.postgres.server import create_slot, extend_publication, find_publication
from headwater.sources.postgres.shards import check_entering, shard, unread

LOOK_SECONDS = 2.0

_PATIENCE = "30s"


class Lookout:
    """See the module. `tell` hears what matters, on the thread of the lookout."""

    def __init__(self, config: CaptureConfig, begun: Begun, tell: Callable[[Report], None]) -> None:
        self._config, self._begun, self._tell = config, begun, tell
        self._patterns = [table for table in config.tables if table.is_pattern]
        self._known = {pair.declared.name for pair in begun.pairs if pair.declared.of}
        self._told: set[str] = set()
        self._has_news = False
        self._opening: Opening | None = None
        self._is_handed_over = False
        self._onlooker = Onlooker("lookout", config.address, self._run, patience=_PATIENCE)

    def __enter__(self) -> Self:
        if self._patterns:
            self._onlooker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._onlooker.stop()
        if self._opening is not None and not self._is_handed_over:
            self._opening.close()

    def check(self) -> None:
        """Raise if tables came or went; cheap enough to be asked all the time."""
        self._onlooker.check()
        if self._has_news:
            self._is_handed_over = True
            raise TablesChanged(self._opening)

    def _run(self) -> None:
        while not self._onlooker.pause(LOOK_SECONDS) and not self._has_news:
            try:
                self._has_news = self._look()
            except (psycopg2.Error, HeadwaterError) as error:
                self._onlooker.close()
                said = " ".join(str(error).split())
                self._note(f"whether tables came that match cannot be seen: {said}")

    def _look(self) -> bool:
        """True if there is something to take up, or to let go."""
        cursor = self._onlooker.cursor()
        there: dict[str, CaptureTable] = {}
        for table in self._patterns:
            found = matching(cursor, table.remote_schema, table.remote_table)
            there |= {one.name: one for one in (shard(table, match) for match in found.tables)}
            for stray, root in found.strays:
                error = stray_error(stray, root, None)
                self._note(f"a partition is not read: {error.message}. {error.hint}")
        if not self._known <= there.keys():
            return True
        new = [self._entering(cursor, one) for name, one in there.items() if name not in self._known]
        pairs = [pair for pair in new if pair is not None]
        if pairs:
            self._open(cursor, pairs)
        return bool(pairs) and not self._onlooker.is_stopped

    def _entering(self, cursor: Any, table: CaptureTable) -> Pair | None:
        """A table that came; None if it has to wait."""
        if not self._begun.leaving.is_over and table.shown in {t.shown for t in self._begun.leaving.tables}:
            # The rows of the table whose name it has go first.
            return None
        try:
            check_free_slots(cursor, 1)
            return check_entering(cursor, self._config, table)
        except SourceError as error:
            self._note(unread(table, error))
            return None

    def _open(self, cursor: Any, pairs: Sequence[Pair]) -> None:
        """Publish tables, then find a moment from which they can be read.

        From then on every change of them is published: what was open before has ended at that moment.
        """
        name = self._config.publication
        publication = find_publication(cursor, name)
        missing = [pair.found for pair in pairs if publication is None or not publication.has(pair.found)]
        if missing:
            extend_publication(cursor, name, missing)
        replication = connect_replication(self._config.address)
        slot = f"{self._config.slot[:50]}_{secrets.token_hex(4)}"
        self._note(
            f"{', '.join(pair.declared.shown for pair in pairs)}: read once the transactions open now have ended"
        )
        try:
            position, snapshot = create_slot(replication, slot, temporary=True)
        except BaseException:
            replication.close()
            raise
        names = frozenset(pair.declared.name for pair in pairs)
        self._opening = Opening(replication, position, snapshot, names)
        if self._onlooker.is_stopped:
            # Nobody waits for it any more.
            self._opening.close()

    def _note(self, text: str) -> None:
        """Tell something once."""
        if text not in self._told and not self._onlooker.is_stopped:
            self._told.add(text)
            self._tell(Report("note", text))
