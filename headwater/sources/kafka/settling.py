"""Where a source begins or goes on: the place of every partition, and the tables that join or leave."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.sources.base import SourceTable
from headwater.sources.kafka import startup, topics
from headwater.sources.kafka.asking import Asking
from headwater.sources.kafka.ids import check_same
from headwater.sources.kafka.ledger import Entry, Ledger, Vector, count
from headwater.sources.kafka.reader import ends_of

BOUNDS = "bounds"
"""The name under which the ledger keeps where bounded tables end."""


@dataclass(frozen=True)
class Found:
    """The topics of the tables, and the servers among them that tell their transactions."""

    tables: Mapping[str, SourceTable]
    known: Mapping[str, int]
    chosen: Mapping[str, Sequence[str]]
    servers: tuple[topics.Server, ...]

    def places(self, name: str) -> list[tuple[str, int]]:
        """Every partition a table reads."""
        return topics.places_of(self.chosen[name], self.known)

    @property
    def lacks_ends(self) -> bool:
        """True if a table of Debezium is read without the ends of transactions."""
        return any(
            topics.missing_ends(table, self.chosen[name], self.known) for name, table in self.tables.items()
        )


def find(tables: Mapping[str, SourceTable], known: Mapping[str, int], *, read: Collection[str] = ()) -> Found:
    """What a cluster that has these topics holds for some tables; of `read` something was delivered before."""
    chosen = {name: topics.topics_of(table, known, read=read) for name, table in tables.items()}
    return Found(tables, known, chosen, tuple(topics.servers_of(tables, chosen, known)))


def settle(found: Found, ledger: Ledger, asking: Asking, after: Position | None) -> bool:
    """Put the place of every partition into the ledger; True if a table has everything still to come.

    A table that joins begins as its options say, and what was delivered of a former one of its name is forgotten.
    """
    base = _base(ledger, after)
    joining = {name for name in found.tables if base is None or _joins(found, name, base, after)}
    _check_same(found, base, ledger, asking, joining)
    vector: Vector = {}
    for name, table in found.tables.items():
        client = asking.client(table.options.properties)
        if base is not None and name not in joining:
            asking.check(table.options.properties, base.vector[name])
            vector[name] = base.vector[name]
        else:
            vector[name] = startup.begins(client, found.places(name), table=table)
    vector |= first_ends(found, asking, known=base.vector if base is not None else {})
    if base is None:
        ledger.add(Entry(count(vector), vector, {}))
        return True
    for entry in [base, *ledger.after(base.position)]:
        moved = {n: at if n in joining else entry.vector.get(n, at) for n, at in vector.items()}
        spans = {n: s for n, s in entry.spans.items() if n in found.tables and n not in joining}
        ledger.add(replace(entry, vector=moved, spans=spans))
    return bool(joining)


def _check_same(
    found: Found, base: Entry | None, ledger: Ledger, asking: Asking, joining: Collection[str]
) -> None:
    """See that every topic in which a place counts is the one it was; the others are read from now on."""
    places = base.vector if base is not None else {}
    counts = {topic for name, at in places.items() if name not in joining for topic, _ in at}
    wanted = {
        topic: found.tables[name].options.properties for name in found.tables for topic in found.chosen[name]
    }
    wanted |= {server.ends: server.properties for server in found.servers}
    check_same(ledger, asking, wanted, new=set(wanted) - counts)


def first_ends(found: Found, asking: Asking, *, known: Vector) -> Vector:
    """The places in the topics of ends; one that is new begins as the tables it tells of do."""
    vector: Vector = {}
    for server in found.servers:
        name, place = ends_of(server), (server.ends, 0)
        readers = [found.tables[table] for names in server.tables.values() for table in names]
        if name in known:
            vector[name] = known[name]
        elif all(table.options.startup_mode in ("latest-offset", "timestamp") for table in readers):
            vector[name] = startup.begins(asking.client(server.properties), [place], table=readers[0])
        else:
            vector[name] = asking.begins(server.properties, [place])
    return vector


def old_places(found: Found, asking: Asking, *, vector: Vector, kept: Vector) -> Vector:
    """Where topics end now: of ends not known before, and of the tables they tell of that begin behind a beginning."""
    old = {name: places for name, places in kept.items() if name in vector}
    for server in found.servers:
        if ends_of(server) in old:
            continue
        old[ends_of(server)] = asking.ends(server.properties, [(server.ends, 0)])
        for name in {table for names in server.tables.values() for table in names}:
            if any(at > 0 for at in vector[name].values()):
                old[name] = asking.ends(found.tables[name].options.properties, vector[name])
    return old


def bounds(found: Found, ledger: Ledger, asking: Asking, after: Position | None) -> Vector:
    """Where bounded tables end: decided when a table is first read, and kept."""
    kept = ledger.kept(BOUNDS) or {}
    decided: Vector = {}
    for name, table in found.tables.items():
        if table.options.bounded_mode == startup.UNBOUNDED:
            continue
        if name in kept and not (table.anew and after is not None):
            decided[name] = kept[name]
            continue
        client = asking.client(table.options.properties)
        ends = startup.bounds(client, found.places(name), table=table)
        assert ends is not None
        decided[name] = ends
    ledger.keep(BOUNDS, decided)
    return decided


def _base(ledger: Ledger, after: Position | None) -> Entry | None:
    base = ledger.first() if after is None else ledger.find(after.value)
    if after is not None and base is None:
        raise SourceError(
            f"what position {after} stands for is not known",
            detail="The folder of the source was changed by another program, or is an older copy.",
            hint="Remove the state with headwater drop, and start again.",
        )
    return base


def _joins(found: Found, name: str, base: Entry, after: Position | None) -> bool:
    """True if nothing that is kept of a table counts: it is new, is read anew, or has other topics now."""
    kept = base.vector.get(name)
    if kept is None or (found.tables[name].anew and after is not None):
        return True
    return not {topic for topic, _ in kept} <= set(found.chosen[name])
