"""What a statement reads: slices of State cut by Arrow where keys are known, and all the rest as Spark reads it.

What fits into memory goes to Spark from there, more of it through files. Keys come from whatever was made before: from
rows in memory, or from one column of a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.incremental.change_plan import Input, Restriction, Version
from headwater.log.events import SMALL_ROWS
from headwater.schema import WEIGHT, Schema, with_bounds
from headwater.spark.frames import bag_of, frame_of, plain, quoted, register, weighted
from headwater.spark.kept import Leaf
from headwater.spark.local_rows import local_frame
from headwater.tables import slices
from headwater.tables.bags import can_count, counted
from headwater.tables.state import State

LOCAL_ROWS = 5_000
"""A State up to so many rows is handed to Spark as it is; a larger one is cut or read by Spark."""

MOST_BYTES = 128 << 20
"""Up to so many bytes of Java's heap, all inputs together, a statement is run from memory."""

MOST_CUT = 500_000
"""A slice of more rows than this is left to Spark."""


SPREAD_BYTES = 32 << 20
"""On a cluster the driver's heap is one of many: so much of it, and as many rows as travel with events (`SMALL_ROWS`)."""

LEAST_SPREAD = 50_000_000
"""On a cluster nothing is cut from a State of more rows: where its keys are would have to be read through the driver."""


@dataclass(frozen=True)
class Before:
    """What a step starts from: the States before and after it, and the changes between, by relation."""

    old: Mapping[str, State]
    new: Mapping[str, State]
    changes: Mapping[str, ChangeSet]


@dataclass(frozen=True)
class _InFiles:
    """Where the rows of an input lie, and what its columns are called there."""

    parts: tuple[Rows | Files, ...]
    names: Mapping[str, str]

    def values(self, column: str, limit: int) -> pa.ChunkedArray | None:
        """A column of it, None if that is too much."""
        if sum(len(p.table) if isinstance(p, Rows) else p.count for p in self.parts) > limit:
            return None
        name = self.names.get(column, column)
        chunks: list[pa.Array] = []
        for part in self.parts:
            tables = (
                [part.table]
                if isinstance(part, Rows)
                else [pq.read_table(path, columns=[name], partitioning=None) for path in part.paths]
            )
            chunks += [chunk for table in tables for chunk in table.column(name).chunks]
        kinds = {chunk.type for chunk in chunks}
        return pa.chunked_array(chunks) if len(kinds) == 1 else None


