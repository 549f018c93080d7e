"""Columns and their types, as Spark writes them, and what they are in Arrow.

A type is the text Spark itself prints for it: `int`, `decimal(10,2)`, `array<string>`, `timestamp_ntz`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

WEIGHT = "__hw_weight"
"""The column that says how often a row came (+1) or went (-1)."""

RESERVED_PREFIX = "__hw_"
"""Column names that start so belong to Headwater."""


@dataclass(frozen=True)
class Column:
    """One column: `Column("total", "decimal(10,2)")`."""

    name: str
    type: str


@dataclass(frozen=True)
class Schema:
    """The columns of a relation and the names of those that identify a row (none: rows may repeat)."""

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(column.name for column in self.columns)

    def find(self, name: str) -> Column | None:
        """The column of that name; case does not matter."""
        wanted = name.lower()
        return next((column for column in self.columns if column.name.lower() == wanted), None)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def to_json(self) -> dict[str, object]:
        """A form for saved state and other processes."""
        return {"columns": [[c.name, c.type] for c in self.columns], "key": list(self.key)}


def schema_from_json(said: dict[str, object]) -> Schema:
    """The schema that `Schema.to_json` wrote."""
    columns, key = said["columns"], said["key"]
    assert isinstance(columns, list) and isinstance(key, list)
    return Schema(tuple(Column(name, kind) for name, kind in columns), tuple(key))


def arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of a relation's columns, without a weight."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in schema])


def with_bounds(columns: pa.Schema) -> list[str]:
    """The columns of which a Parquet file may tell the least and the greatest value.

    Arrow leaves NaN out there. To Spark it is the greatest of all, so it would pass over files that have it.
    """
    return [field.name for field in columns if not pa.types.is_floating(field.type)]


_ATOMS: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def sql_type(kind: str) -> str:
    """How a type is written in SQL text, where a bare `timestamp` means the one without a zone, as in Flink."""
    return re.sub(r"(?<![\w`])timestamp(?![\w`:])", "timestamp_ltz", kind)


def is_number(kind: str) -> bool:
    """True for whole, floating and decimal numbers."""
    return kind.split("(")[0] in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def can_keep(kind: str) -> bool:
    """True if State can hold values of a Spark type."""
    try:
        arrow_type(kind)
    except ValueError:
        return False
    return True


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type of a Spark type: `arrow_type("array<int>")` is `list<int32>`."""
    atom = _ATOMS.get(kind)
    if atom is not None:
        return atom
    if kind.startswith(("time(", "interval", "variant", "geography", "geometry")):
        raise ValueError(f"no Arrow type is known for {kind}")
    try:
        return _arrow_of(sqlglot.parse_one(kind, into=exp.DataType, dialect="spark"))
    except ParseError as problem:
        raise ValueError(f"no Arrow type is known for {kind}") from problem


def _arrow_of(node: exp.Expr) -> pa.DataType:
    assert isinstance(node, exp.DataType)
    inner = node.expressions
    match node.this:
        case exp.DataType.Type.DECIMAL:
            precision, scale = ([int(p.name) for p in inner] + [10, 0])[:2] if inner else (10, 0)
            return pa.decimal128(precision, scale)
        case exp.DataType.Type.ARRAY | exp.DataType.Type.LIST:
            return pa.list_(_arrow_of(inner[0]))
        case exp.DataType.Type.MAP:
            return pa.map_(_arrow_of(inner[0]), _arrow_of(inner[1]))
        case exp.DataType.Type.STRUCT:
            return pa.struct([pa.field(f.this.name, _arrow_of(f.args["kind"])) for f in inner])
    atom = _ATOMS.get(node.sql(dialect="spark").lower())
    if atom is None:
        raise ValueError(f"no Arrow type is known for {node.sql(dialect='spark')}")
    return atom
