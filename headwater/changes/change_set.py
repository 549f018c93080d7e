"""A ChangeSet: rows of one relation with a weight, +1 come, -1 gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.schema import WEIGHT, Schema, arrow_schema

BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Rows:
    """Weighted rows in memory; every part of a step that is small."""

    table: pa.Table


@dataclass(frozen=True)
class Files:
    """Weighted rows in Parquet files; `negated` turns every weight around (a truncated table)."""

    paths: tuple[Path, ...]
    count: int
    negated: bool = False


@dataclass(frozen=True)
class ChangeSet:
    """What happened to one relation between two cuts: its columns and `__hw_weight`, in parts."""

    relation: str
    schema: Schema
    parts: tuple[Rows | Files, ...] = ()

    @property
    def count(self) -> int:
        """How many weighted rows there are, before any cancel."""
        return sum(p.table.num_rows if isinstance(p, Rows) else p.count for p in self.parts)

    @property
    def is_small(self) -> bool:
        """True if all of it is in memory."""
        return all(isinstance(part, Rows) for part in self.parts)

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows, in pieces of bounded size, with the weight as int8 in the last column; some columns, or all."""
        wanted = _weighted(self.schema, names)
        for part in self.parts:
            if isinstance(part, Rows):
                table = part.table.select(wanted.names).cast(wanted)
                yield from table.to_batches(max_chunksize=BATCH_ROWS)
                continue
            for path in part.paths:
                for batch in pq.ParquetFile(path).iter_batches(BATCH_ROWS, columns=wanted.names):
                    yield _typed(batch, wanted, negated=part.negated)

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """All rows at once, some columns or all; only for change sets known to be small."""
        return pa.Table.from_batches(self.batches(names), _weighted(self.schema, names)).combine_chunks()


def weighted_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of a relation's weighted rows."""
    return arrow_schema(schema).append(pa.field(WEIGHT, pa.int8()))


def _weighted(schema: Schema, names: Sequence[str] | None) -> pa.Schema:
    whole = weighted_schema(schema)
    return whole if names is None else pa.schema([whole.field(name) for name in (*names, WEIGHT)])


def _typed(batch: pa.RecordBatch, wanted: pa.Schema, *, negated: bool) -> pa.RecordBatch:
    table = pa.Table.from_batches([batch]).select(wanted.names).cast(wanted)
    if negated:
        turned = pc.negate(table.column(WEIGHT))
        table = table.set_column(table.num_columns - 1, WEIGHT, turned)
    return table.combine_chunks().to_batches()[0]
