"""First rows that a capture had read when it died: those that still hold are kept, only the rest is read.

What was read is as of a first moment, the rest as of a second one. The server's log says which rows were touched in
between: these are taken out of what was read and looked up by key, so that in the end all rows are as of the second.

A row that an update moved from a page that was not read yet to one that was (it is in no range to read) or the other way
round (it is in two) was touched; so was one that came or went.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from psycopg2 import sql

from headwater.log.letters import is_letters, letters_file
from headwater.log.manifest import Part
from headwater.log.segments import Segment, sync, write_segment
from headwater.log.store import LogWriter
from headwater.log.text_values import fitting, typed_column
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.copy_text import CopiedTable
from headwater.sources.postgres.identities import FULL, identity_of
from headwater.sources.postgres.ranges import Range, Relation, Taken
from headwater.sources.postgres.server import Slot
from headwater.sources.postgres.snapshot import FirstRows, Snapshot
from headwater.sources.postgres.touched import Key, Log, touched
from headwater.sources.postgres.types import family

KEYS_AT_ONCE = 1_000

_ROW = "__hw_row"


@dataclass(frozen=True)
class Kept:
    """What is kept of a table: its parts, the pages they are of, and the keys that were touched since."""

    parts: tuple[Part, ...]
    taken: Taken
    keys: frozenset[Key]
    key: tuple[str, ...]
    """The columns of the key, as the server calls them."""

    @property
    def rows(self) -> int:
        """How many rows were read."""
        return sum(segment.rows for part in self.parts for segment in part.segments)


def key_of(cursor: Any, pair: Pair) -> tuple[str, ...]:
    """The columns that the log always tells of a row and of which no two rows have the same; none if there are none."""
    _, identity = identity_of(cursor, pair.found.oid)
    key = pair.found.primary_key if identity.kind == FULL else identity.key
    declared = {
        found.name
        for column in pair.declared.own
        # Arrays cannot be looked for by Arrow.
        if not column.type.startswith("array") and (found := pair.found.column(column.name)) is not None
    }
    return key if set(key) <= declared else ()


@dataclass
class Earlier:
    """The parts of first rows in a log, and whether they still hold."""

    log: LogWriter
    server: Log
    system: str
    """Which server it is."""
    slot: Slot | None
    """The slot as it stood before this start; without one the log between the moments is not known."""
    keys: Mapping[str, tuple[str, ...]]
    """The key of each table, by its declared name."""
    unpublished: frozenset[str] = frozenset()
    """Tables that were not published until now: the log does not tell of them."""
    kept: dict[str, Kept] = field(default_factory=dict)

    def keep(self, pair: Pair, part: Range, *, position: int, segments: tuple[Segment, ...]) -> None:
        """A range is read: the next life, if this one ends too soon, need not read it again."""
        if not self.keys.get(pair.declared.name) or part.begin is None:
            return
        relation, end = part.relation, part.begin + part.pages
        pages = [relation.schema, relation.name, relation.file, part.begin, end]
        of = [part.seq, self._made_of(pair), *pages]
        self.log.put_part(Part(pair.declared.name, json.dumps(of), position, segments))

    def find(self, pairs: Sequence[Pair], relations: Sequence[tuple[str, Relation]], *, upto: int) -> None:
        """See which parts still hold; the others are forgotten."""
        by_table: dict[str, list[Part]] = {}
        for part in self.log.manifest.parts():
            by_table.setdefault(part.table, []).append(part)
        known = {pair.declared.name: pair for pair in pairs}
        holding = {
            name: parts
            for name, parts in by_table.items()
            if name in known
            and self._holds(known[name], parts, [r for table, r in relations if table == name])
        }
        names = {name: (known[name].found.schema, known[name].found.name) for name in holding}
        keys = touched(self.server, {names[n]: self.keys[n] for n in holding}, upto=upto) if holding else {}
        for name in by_table:
            changed = keys.get(names[name]) if name in holding else None
            if changed is None:
                self.log.forget_parts(name)
            else:
                self.kept[name] = _kept(holding[name], changed, self.keys[name])

    def _holds(self, pair: Pair, parts: Sequence[Part], relations: Sequence[Relation]) -> bool:
        name = pair.declared.name
        if (
            self.slot is None
            or self.slot.confirmed is None
            or not self.keys.get(name)
            or name in self.unpublished
        ):
            return False
        files = {(one.schema, one.name, one.file) for one in relations if one.pages is not None}
        for part in parts:
            _, made_of, schema, relation, file, *_ = json.loads(part.of)
            is_there = all((self.log.folder / segment.file).exists() for segment in part.segments)
            if made_of != self._made_of(pair) or (schema, relation, file) not in files or not is_there:
                return False
        return self.slot.confirmed <= min(part.position for part in parts)

    def _made_of(self, pair: Pair) -> str:
        """What parts were read of; parts of something else do not count."""
        found = [one for c in pair.declared.own if (one := pair.found.column(c.name)) is not None]
        columns = [[one.name, one.number, one.type_oid] for one in found]
        named = [self.system, self.server.slot, self.server.publication, pair.found.oid]
        declared = [pair.declared.schema.to_json(), pair.declared.metadata, columns]
        return json.dumps([*named, *declared, self.keys[pair.declared.name]])

    def untouched(self, table: CopiedTable) -> tuple[Segment, ...]:
        """The segments of the kept parts of a table, without the rows that were touched since."""
        kept = self.kept[table.name]
        names = [table.own[table.columns.index(column)].name for column in kept.key]
        gone = _typed(table, kept)
        made = [
            segment
            if gone is None
            else self._letters_without(segment, kept.keys, names)
            if is_letters(segment.file)
            else self._without(segment, gone, names)
            for part in kept.parts
            for segment in part.segments
        ]
        sync(self.log.folder, [segment.file for segment in made])
        return tuple(segment for segment in made if segment.rows)

    def _without(self, segment: Segment, gone: pa.Table, names: list[str]) -> Segment:
        path = self.log.folder / segment.file
        keys = pq.ParquetFile(path).read(columns=names)
        keys = keys.append_column(_ROW, pa.array(range(keys.num_rows), pa.int64()))
        left = keys.join(gone, keys=names, join_type="left anti").column(_ROW)
        if len(left) == segment.rows:
            return segment
        # A join gives rows in any order.
        places = left.combine_chunks()
        rows = pq.ParquetFile(path).read().take(places.take(pc.sort_indices(places)))
        return write_segment(self.log.folder, f"{self.log.stem()}.parquet", table=segment.table, events=rows)

    def _letters_without(self, segment: Segment, gone: frozenset[Key], names: list[str]) -> Segment:
        letters = pq.ParquetFile(self.log.folder / segment.file).read()
        rows = [json.loads(value) for value in letters.column("value").to_pylist()]
        left = [tuple(row[name].encode() for name in names) not in gone for row in rows]
        if all(left):
            return segment
        file = letters_file(f"{self.log.stem()}.parquet")
        kept = letters.filter(pa.array(left, pa.bool_()))
        return write_segment(self.log.folder, file, table=segment.table, events=kept)


def forget_parts(log: LogWriter) -> None:
    """Forget parts of first rows that nobody goes on with."""
    for name in {part.table for part in log.manifest.parts()}:
        log.forget_parts(name)


def look_up(snapshot: Snapshot, kept: Kept, rows: FirstRows) -> tuple[Segment, ...]:
    """The rows of touched keys that now stand in the pages that were read: the others are read with their pages."""
    keys = sorted(kept.keys)
    for (schema, name), pages in kept.taken.items():
        relation = Relation(schema, name, None)
        for begin in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[begin : begin + KEYS_AT_ONCE]
            snapshot.copy(_by_key(relation, pages, kept.key, some), rows)
    return rows.close()


def _by_key(
    relation: Relation, pages: Sequence[tuple[int, int]], key: Sequence[str], keys: Sequence[Key]
) -> sql.Composable:
    """FROM and WHERE of the rows of some keys in some pages."""
    within = sql.SQL(" OR ").join(
        sql.SQL("t.ctid >= {} AND t.ctid < {}").format(sql.Literal(f"({begin},0)"), sql.Literal(f"({end},0)"))
        for begin, end in _joined(pages)
    )
    # What a literal is without a type, the column it is compared with decides.
    rows = sql.SQL(", ").join(
        sql.SQL("({})").format(sql.SQL(", ").join(sql.Literal(value.decode()) for value in one))
        for one in keys
    )
    columns = sql.SQL(", ").join(sql.Identifier("t", column) for column in key)
    return sql.SQL("{} AS t WHERE ({}) IN ({}) AND ({})").format(relation.sql, columns, rows, within)


def _joined(pages: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges that touch each other as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(pages):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _kept(parts: Sequence[Part], keys: set[Key], key: tuple[str, ...]) -> Kept:
    taken: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for part in parts:
        *_, schema, name, _, begin, end = json.loads(part.of)
        taken.setdefault((schema, name), []).append((begin, end))
    # Parts come as they are done; their rows stand in the order of their numbers.
    ordered = sorted(parts, key=lambda part: int(json.loads(part.of)[0]))
    return Kept(tuple(ordered), taken, frozenset(keys), key)


def _typed(table: CopiedTable, kept: Kept) -> pa.Table | None:
    """The touched keys as columns of their declared types."""
    if not kept.keys:
        return None
    found, fits = {}, pa.repeat(True, len(kept.keys))
    for place, texts in enumerate(zip(*kept.keys, strict=True)):
        at = table.columns.index(kept.key[place])
        column, kind = table.own[at], table.types[at]
        values = pa.array([text.decode() for text in texts], pa.string())
        if table.parks:
            # No row that was read has a key that does not fit.
            found[column.name], reasons = fitting(values, column.type, family(kind))
            fits = fits if reasons is None else pc.and_(fits, pc.is_null(reasons))
            continue
        found[column.name] = typed_column(
            values, column, family=family(kind), table=table.name, place=table.place
        )
    return pa.table(found).filter(fits)
