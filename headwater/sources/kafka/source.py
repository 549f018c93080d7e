"""The source over topics of one cluster.

Its position counts messages; what a position means in each partition stands in the ledger, written before the
messages are delivered. So a batch that was interrupted is read again from the very same spans.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaException

from headwater.errors import HeadwaterError, SourceError
from headwater.kafka import clients
from headwater.kafka.problems import is_away, is_unknown_topic, problem_as
from headwater.kafka.properties import java_config
from headwater.log.events import SMALL_ROWS, Delivery, Messages
from headwater.log.positions import Position
from headwater.options import revealed
from headwater.sources.base import Report, SourceContext, SourceTable, is_back, waits
from headwater.sources.kafka import awaited, settling, topics
from headwater.sources.kafka.again import read_again
from headwater.sources.kafka.asking import Asking
from headwater.sources.kafka.ids import check_same, topics_of
from headwater.sources.kafka.ledger import Entry, Ledger, Vector, between, count, covers
from headwater.sources.kafka.reader import Reader, ends_of

EPOCH = 40
"""The bits of a position that count messages; above them stands how many goals were reached."""

GOAL = "goal"
"""The name under which the ledger keeps what has to be read before the tables are whole."""

OLD = "old"
"""The name under which it keeps where topics ended when their transactions were first told."""

ISOLATION = "read_committed"


class KafkaSource:
    """Reads the topics of some tables; see the module."""

    def __init__(self, tables: Sequence[SourceTable], context: SourceContext) -> None:
        self._tables = {table.name: replace(table, options=revealed(table.options)) for table in tables}
        self._context = context
        self._reader = Reader({})
        self._at: int | None = None
        """The position after which the reader holds everything; None if it has to seek."""
        self._goal: Vector | None = None
        self._trouble: str | None = None
        self._look_again = 0.0
        self._lacks_ends = False
        self._awaited = awaited.AwaitedEnds()
        self._asking = Asking()

    def start(self, after: Position | None) -> Position | None:
        """Find the topics, and the place of each partition; a table that joins begins as its options say."""
        known = topics.known_topics(next(iter(self._tables.values())))
        self._ledger = Ledger(self._context.folder)
        found = settling.find(self._tables, known, read=self._ledger.topics())
        try:
            self._reader = self._reading(found, settling.bounds(found, self._ledger, self._asking, after))
            is_joined = settling.settle(found, self._ledger, self._asking, after)
            if is_joined:
                awaited.wait_for_snapshots(found, self._asking, self._context.report)
            self._reader.old = self._old(found, self._last().vector)
        except KafkaException as problem:
            raise self._refusal(problem) from None
        self._lacks_ends = found.lacks_ends
        for note in topics.notes(found.servers, self._tables, chosen=found.chosen, known=found.known):
            self._context.report(Report("note", note))
        if is_joined:
            whole = self.now()
            self._ledger.keep(GOAL, self._goal)
            return whole
        self._goal = self._ledger.kept(GOAL)
        return self._after_goal() if self._goal is not None else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """What comes after a position; what was delivered after it before comes again as it was."""
        base = self._entry(after)
        known = self._ledger.after(base.position)
        if upto is not None:
            again = [entry for entry in known if entry.position <= upto.value]
            is_whole = bool(again) and again[-1].position == upto.value
            return self._delivery(*read_again(again, self._tables)) if is_whole else None
        if known:
            return self._delivery(*read_again(known[:1], self._tables))
        base = self._discovered(base)
        if self._at != base.position:
            self._reader.seek(base.vector)
            self._at = base.position
        self._reader.fill(limit, wait, is_ready=lambda: self._next(base) is not None)
        self._tell_trouble()
        large = self._large(base, limit)
        entry = large or self._next(base)
        if entry is None:
            return Delivery(Position(base.position, "messages"), {}) if after is None else None
        if not self._is_same(entry):
            return None
        if large is not None:
            self._at = None
            return self._delivered(large, {})
        rows = self._reader.take(entry.spans)
        if self._lacks_ends and self._awaited.hold(rows):
            self._at, self._look_again = None, time.monotonic()
            return None
        self._at = entry.position
        return self._delivered(entry, rows)

    def now(self) -> Position:
        """The first position after everything that is in the topics by now."""
        try:
            self._goal = self._ends(self._last().vector)
        except KafkaException as problem:
            raise self._refusal(problem) from None
        return self._after_goal()

    def commit(self, position: Position) -> None:
        """Forget earlier positions, and tell the consumer group, where there is one, how far we are."""
        entry = self._ledger.find(position.value)
        self._ledger.forget_before(position.value)
        for name, places in entry.vector.items() if entry is not None else ():
            table = self._tables.get(name)
            if table is not None and "group.id" in table.options.properties:
                self._reader.commit(name, places)

    def close(self) -> None:
        """Leave the cluster."""
        self._reader.close()
        self._asking.close()
        if hasattr(self, "_ledger"):
            self._ledger.close()

    def _reading(self, found: settling.Found, bounds: Vector) -> Reader:
        properties = {name: table.options.properties for name, table in self._tables.items()}
        return Reader(properties, found.servers, bounds)

    def _old(self, found: settling.Found, vector: Vector) -> Vector:
        """Where topics ended when their transactions were first told, kept over restarts."""
        kept = self._awaited.none_is_old(found, vector) | (self._ledger.kept(OLD) or {})
        old = settling.old_places(found, self._asking, vector=vector, kept=kept)
        self._ledger.keep(OLD, old)
        return old

    def _last(self) -> Entry:
        last = self._ledger.last()
        assert last is not None
        return last

    def _after_goal(self) -> Position:
        return Position(((self._last().position >> EPOCH) + 1) << EPOCH, "messages")

    def _entry(self, after: Position | None) -> Entry:
        found = self._ledger.first() if after is None else self._ledger.find(after.value)
        assert found is not None, f"position {after} was never delivered"
        return found

    def _next(self, base: Entry) -> Entry | None:
        """The entry for what the reader has; None if that is nothing."""
        vector = self._reader.vector()
        spans = between(base.vector, vector, self._tables)
        epoch = base.position >> EPOCH
        if self._goal is not None and self._reader.reached(self._goal):
            epoch += 1
        elif not spans:
            return None
        return Entry(max(base.position + 1, (epoch << EPOCH) + count(vector)), vector, spans)

    def _large(self, base: Entry, limit: int) -> Entry | None:
        """Where much more waits than travels through here, spans of it for the executors to read."""
        if self._reader.servers or self._reader.scanned < SMALL_ROWS:
            return None
        try:
            ends = self._reader.capped(self._ends(base.vector))
        except KafkaException as problem:
            if is_away(problem):
                return None
            raise self._refusal(problem) from None
        waiting = sum(
            at - base.vector[t].get(p, at) for t, places in ends.items() for p, at in places.items()
        )
        if waiting <= 2 * SMALL_ROWS:
            return None
        share = max(1, limit // max(1, sum(map(len, ends.values()))))
        vector = {
            table: {place: min(at, base.vector[table][place] + share) for place, at in places.items()}
            for table, places in ends.items()
        }
        spans = between(base.vector, vector, self._tables)
        epoch = base.position >> EPOCH
        if self._goal is not None and covers(vector, self._reader.capped(self._goal)):
            epoch += 1
        return Entry(max(base.position + 1, (epoch << EPOCH) + count(vector)), vector, spans)

    def _delivered(self, entry: Entry, rows: Mapping[str, pa.Table]) -> Delivery:
        times = [latest for table in rows.values() if (latest := pc.max(table["timestamp"]).as_py())]
        entry = replace(entry, committed_at=max(times).timestamp() if times else time.time())
        is_reached = entry.position >> EPOCH > self._last().position >> EPOCH
        self._ledger.add(entry)
        if is_reached:
            self._goal = None
            self._ledger.keep(GOAL, None)
        return self._delivery(entry, rows)

    def _delivery(self, entry: Entry, rows: Mapping[str, pa.Table]) -> Delivery:
        messages = {}
        for table, parts in entry.spans.items():
            given = self._tables[table].options.properties
            # Java's reader shows what a transaction has not committed unless it is told not to.
            asked = {} if table in rows else {"isolation.level": ISOLATION} | java_config(given)
            messages[table] = Messages(parts, rows.get(table), asked)
        return Delivery(Position(entry.position, "messages"), {}, entry.committed_at, messages)

    def _is_same(self, entry: Entry) -> bool:
        """True if what was read came from the topics it is taken for; False while no broker can tell."""
        try:
            check_same(self._ledger, self._asking, topics_of(entry.vector, self._properties()))
        except KafkaException as problem:
            if is_away(problem) or is_unknown_topic(problem):
                return False
            raise self._refusal(problem) from None
        return True

    def _properties(self) -> dict[str, Mapping[str, str]]:
        told = {ends_of(server): server.properties for server in self._reader.servers}
        return told | {name: table.options.properties for name, table in self._tables.items()}

    def _ends(self, vector: Vector) -> Vector:
        """The end of every partition as it is now."""
        properties = self._properties()
        return {
            table: self._asking.ends(properties[table], places)
            for table, places in vector.items()
            if table in properties
        }

    def _discovered(self, base: Entry) -> Entry:
        """The entry with partitions that appeared since, each from its beginning, and with servers that now tell."""
        now, first = time.monotonic(), next(iter(self._tables.values()))
        pause = (
            min(first.options.discovery, awaited.ENDS_SECONDS)
            if self._lacks_ends
            else first.options.discovery
        )
        if not self._look_again or now < self._look_again:
            self._look_again = self._look_again or now + pause
            return base
        self._look_again = now + pause
        try:
            known = clients.topics(first.options.properties)
            found = settling.find(self._tables, known, read=self._ledger.topics())
            vector = {table: dict(places) for table, places in base.vector.items()}
            for name, table in self._tables.items():
                new = [place for place in found.places(name) if place not in vector[name]]
                vector[name] |= self._asking.begins(table.options.properties, new)
            vector |= settling.first_ends(found, self._asking, known=base.vector)
            old = self._old(found, vector)
        except KafkaException as problem:
            # A partition that was just made is not known to clients from before: new ones ask the next time.
            if is_away(problem) or is_unknown_topic(problem):
                self._asking.close()
                self._look_again = now + awaited.AGAIN_LATER_SECONDS
                return base
            raise self._refusal(problem) from None
        if found.servers != self._reader.servers:
            self._reader.close()
            self._reader = self._reading(found, self._ledger.kept(settling.BOUNDS) or {})
            for note in topics.notes(found.servers, {}, chosen={}, known={}):
                self._context.report(Report("note", note))
        self._reader.old, self._lacks_ends = old, found.lacks_ends
        if vector == base.vector:
            return base
        self._at = None
        grown = replace(base, vector=vector)
        self._ledger.add(grown)
        return grown

    def _tell_trouble(self) -> None:
        """Say once that a broker is away, and once that it is back."""
        trouble, properties = self._reader.trouble(), next(iter(self._tables.values())).options.properties
        if trouble is not None:
            if self._trouble is None:
                self._context.report(waits(trouble))
            self._trouble = trouble
        # That nothing is heard does not tell: a client complains of a broker once.
        elif self._trouble is not None and self._asking.is_answered(properties):
            self._context.report(is_back(self._trouble))
            self._trouble = None

    def _refusal(self, problem: KafkaException) -> HeadwaterError:
        table = next(iter(self._tables.values()))
        return problem_as(SourceError, problem, table.options.properties, place=table.place)
