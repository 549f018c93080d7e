"""Messages made by hand, and what Spark makes of them by a decoding query."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.formats.decode import Reading, decoding
from headwater.formats.options import FormatOptions, formats_of
from headwater.log.events import message_schema
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.services.java import java_home
from headwater.spark.session import open_session
from headwater.spark.text import to_text

Bytes = str | bytes | None
Message = Bytes | tuple[Bytes, Bytes]
"""A value, or a key and a value."""

OWN = "__hw_"
PLACEHOLDER = "__debezium_unavailable_value"

POSTGRES: dict[str, Any] = {
    "version": "3.6.3.Final",
    "connector": "postgresql",
    "name": "pg",
    "ts_ms": 1700000000123,
    "snapshot": "false",
    "db": "postgres",
    "sequence": '["24023119","24023128"]',
    "schema": "public",
    "table": "t",
    "txId": 555,
    "lsn": 24023128,
    "xmin": None,
}
MYSQL: dict[str, Any] = {
    "version": "3.6.1.Final",
    "connector": "mysql",
    "name": "my",
    "ts_ms": 1700000000000,
    "snapshot": "false",
    "db": "shop",
    "table": "t",
    "server_id": 1,
    "gtid": None,
    "file": "mysql-bin.000003",
    "pos": 154,
    "row": 2,
    "thread": 7,
}


def spark() -> SparkSession:
    """The session of this process."""
    return open_session(java_home(), name="formats")


def messages(said: Sequence[Message], *, headers: Any = None) -> pa.Table:
    """Messages of one partition, numbered from zero."""
    pairs = [message if isinstance(message, tuple) else (None, message) for message in said]
    raw = [tuple(part.encode() if isinstance(part, str) else part for part in pair) for pair in pairs]
    count, at = len(raw), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    columns: dict[str, list[Any]] = {
        "topic": ["orders"] * count,
        "partition": [3] * count,
        "offset": list(range(count)),
        "timestamp": [at] * count,
        "timestampType": [1] * count,
        "key": [key for key, _ in raw],
        "value": [value for _, value in raw],
        "headers": [headers] * count,
    }
    return pa.table([pa.array(columns[f.name], f.type) for f in message_schema()], schema=message_schema())


def reading(columns: dict[str, str], *, key: tuple[str, ...] = (), **given: Any) -> Reading:
    """What is to be read of a table; options stand in `options`, METADATA columns in `metadata`, the kind in `kind`."""
    schema = Schema(tuple(Column(name, kind) for name, kind in columns.items()), key)
    metadata, kind = given.get("metadata", {}), given.get("kind", "append")
    options = read_options(FormatOptions, given["options"], owner="the test", place=None)
    formats = formats_of(options, schema, place=None, upsert=kind == "upsert", metadata=metadata)
    return Reading(schema, formats, metadata, kind)


def rows_of(query: exp.Query, table: pa.Table) -> list[dict[str, Any]]:
    """The rows a query gives, in the order of events."""
    session = spark()
    session.createDataFrame(table).coalesce(1).createOrReplaceTempView("messages")
    made = session.sql(to_text(query)).toArrow()
    return sorted(made.to_pylist(maps_as_pydicts="strict"), key=lambda row: row["__hw_seq"])


def decoded(read: Reading, said: Sequence[Message], *, headers: Any = None) -> list[dict[str, Any]]:
    """The events of some messages."""
    return rows_of(decoding(read), messages(said, headers=headers))


def own(row: dict[str, Any]) -> dict[str, Any]:
    """The table's own columns of an event that are not NULL."""
    return {name: value for name, value in row.items() if not name.startswith(OWN) and value is not None}


def told(rows: list[dict[str, Any]]) -> list[tuple[int, str | None, dict[str, Any]]]:
    """Of each event the number of its message, its kind, and its columns that are not NULL."""
    return [(row["__hw_offset"], row["__hw_kind"], own(row)) for row in rows]


def complaints(rows: list[dict[str, Any]]) -> dict[int, str]:
    """The errors by the number of the message."""
    return {row["__hw_offset"]: row["__hw_error"] for row in rows if row["__hw_error"] is not None}


def unscaled(number: int) -> str:
    """A number as Kafka Connect writes decimals: base64 of its bytes in two's complement."""
    size = max(1, (number.bit_length() + 8) // 8)
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def event(op: str, before: Any = None, after: Any = None, **given: Any) -> str:
    """An event without its schema; `source` is Postgres unless another is given."""
    said = {"before": before, "after": after, "source": given.pop("source", POSTGRES), "op": op}
    return json.dumps(said | {"ts_ms": 1700000000500, "transaction": None} | given, ensure_ascii=False)


def enveloped(said: str, fields: list[dict[str, Any]]) -> str:
    """An event with its schema: `fields` are those of a row."""
    row = {"type": "struct", "fields": fields, "optional": True, "name": "pg.public.t.Value"}
    schema = {
        "type": "struct",
        "fields": [row | {"field": "before"}, row | {"field": "after"}, {"type": "string", "field": "op"}],
        "optional": False,
        "name": "pg.public.t.Envelope",
    }
    return json.dumps({"schema": schema, "payload": json.loads(said)})


def field(name: str, kind: str, meaning: str | None = None, **parameters: str) -> dict[str, Any]:
    """One field of a schema as Kafka Connect writes it."""
    found: dict[str, Any] = {"type": kind, "optional": True, "field": name}
    if meaning is not None:
        found |= {"name": meaning, "version": 1}
    return found | ({"parameters": parameters} if parameters else {})
