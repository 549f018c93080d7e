"""What was read of all partitions and not delivered yet, and how far it may be delivered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import SMALL_ROWS, Span
from headwater.sources.kafka.alignment import Aligner
from headwater.sources.kafka.lane import AT_ONCE, Lane, Place, as_columns
from headwater.sources.kafka.ledger import Vector
from headwater.sources.kafka.told import ends, stretches
from headwater.sources.kafka.topics import Server

HELD_BYTES = 128 << 20
"""Up to so many bytes of messages are held; more are read again by the executors."""

PAUSE_SECONDS = 0.05
"""How long one lane is waited for before the others are looked at."""


def ends_of(server: Server) -> str:
    """The name under which a vector holds the place in a server's topic of transactions."""
    return f"ends of {server.ends}"


def subject(table: str, topic: str) -> str:
    """A table's share of one topic, as an Aligner knows it."""
    return f"{table} in {topic}"


@dataclass
class _Aligned:
    server: Server
    aligner: Aligner


@dataclass
class Reader:
    """Consumers of all tables. `seek` first; then `fill`, ask `vector`, and `take` what is delivered."""

    properties: Mapping[str, Mapping[str, str]]
    """The client properties of each table."""
    servers: tuple[Server, ...] = ()
    bounds: Mapping[str, Mapping[Place, int]] = field(default_factory=dict)
    old: Vector = field(default_factory=dict)
    """Where topics ended at the first start: of their ends, and of tables that began behind their beginning."""
    scanned: int = 0
    """Messages read since `seek` or the last delivery."""
    _lanes: list[tuple[Lane, dict[Place, str]]] = field(default_factory=list)
    _rows: dict[str, list[pa.Table]] = field(default_factory=dict)
    _bytes: int = 0
    _held_from: dict[tuple[str, Place], int] = field(default_factory=dict)
    """Rows before this place were too many to hold: they have to be read again where they are wanted."""
    _cut: Vector = field(default_factory=dict)
    _aligned: list[_Aligned] = field(default_factory=list)

    def seek(self, vector: Vector) -> None:
        """Read on from a vector; whatever was read beyond it is forgotten."""
        self.close()
        self._rows, self._cut = {}, {table: dict(places) for table, places in vector.items()}
        self.scanned, self._bytes, self._held_from = 0, 0, {}
        self._aligned = []
        for server in self.servers:
            shares = frozenset(subject(t, topic) for topic, names in server.tables.items() for t in names)
            aligner = Aligner(shares)
            for topic, names in server.tables.items():
                for table in names:
                    for place in vector[table]:
                        if place[0] == topic:
                            aligner.add_partition((subject(table, topic), *place))
            self._aligned.append(_Aligned(server, aligner))
        for table, places in vector.items():
            self._assign(table, places)
        for lane, owners in self._lanes:
            lane.assign({place: vector[table][place] for place, table in owners.items()})

    def fill(self, limit: int, wait: float, *, is_ready: Callable[[], bool]) -> None:
        """Read until something can be delivered, at most `wait` seconds, about `limit` messages."""
        until = time.monotonic() + wait
        while True:
            got = sum(self._poll(lane, owners, 0.0) for lane, owners in self._lanes)
            enough = self.scanned >= min(limit, SMALL_ROWS) or self._bytes >= HELD_BYTES
            ready = (not got or enough) and is_ready()
            if ready or (not got and time.monotonic() >= until):
                return
            if not got:
                for lane, owners in self._lanes:
                    left = until - time.monotonic()
                    if self._poll(lane, owners, max(0.0, min(PAUSE_SECONDS, left))):
                        break

    def vector(self) -> Vector:
        """How far everything read may be delivered: whole transactions where they are told."""
        for aligned in self._aligned:
            self._forgive(aligned)
            places, after = aligned.aligner.cut()
            for (share, topic, number), at in places.items():
                for table in aligned.server.tables[topic]:
                    if subject(table, topic) == share:
                        self._cut[table][topic, number] = at
            if after is not None:
                self._cut[ends_of(aligned.server)] = {(aligned.server.ends, 0): after}
        told = {(table, topic) for s in self.servers for topic, names in s.tables.items() for table in names}
        names = {ends_of(server) for server in self.servers}
        for lane, owners in self._lanes:
            for place, table in owners.items():
                if table not in names and (table, place[0]) not in told:
                    self._cut[table][place] = self._capped(table, place, lane.next[place])
        return {table: dict(places) for table, places in self._cut.items()}

    def _forgive(self, aligned: _Aligned) -> None:
        """Let old transactions be whole without events that were removed, or lie before the start."""
        aligner, server = aligned.aligner, aligned.server
        aligner.old_until = self.old.get(ends_of(server), {}).get((server.ends, 0), 0)
        late = {
            table: self.old[table] for names in server.tables.values() for table in names if table in self.old
        }
        if late and aligner.old_until:
            read = [table for table, places in late.items() if self.reached({table: places})]
            aligner.caught_up = frozenset(subject(t, topic) for t in read for topic in server.tables)

    def reached(self, goal: Vector) -> bool:
        """True if everything before a goal was read."""
        now = {
            (table, place): lane.next[place]
            for lane, owners in self._lanes
            for place, table in owners.items()
        }
        return all(
            now.get((table, place), 0) >= self._capped(table, place, at)
            for table, places in goal.items()
            for place, at in places.items()
        )

    def take(self, spans: Mapping[str, Iterable[Span]]) -> dict[str, pa.Table]:
        """The rows of spans that begin where the last delivery ended, of tables of which all are held."""
        taken = {}
        for table, parts in spans.items():
            rows = pa.concat_tables(self._rows.pop(table, [as_columns([])])).combine_chunks()
            inside = pa.array([False] * len(rows), pa.bool_())
            is_held = True
            for span in parts:
                here = pc.and_(
                    pc.equal(rows["topic"], span.topic), pc.equal(rows["partition"], span.partition)
                )
                inside = pc.or_(inside, pc.and_(here, pc.less(rows["offset"], span.end)))
                is_held &= span.begin >= self._held_from.get((table, (span.topic, span.partition)), 0)
            if is_held:
                taken[table] = rows.filter(inside)
            self._rows[table] = [rows.filter(pc.invert(inside))]
        left = [piece for pieces in self._rows.values() for piece in pieces]
        self.scanned, self._bytes = sum(map(len, left)), sum(piece.nbytes for piece in left)
        return taken

    def commit(self, table: str, places: Mapping[Place, int]) -> None:
        """Tell a table's consumer group how far it is; for others to look at, nothing of ours depends on it."""
        for lane, owners in self._lanes:
            if table in owners.values():
                lane.commit(places)

    def trouble(self) -> str | None:
        """Why nothing comes, if a broker was heard to be away."""
        return next(filter(None, (lane.trouble() for lane, _ in self._lanes)), None)

    def close(self) -> None:
        """Leave the cluster."""
        for lane, _ in self._lanes:
            lane.close()
        self._lanes = []

    def _assign(self, table: str, places: Mapping[Place, int]) -> None:
        """Give a table's partitions to the first lane that speaks to its cluster and does not read them yet."""
        properties = self._properties(table)
        for lane, owners in self._lanes:
            if lane.properties == properties and not owners.keys() & places.keys():
                owners.update(dict.fromkeys(places, table))
                return
        self._lanes.append((Lane(properties), dict.fromkeys(places, table)))

    def _properties(self, table: str) -> Mapping[str, str]:
        told = {ends_of(server): server.properties for server in self.servers}
        return told.get(table) or self.properties[table]

    def capped(self, vector: Vector) -> Vector:
        """A vector that goes beyond no bound."""
        return {
            table: {place: self._capped(table, place, at) for place, at in places.items()}
            for table, places in vector.items()
        }

    def _capped(self, table: str, place: Place, at: int) -> int:
        bound = self.bounds.get(table, {}).get(place)
        return at if bound is None else min(at, bound)

    def _poll(self, lane: Lane, owners: Mapping[Place, str], wait: float) -> int:
        messages = lane.poll(AT_ONCE, wait)
        by_place: dict[Place, list[Any]] = {}
        for message in messages:
            by_place.setdefault((message.topic(), message.partition()), []).append(message)
        for place, found in by_place.items():
            self._keep(owners[place], place, found)
        return len(messages)

    def _keep(self, table: str, place: Place, messages: list[Any]) -> None:
        for aligned in self._aligned:
            if table == ends_of(aligned.server):
                self._keep_ends(aligned, messages)
                return
        rows = as_columns(messages)
        bound = self.bounds.get(table, {}).get(place)
        if bound is not None:
            rows = rows.filter(pc.less(rows["offset"], bound))
        self.scanned += len(rows)
        for aligned in self._aligned:
            if table in aligned.server.tables.get(place[0], ()):
                aligned.aligner.take((subject(table, place[0]), *place), stretches(rows))
        self._bytes += rows.nbytes
        self._rows.setdefault(table, []).append(rows)
        if self.scanned > 2 * SMALL_ROWS or self._bytes > HELD_BYTES:
            self._let_go()

    def _let_go(self) -> None:
        """Hold no rows of what was read so far; its places stay known."""
        self._rows, self._bytes, self.scanned = {}, 0, 0
        for lane, owners in self._lanes:
            self._held_from |= {(table, place): lane.next[place] for place, table in owners.items()}

    def _keep_ends(self, aligned: _Aligned, messages: list[Any]) -> None:
        shares = {
            topic.removeprefix(f"{aligned.server.name}."): [subject(table, topic) for table in names]
            for topic, names in aligned.server.tables.items()
        }
        for end in ends([(message.offset(), message.value()) for message in messages], shares):
            aligned.aligner.take_end(end)
