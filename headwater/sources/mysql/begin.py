"""How a capture begins: checks first, then the first rows, or the way back from a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwater.errors import SourceError
from headwater.log.manifest import LoggedTable
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.captured.continuity import check_log
from headwater.sources.mysql.births import birth_at
from headwater.sources.mysql.catalog import ServerTable, find_tables
from headwater.sources.mysql.checks import Pair, check_server, check_table, doubt_about
from headwater.sources.mysql.config import CaptureConfig, CaptureTable
from headwater.sources.mysql.definitions import Definitions, Name
from headwater.sources.mysql.options import EARLIEST, INITIAL, SNAPSHOT, SPECIFIC, TIMESTAMP
from headwater.sources.mysql.places import FIRST, Gtids, Place
from headwater.sources.mysql.resume import ANEW, BORN, COLUMNS, PLACE, SEEN, SERVER, SHIFT, From, going_on
from headwater.sources.mysql.server import ServerFacts, end_of_log, files_of, gtids_at, zone_of
from headwater.sources.mysql.snapshot import Progress, Snapshot


@dataclass(frozen=True)
class Begun:
    """Where the stream goes on, and what it has to know."""

    start: From
    zones: dict[str, str]


@dataclass
class Beginning:
    """One begin; the parts of it share what they found."""

    config: CaptureConfig
    log: LogWriter
    facts: ServerFacts
    cursor: Any
    progress: Progress

    def run(self, definitions: Definitions) -> Begun:
        """Bring the log to where the stream can go on."""
        if not self.config.again:
            check_log(self.log, self.config.after, notation="binlog", anew=ANEW)
        if self.config.startup != SNAPSHOT:
            check_server(self.cursor)
        pairs = self._find()
        new = self._new(pairs)
        start = None if self._is_over else self._going_on()
        if new:
            begun = self._take_up(new, shift=start.shift if start else 0, definitions=definitions)
            start = start or begun
        # A begin from the past that was interrupted before the first append begins as it did.
        start = start or self._start()
        if start.place is not None:
            # Of another server only the transactions are known; it is ours once a place of it is kept.
            self.log.manifest.remember(SERVER, self.facts.uuid)
        self.log.manifest.remember(SHIFT, str(start.shift))
        self._drop_removed()
        return Begun(start, {pair.declared.name: pair.zone for pair in pairs})

    def _going_on(self) -> From | None:
        return going_on(self.log, self.cursor, self.facts, birth=self._birth)

    def _birth(self, file: str) -> str:
        """When a file of the log was begun; without a stream nobody has to know."""
        return "" if self._is_over else birth_at(self.config, file, maria=self.facts.is_maria)

    def _find(self) -> tuple[Pair, ...]:
        pairs = []
        zone = zone_of(self.cursor)
        doubt = doubt_about(self.cursor, zone)
        for table in self.config.tables:
            for found in find_tables(self.cursor, table.database, table.table, place=table.place):
                # A zone that is given is taken as it is: times may be of another clock than the server's.
                pairs.append(Pair(table, found, table.zone or zone, "" if table.zone else doubt))
                check_table(pairs[-1])
        return tuple(pairs)

    def _new(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """The tables whose first rows are not in the log as they are declared now, or are wanted anew."""
        known, after = self.log.manifest.tables(), self.config.after

        def is_new(table: CaptureTable) -> bool:
            logged = known.get(table.name)
            return (
                logged is None
                or logged.schema.columns != table.schema.columns
                or json.loads(logged.origin) != _origin(table)
                or (table.anew and after is not None and (logged.snapshot or 0) <= after)
            )

        return tuple(pair for pair in pairs if is_new(pair.declared))

    def _take_up(self, new: Sequence[Pair], *, shift: int, definitions: Definitions) -> From:
        """Enter tables that are new into the log, with their first rows where these are wanted."""
        copied = [pair for pair in new if pair.declared.startup in (INITIAL, SNAPSHOT)]
        if self.config.startup in (EARLIEST, SPECIFIC, TIMESTAMP):
            return self._from_the_past(new, definitions)
        self.progress(Report("snapshot", "the moment in which the first rows begin"))
        tables = {(pair.found.schema, pair.found.name): pair.found for pair in new}
        moment = Snapshot(self.config.address, self.facts, [*tables.values()] if copied else [])
        try:
            position = max(moment.place.value(shift), (self.log.last or 0) + 1 if self._is_over else 0)
            seen = gtids_at(self.cursor, self.facts, moment.place, moment.executed)
            born = self._birth(moment.place.file)
            segments = {
                (pair.declared.name, pair.found.shown): moment.copy(
                    pair, self.log, position=position, progress=self.progress
                )
                for pair in copied
            }
        finally:
            moment.close()
        definitions.take(tables, position)
        facts = {
            PLACE: f"{moment.place.file}:{moment.place.at}",
            BORN: born,
            SEEN: str(seen),
            COLUMNS: definitions.to_text(),
        }
        if self.log.manifest.recall(PLACE) is None:
            # Before the tables: whoever finds these knows where to go on.
            for key, value in {SERVER: self.facts.uuid, SHIFT: str(shift), **facts}.items():
                self.log.manifest.remember(key, value)
        by_table: dict[str, CaptureTable] = {pair.declared.name: pair.declared for pair in new}
        for name, table in by_table.items():
            rows = [part for (owner, _), parts in segments.items() for part in parts if owner == name]
            self.log.put_snapshot(_logged(table, position), rows)
        self._enter(position, facts)
        return From(moment.place, seen, shift)

    @property
    def _is_over(self) -> bool:
        """True if no stream follows: then each read of the tables stands behind the one before."""
        return self.config.startup == SNAPSHOT

    def _enter(self, position: int, facts: dict[str, str]) -> None:
        """Make first rows readable at once if no change of another table stands before them."""
        alone = all(table.snapshot == position for table in self.log.manifest.tables().values())
        if self._is_over or (self.log.last is None and alone):
            self.log.append([], first=position, last=position, committed_at=None, facts=facts)

    def _from_the_past(self, new: Sequence[Pair], definitions: Definitions) -> From:
        """Begin at a place of the log that lies behind us."""
        if self.log.last is not None:
            raise SourceError(
                f"a table cannot join with 'scan.startup.mode' = '{self.config.startup}'",
                detail="The tables of a server share one reader, which has gone on since.",
                hint="Let it join with 'initial' or 'latest-offset'.",
                place=new[0].declared.place,
            )
        start = self._start()
        end, _ = end_of_log(self.cursor)
        for table in {pair.declared.name: pair.declared for pair in new}.values():
            self.log.put_snapshot(_logged(table, None), [])
        tables: dict[Name, ServerTable] = {(p.found.schema, p.found.name): p.found for p in new}
        definitions.take(tables, end.value(0))
        return start

    def _start(self) -> From:
        files, wanted = files_of(self.cursor), self.config.start
        first = Place(next(iter(files)), FIRST)
        if self.config.startup == SPECIFIC and wanted.gtids:
            return From(None, Gtids(wanted.gtids, maria=self.facts.is_maria))
        if self.config.startup == SPECIFIC:
            if wanted.file not in files:
                raise SourceError(
                    f"the server has no file '{wanted.file}' in its binary log",
                    detail=f"It has {', '.join(files)}.",
                    hint="Set 'scan.startup.specific-offset.file' to one of these.",
                )
            first = Place(wanted.file, wanted.at)
        return From(first, gtids_at(self.cursor, self.facts, first, ""))

    def _drop_removed(self) -> None:
        """Forget tables that are no longer declared: if they come back, it is with new first rows."""
        declared = {table.name for table in self.config.tables}
        for name in [name for name in self.log.manifest.tables() if name not in declared]:
            self.log.forget(name)


def _origin(table: CaptureTable) -> list[str]:
    return [table.database, table.table, table.zone]


def _logged(table: CaptureTable, position: int | None) -> LoggedTable:
    return LoggedTable(table.name, table.schema, json.dumps(_origin(table)), position)
