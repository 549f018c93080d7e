"""What the log tells beside the rows of a table, as columns of it.

    beside(op_ts, row_kind) of   begin 731, update (1, bob), commit       ->  (1, bob, 2026-01-01 12:00:00, +U)

All of it is of the change that made a row as it is. Names of tables are the same for all rows; the others differ from
change to change, so that a row that goes has to be taken back as it is stored: it is looked up by its key.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import Place
from headwater.log.events import UPDATED
from headwater.log.positions import Position
from headwater.log.text_values import typed_column
from headwater.schema import Column, Schema, arrow_type

OP_TS, ROW_KIND, LSN, TXID = "op_ts", "row_kind", "lsn", "txid"
TABLE_NAME, SCHEMA_NAME, DATABASE_NAME = "table_name", "schema_name", "database_name"

LOST = "lost"
"""What a column is taken from that can no longer be read: it is NULL from then on."""

CHANGING = frozenset({OP_TS, ROW_KIND, LSN, TXID})
"""What differs from change to change of one row."""

_MOMENT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Beside:
    """A column that is told beside the rows: which of the table's columns, taken from what, or the same for all rows."""

    place: int
    key: str
    constant: str | None = None


@dataclass(frozen=True)
class Told:
    """What is told of some events, one entry for each."""

    weights: pa.Array
    ops: pa.Array
    transactions: pa.Array
    committed: pa.Array
    commits: pa.Array
    """Where the commit stands, or, for first rows, the place in the log they are as of."""


def beside_column(beside: Beside, schema: Schema, told: Told, *, table: str, place: Place | None) -> pa.Array:
    """The values of one such column, typed as it is declared."""
    column = schema.columns[beside.place]
    if beside.key == LOST:
        return pa.nulls(len(told.ops), arrow_type(column.type))
    if beside.key == OP_TS:
        # A first row was made by no change: as in Flink it has the first moment of all.
        moments = pc.fill_null(told.committed, pa.scalar(0, _MOMENT))
        return moments.cast(arrow_type(column.type))
    family = "number" if beside.key == TXID else "text"
    return typed_column(_texts(beside, told), column, family=family, table=table, place=place)


def _texts(beside: Beside, told: Told) -> pa.Array:
    if beside.constant is not None:
        return pa.repeat(beside.constant, len(told.ops))
    if beside.key == TXID:
        return told.transactions
    if beside.key == LSN:
        encoded = told.commits.dictionary_encode()
        shown = [str(Position(number, "lsn")) for number in encoded.dictionary.to_pylist()]
        return pa.array(shown, pa.string()).take(encoded.indices)
    is_update, comes = pc.equal(told.ops, UPDATED), pc.greater(told.weights, 0)
    return pc.if_else(comes, pc.if_else(is_update, "+U", "+I"), pc.if_else(is_update, "-U", "-D"))


def own_columns(schema: Schema, beside: tuple[Beside, ...]) -> tuple[Column, ...]:
    """The columns of a table that stand in its rows."""
    told = {one.place for one in beside}
    return tuple(column for place, column in enumerate(schema.columns) if place not in told)
