"""The columns that Spark sees: those of `CHANGES(t)`, and beside them what the log left out."""

from __future__ import annotations

from pyspark.sql.types import StructType

from headwater.errors import OptionError
from headwater.nearest import did_you_mean
from headwater.schema import Column, Schema, sql_type
from headwater.spark.types import type_text

BEFORE, AFTER = "before", "after"
_ROWS = (BEFORE, AFTER)

COLUMNS = {
    "op": "string",
    BEFORE: "",
    AFTER: "",
    "position": "string",
    "transaction_id": "string",
    "committed_at": "timestamp",
    "appended_at": "timestamp",
    "sequence": "bigint",
    "unchanged": "array<string>",
}
"""Names and types; those of the two rows are the table's own."""


def ddl(schema: Schema) -> str:
    """The columns for a table, in the form that Spark reads a schema from."""
    fields = ", ".join(f"{_quoted(column.name)}: {sql_type(column.type)}" for column in schema)
    row = f"STRUCT<{fields}>"
    return ", ".join(f"{name} {row if name in _ROWS else sql_type(kind)}" for name, kind in COLUMNS.items())


def table_columns(wanted: StructType) -> Schema:
    """The table's own columns, as they stand in a schema of ours or of a user."""
    for field in wanted.fields:
        kind = type_text(field.dataType)
        if field.name not in COLUMNS:
            raise OptionError(
                f"the data source has no column '{field.name}'",
                detail=f"Its columns are {', '.join(COLUMNS)}.",
                hint=did_you_mean(
                    field.name, COLUMNS, otherwise="The table's own columns are in before and after."
                ),
            )
        if field.name not in _ROWS and kind != COLUMNS[field.name]:
            raise OptionError(
                f"column '{field.name}' of the data source is no {kind}",
                hint=f"Its type is {COLUMNS[field.name]}.",
            )
    rows = [field.dataType for field in wanted.fields if field.name in _ROWS]
    if not rows or not isinstance(rows[0], StructType) or any(row != rows[0] for row in rows):
        raise OptionError(
            "the schema does not say which columns the table has",
            detail="They are the fields of before and after, which are alike.",
            hint="Give after STRUCT<...>, or leave the schema away: then it is that of the table.",
        )
    return Schema(tuple(Column(field.name, type_text(field.dataType)) for field in rows[0].fields))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
