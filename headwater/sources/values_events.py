"""Changes as a person writes them, turned into events.

    ("+", {"id": 1, "n": 2})   a whole row comes
    ("-", {"id": 1, "n": 2})   a whole row goes
    ("u", {"id": 1, "n": 3})   the row of this key is now so
    ("d", {"id": 1})           the row of this key is gone
    ("t", {})                  all rows are gone

An upsert that leaves a column out says that it did not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError
from headwater.log.events import DELETE, DELETE_KEY, INSERT, KIND, TRUNCATE, UNCHANGED, UPSERT, WEIGHTS
from headwater.nearest import nearest
from headwater.schema import WEIGHT, Schema, arrow_schema

Change = tuple[str, Mapping[str, object]]

KINDS = {"+": INSERT, "-": DELETE, "u": UPSERT, "d": DELETE_KEY, "t": TRUNCATE}
"""The kind of event behind each sign."""


def events_of(name: str, schema: Schema, said: Sequence[Change] | pa.Table) -> pa.Table:
    """The events of one table, typed, without position and order.

    An Arrow table is all inserts, unless it has a column `__hw_kind` that says otherwise.
    """
    if isinstance(said, pa.Table):
        return _of_arrow(schema, said)
    for sign, row in said:
        _check(name, schema, sign, row)
    kinds = pa.array([KINDS[sign] for sign, _ in said], pa.string())
    columns = [typed([row.get(field.name) for _, row in said], field.type) for field in arrow_schema(schema)]
    left_out = [
        [column for column in schema.names if column not in row] or None if sign == "u" else None
        for sign, row in said
    ]
    names = pa.array(left_out, pa.list_(pa.string()))
    return _with_kinds(pa.table(columns, schema=arrow_schema(schema)), kinds, names)


def typed(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """An Arrow array of a type; values may also be the text of what they mean: `typed(["1.50"], decimal)`."""
    written = [value for value in values if value is not None]
    if pa.types.is_string(kind) or not written or not all(isinstance(value, str) for value in written):
        return pa.array(values, kind)
    text = pa.array(values, pa.string())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        # Arrow wants a zone in the text; people mean UTC when they write none.
        return pa.array([_zoned(value) for value in text.to_pylist()], pa.string()).cast(kind)
    return text.cast(kind)


def _zoned(text: str | None) -> str | None:
    if text is None or text.endswith("Z") or "+" in text or text.count("-") > 2:
        return text
    return f"{text}Z"


def _of_arrow(schema: Schema, said: pa.Table) -> pa.Table:
    rows = said.select(list(schema.names)).cast(arrow_schema(schema))
    if KIND not in said.column_names:
        kinds = pa.repeat(INSERT, len(said))
    else:
        kinds = said.column(KIND).cast(pa.string()).combine_chunks()
        _check_kinds(kinds)
    return _with_kinds(rows, kinds, pa.nulls(len(said), pa.list_(pa.string())))


def _check_kinds(kinds: pa.Array) -> None:
    unknown = pc.unique(kinds.filter(pc.invert(pc.is_in(kinds, value_set=pa.array(WEIGHTS, pa.string())))))
    if len(unknown):
        raise SourceError(
            f"a column {KIND} holds {unknown[0].as_py()!r}",
            detail=f"The kinds of events are {', '.join(WEIGHTS)}.",
            hint="Leave the column out if all rows are new.",
        )


def _with_kinds(rows: pa.Table, kinds: pa.Array, left_out: pa.Array) -> pa.Table:
    known = pa.array(WEIGHTS.keys(), pa.string())
    weights = pa.array(WEIGHTS.values(), pa.int8()).take(pc.index_in(kinds, value_set=known))
    return rows.append_column(KIND, kinds).append_column(WEIGHT, weights).append_column(UNCHANGED, left_out)


def _check(name: str, schema: Schema, sign: str, row: Mapping[str, object]) -> None:
    if sign not in KINDS:
        raise SourceError(
            f"table '{name}' was handed a change with the sign '{sign}'",
            detail=f"The signs are {', '.join(KINDS)}.",
            hint="Use + for a row that comes and - for a row that goes.",
        )
    for column in row:
        if column not in schema.names:
            near = nearest(column, schema.names)
            raise SourceError(
                f"table '{name}' was handed a row with an unknown column '{column}'",
                detail=f"Its columns are {', '.join(schema.names)}.",
                hint=f"Did you mean '{near}'?" if near else "Leave it out, or declare it.",
            )
    if sign in "ud" and not schema.key:
        raise SourceError(
            f"table '{name}' was handed a change by key and has none",
            detail=f"The change is ({sign!r}, {dict(row)!r}).",
            hint="Declare PRIMARY KEY (...) NOT ENFORCED, or use + and - with whole rows.",
        )
    needed = {"+": schema.names, "-": schema.names, "u": schema.key, "d": schema.key, "t": ()}[sign]
    if missing := [column for column in needed if column not in row]:
        raise SourceError(
            f"table '{name}' was handed a row without column '{missing[0]}'",
            detail=f"The change is ({sign!r}, {dict(row)!r}).",
            hint="Write None for NULL.",
        )