@dataclass
class Inputs:
    """The inputs of one statement, made one after the other; what is made is called by its view's name."""

    spark: SparkSession
    folder: Path
    numbers: itertools.count[int]
    before: Before
    results: Mapping[str, pa.Table | Files]
    is_spread: bool = False
    """True if executors may be on other machines: then less goes through the driver."""
    read: dict[str, int] = field(default_factory=dict)
    """How many rows of each relation were handed out."""
    _made: dict[str, Leaf | DataFrame] = field(default_factory=dict)
    _files: dict[str, _InFiles] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    """The views that Spark knows."""

    @property
    def leaves(self) -> list[Leaf] | None:
        """All of them, in the order they were made; None if some are not in memory, or many."""
        found = [made for made in self._made.values() if isinstance(made, Leaf)]
        are_few = sum(size_in_java(leaf.rows) for leaf in found) <= self._most_bytes
        if self.is_spread and sum(leaf.rows.num_rows for leaf in found) > SMALL_ROWS:
            return None
        return found if are_few and len(found) == len(self._made) else None

    @property
    def _most_bytes(self) -> int:
        return SPREAD_BYTES if self.is_spread else MOST_BYTES

    @property
    def _most_cut(self) -> int:
        return SMALL_ROWS if self.is_spread else MOST_CUT

    @property
    def _most_keys(self) -> int:
        return min(SMALL_ROWS, slices.MOST_KEYS) if self.is_spread else slices.MOST_KEYS

    def make(self, wanted: Input) -> None:
        """Make one more."""
        # A view of that name may still be there from the last step, with other rows.
        assert wanted.restriction is None or wanted.restriction.by in self._made, wanted
        made = self._input(wanted)
        self._count(wanted, made.rows if isinstance(made, Leaf) else made)
        self._made[wanted.view] = made

    def name_all(self) -> None:
        """Let Spark know all of them by their names."""
        for view in self._made:
            self._name(view)

    def _name(self, view: str) -> None:
        if view not in self._named:
            register(view, self._frame(self._made[view]))
            self._named.add(view)

    def _frame(self, made: Leaf | DataFrame) -> DataFrame:
        if not isinstance(made, Leaf):
            return made
        frame = self._handed(made.rows)
        return plain(made.view, frame) if made.is_to_add_up else frame

    def _handed(self, rows: pa.Table) -> DataFrame:
        if rows.num_rows <= SMALL_ROWS:
            return local_frame(self.spark, rows)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"slice-{next(self.numbers)}.parquet"
        pq.write_table(rows, path, compression="snappy", write_statistics=with_bounds(rows.schema))
        struct = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
        return self.spark.read.schema(struct).parquet(str(path))

    def _count(self, wanted: Input, made: pa.Table | DataFrame) -> None:
        if wanted.version in (Version.RESULT, Version.CHANGE):
            return
        states = self.before.new if wanted.version in (Version.NOW, Version.NEW) else self.before.old
        rows = made.num_rows if isinstance(made, pa.Table) else states[wanted.relation].rows
        self.read[wanted.relation] = self.read.get(wanted.relation, 0) + rows

    def _input(self, wanted: Input) -> Leaf | DataFrame:
        match wanted.version:
            case Version.RESULT:
                made = self.results[wanted.relation]
                if isinstance(made, pa.Table):
                    return Leaf(wanted.view, made)
                self._files[wanted.view] = _InFiles((made,), {})
                return self.spark.read.parquet(*map(str, made.paths))
            case Version.CHANGE:
                return self._change(wanted)
            case Version.NOW:
                return self._now(wanted)
            case Version.NEW:
                state = self.before.new[wanted.relation]
            case _:
                state = self.before.old[wanted.relation]
        if wanted.is_bag and wanted.restriction is None and state.rows > LOCAL_ROWS:
            columns = wanted.columns or tuple(n.lower() for n in state.schema.names)
            stored = stored_names(state.schema, columns)
            return bag_of(self.spark, wanted.view, state, dict(zip(stored, columns, strict=True)))
        rows = self._state(state, wanted)
        if not isinstance(rows, pa.Table):
            return plain(wanted.view, rows) if wanted.is_bag else rows
        return _bag(wanted, rows) if wanted.is_bag else Leaf(wanted.view, rows)

    def _now(self, wanted: Input) -> Leaf | DataFrame:
        """What is true of a relation after the batch, under the names it was declared with."""
        state, names = self.before.new[wanted.relation], self.before.new[wanted.relation].schema.names
        if state.rows > LOCAL_ROWS or not names:
            return bag_of(self.spark, state.relation, state, {name: name for name in names})
        return _bag(wanted, slices.whole(state, names))

    def _change(self, wanted: Input) -> Leaf | DataFrame:
        changes = self.before.changes[wanted.relation]
        stored = stored_names(changes.schema, wanted.columns)
        names = [*wanted.columns, WEIGHT]
        is_large = self.is_spread and changes.count > SMALL_ROWS
        if not is_large and (rows := _read(changes, stored, self._most_bytes)) is not None:
            return Leaf(wanted.view, rows.rename_columns(names))
        self._files[wanted.view] = _InFiles(changes.parts, dict(zip(wanted.columns, stored, strict=True)))
        return frame_of(self.spark, changes).select(*stored, WEIGHT).toDF(*names)

    def _state(self, state: State, wanted: Input) -> pa.Table | DataFrame:
        """A relation's weighted rows, as few of them as the restriction allows; names in lower case."""
        columns = wanted.columns or tuple(n.lower() for n in state.schema.names)
        stored = stored_names(state.schema, columns)
        restriction = wanted.restriction
        if restriction is not None and self._converts(restriction, state):
            restriction = None
        keys = self._keys(restriction) if restriction is not None else None
        if keys is not None and restriction is not None and state.rows > 0:
            (column,) = stored_names(state.schema, (restriction.column,))
            is_large = self.is_spread and state.rows > LEAST_SPREAD
            if not is_large and slices.can_cut(state.schema, column, keys):
                cut = slices.cut(state, column, keys, columns=tuple(stored), limit=self._most_cut)
                if cut is not None:
                    return cut.select([*stored, WEIGHT]).rename_columns([*columns, WEIGHT])
        elif state.rows <= LOCAL_ROWS:
            return slices.whole(state, tuple(stored)).rename_columns([*columns, WEIGHT])
        frame = weighted(self.spark, state).select(*stored, WEIGHT).toDF(*columns, WEIGHT)
        if restriction is None:
            return frame
        column, by = restriction.column, restriction.by_column
        self._name(restriction.by)
        few = self.spark.table(quoted(restriction.by)).select(by).distinct()
        return frame.join(few, frame[column].eqNullSafe(few[by]), "left_semi")

    def _converts(self, restriction: Restriction, state: State) -> bool:
        """True if texts would be compared with what is none: one that the query keeps from that is no number to Spark."""
        column, made = state.schema.find(restriction.column), self._made[restriction.by]
        if isinstance(made, Leaf):
            is_text = _is_text(made.rows.schema.field(restriction.by_column).type)
        else:
            is_text = made.schema[restriction.by_column].dataType.typeName() == "string"
        return column is not None and is_text != (column.type == "string")

    def _keys(self, restriction: Restriction) -> pa.ChunkedArray | None:
        """The keys that a restriction names, as far as they are at hand."""
        made = self._made[restriction.by]
        if isinstance(made, Leaf):
            return made.rows.column(restriction.by_column)
        files = self._files.get(restriction.by)
        return None if files is None else files.values(restriction.by_column, self._most_keys)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _bag(wanted: Input, rows: pa.Table) -> Leaf:
    """Weighted rows as often as they are there; by Arrow where that is the same as in Spark."""
    if can_count(rows):
        return Leaf(wanted.view, counted(rows))
    return Leaf(wanted.view, rows, is_to_add_up=True)


def size_in_java(rows: pa.Table) -> int:
    """About how many bytes rows take in Java, where every value has eight, and texts have their own besides."""
    return int(rows.nbytes + rows.num_rows * 8 * (rows.num_columns + 2))


def _read(changes: ChangeSet, names: Sequence[str], most_bytes: int) -> pa.Table | None:
    """Some columns of a change; None if that is too much for memory."""
    if changes.is_small:
        return changes.table(names)
    taken: list[pa.RecordBatch] = []
    size = 0
    for batch in changes.batches(names):
        taken.append(batch)
        size += size_in_java(pa.Table.from_batches([batch]))
        if size > most_bytes:
            return None
    return pa.Table.from_batches(taken) if taken else changes.table(names)


def stored_names(schema: Schema, columns: tuple[str, ...]) -> list[str]:
    """The names under which a relation keeps the columns a plan calls in lower case."""
    found = [column for name in columns if (column := schema.find(name)) is not None]
    assert len(found) == len(columns), f"of {columns} some are not among {schema.names}"
    return [column.name for column in found]
