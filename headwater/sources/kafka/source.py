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

from headwater.errors import SourceError
from headwater.kafka.problems import problem_as
from headwater.kafka.properties import java_config
from headwater.log.events import SMALL_ROWS, Delivery, Messages, Span
from headwater.log.positions import Position
from headwater.options import revealed
from headwater.sources.base import Report, SourceContext, SourceTable
from headwater.sources.kafka import startup, topics
from headwater.sources.kafka.asking import Asking
from headwater.sources.kafka.lane import read_spans
from headwater.sources.kafka.ledger import Entry, Ledger, Vector, between, count, covers, joined
from headwater.sources.kafka.reader import Reader, ends_of

EPOCH = 40
"""The bits of a position that count messages; above them stands how many goals were reached."""

AGAIN_SECONDS = 60.0


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
        self._asking = Asking()

    def start(self, after: Position | None) -> Position | None:
        """Find the topics, and the place of each partition; a table that joins begins as its options say."""
        known = topics.known_topics(next(iter(self._tables.values())))
        chosen = {name: topics.topics_of(table, known) for name, table in self._tables.items()}
        self._ledger = Ledger(self._context.folder)
        try:
            servers = topics.servers_of(self._tables, chosen, known)
            bounds = self._bounds(after, chosen, known)
            properties = {name: table.options.properties for name, table in self._tables.items()}
            self._reader = Reader(properties, tuple(servers), bounds)
            joined = self._settle(after, chosen, known)
        except KafkaException as problem:
            raise self._refusal(problem) from None
        for note in topics.notes(servers, self._tables, chosen=chosen, known=known):
            self._context.report(Report("note", note))
        return self.now() if joined else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """What comes after a position; what was delivered after it before comes again as it was."""
        base = self._entry(after)
        known = self._ledger.after(base.position)
        if upto is not None:
            again = [entry for entry in known if entry.position <= upto.value]
            return self._again(again) if again and again[-1].position == upto.value else None
        if known:
            return self._again(known[:1])
        base = self._discovered(base)
        if self._at != base.position:
            self._reader.seek(base.vector)
            self._at = base.position
        self._reader.fill(limit, wait, is_ready=lambda: self._next(base) is not None)
        self._tell_trouble()
        entry = self._large(base, limit) or self._next(base)
        if entry is None:
            return Delivery(Position(base.position, "messages"), {}) if after is None else None
        return self._delivered(entry)

    def now(self) -> Position:
        """The first position after everything that is in the topics by now."""
        last = self._ledger.last()
        assert last is not None
        self._goal = self._ends(last.vector)
        return Position(((last.position >> EPOCH) + 1) << EPOCH, "messages")

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

    def _bounds(
        self, after: Position | None, chosen: Mapping[str, Sequence[str]], known: Mapping[str, int]
    ) -> Vector:
        """Where bounded tables end: decided when a table is first read, and kept."""
        kept = self._ledger.bounds()
        found: Vector = {}
        for name, table in self._tables.items():
            if name in kept and not (table.anew and after is not None):
                found[name] = kept[name]
                continue
            places = topics.places_of(chosen[name], known)
            ends = startup.bounds(self._asking.client(table.options.properties), places, table=table)
            found |= {name: ends} if ends is not None else {}
        self._ledger.keep_bounds(found)
        return found

    def _settle(
        self, after: Position | None, chosen: Mapping[str, Sequence[str]], known: Mapping[str, int]
    ) -> bool:
        """Put the place of every partition into the ledger; True if a table has everything still to come."""
        base = self._ledger.first() if after is None else self._ledger.find(after.value)
        if after is not None and base is None:
            raise SourceError(
                f"what position {after} stands for is not known",
                detail="The folder of the source was changed by another program, or is an older copy.",
                hint="Remove the state with headwater drop, and start again.",
            )
        vector: Vector = {}
        joined = base is None
        for name, table in self._tables.items():
            places = topics.places_of(chosen[name], known)
            kept = base.vector.get(name) if base is not None else None
            is_new = kept is None or (table.anew and after is not None)
            joined = joined or is_new
            client = self._asking.client(table.options.properties)
            is_kept = kept is not None and not is_new
            vector[name] = dict(kept or {}) if is_kept else startup.begins(client, places, table=table)
        for server in self._reader.servers:
            at = base.vector.get(ends_of(server)) if base is not None else None
            vector[ends_of(server)] = at or self._asking.begins(server.properties, [(server.ends, 0)])
        if base is None:
            self._ledger.add(Entry(count(vector), vector, {}))
            return True
        for name, table in self._tables.items():
            self._asking.check(table.options.properties, base.vector.get(name, {}))
        for entry in [base, *self._ledger.after(base.position)]:
            moved = {
                n: entry.vector.get(n, at) if not self._joins(n, base) else at for n, at in vector.items()
            }
            self._ledger.add(replace(entry, vector=moved))
        return joined

    def _joins(self, name: str, base: Entry) -> bool:
        table = self._tables.get(name)
        return name not in base.vector or (table is not None and table.anew and base.position > 0)

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
        ends = self._ends(base.vector)
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
        if self._goal is not None and covers(vector, self._goal):
            epoch += 1
        self._reader.holds_rows = False
        return Entry(max(base.position + 1, (epoch << EPOCH) + count(vector)), vector, spans)

    def _delivered(self, entry: Entry) -> Delivery:
        base_epoch = entry.position >> EPOCH
        rows = self._reader.take(entry.spans) if self._reader.holds_rows else {}
        times = [latest for table in rows.values() if (latest := pc.max(table["timestamp"]).as_py())]
        entry = replace(entry, committed_at=max(times).timestamp() if times else time.time())
        last = self._ledger.last()
        if last is not None and base_epoch > last.position >> EPOCH:
            self._goal = None
        self._ledger.add(entry)
        self._at = entry.position if self._reader.holds_rows else None
        return self._delivery(entry, rows)

    def _again(self, entries: Sequence[Entry]) -> Delivery:
        """What was delivered before, once more."""
        spans: dict[str, list[Span]] = {}
        for entry in entries:
            for table, parts in entry.spans.items():
                spans.setdefault(table, []).extend(parts)
        whole = {table: tuple(joined(parts)) for table, parts in spans.items()}
        last = replace(entries[-1], spans=whole)
        rows = {}
        if sum(s.end - s.begin for parts in whole.values() for s in parts) <= 2 * SMALL_ROWS:
            for table, parts in whole.items():
                found = read_spans(self._tables[table].options.properties, parts, wait=AGAIN_SECONDS)
                if found is None:
                    raise SourceError(
                        "the messages of the interrupted batch do not come",
                        detail=f"Waited {AGAIN_SECONDS:.0f} s for {parts[0].topic}.",
                        hint="Check that the broker runs; the next start tries again.",
                    )
                rows[table] = found
        return self._delivery(last, rows)

    def _delivery(self, entry: Entry, rows: Mapping[str, pa.Table]) -> Delivery:
        messages = {
            table: Messages(
                parts,
                rows.get(table),
                {} if table in rows else java_config(self._tables[table].options.properties),
            )
            for table, parts in entry.spans.items()
        }
        return Delivery(Position(entry.position, "messages"), {}, entry.committed_at, messages)

    def _ends(self, vector: Vector) -> Vector:
        """The end of every partition as it is now."""
        properties = {ends_of(server): server.properties for server in self._reader.servers}
        properties |= {name: table.options.properties for name, table in self._tables.items()}
        try:
            return {
                table: self._asking.ends(properties[table], places)
                for table, places in vector.items()
                if table in properties
            }
        except KafkaException as problem:
            raise self._refusal(problem) from None

    def _discovered(self, base: Entry) -> Entry:
        """The entry with partitions that appeared since, each from its beginning."""
        now = time.monotonic()
        first = next(iter(self._tables.values()))
        if now < self._look_again or not self._look_again:
            self._look_again = self._look_again or now + first.options.discovery
            return base
        self._look_again = now + first.options.discovery
        known = topics.known_topics(first)
        vector = {table: dict(places) for table, places in base.vector.items()}
        for name, table in self._tables.items():
            wanted = topics.places_of(topics.topics_of(table, known), known)
            new = [place for place in wanted if place not in vector[name]]
            vector[name] |= self._asking.begins(table.options.properties, new)
        if vector == base.vector:
            return base
        self._at = None
        grown = replace(base, vector=vector)
        self._ledger.add(grown)
        return grown

    def _tell_trouble(self) -> None:
        """Say once that a broker is away, and once that it is back."""
        trouble = self._reader.trouble()
        if trouble and trouble != self._trouble:
            self._context.report(Report("waiting", f"{trouble}; going on when it does"))
        self._trouble = trouble or self._trouble

    def _refusal(self, problem: KafkaException) -> SourceError:
        table = next(iter(self._tables.values()))
        found = problem_as(SourceError, problem, table.options.properties, place=table.place)
        assert isinstance(found, SourceError)
        return found
