"""What the tests of the lake sinks share: twenty transactions and the rows after each, sink tables, all types."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from headwater.options import read_options
from headwater.schema import Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.registry import SINK_TYPES
from tests.ends.postgres_world import schema

KINDS = ("delta", "iceberg")
BATCHES = 20

Order = dict[str, Any]

SCRIPT = """
SET 'pipeline.name' = 'lake';
CREATE TABLE orders (id INT, customer STRING, qty INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE in_delta (id INT, customer STRING, qty INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'delta', 'table-path' = '{folder}/delta/orders');
CREATE TABLE in_iceberg (id INT, customer STRING, qty INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'catalog-type' = 'hadoop', 'warehouse' = '{folder}/warehouse',
      'catalog-database' = 'shop', 'catalog-table' = 'orders');
CREATE VIEW big AS SELECT id, customer, qty FROM orders WHERE qty > 2;
INSERT INTO in_delta SELECT * FROM big;
INSERT INTO in_iceberg SELECT * FROM big;
"""


def transactions() -> list[tuple[list[tuple[str, Order]], dict[int, Order]]]:
    """Twenty transactions of inserts, updates, deletes and key changes, and all rows after each."""
    chance, rows, made = random.Random(7), dict[int, Order](), []
    for number in range(1, BATCHES + 1):
        before = dict(rows)
        if number % 5 == 0:
            rows = {key + 1: {**row, "id": key + 1} for key, row in rows.items()}
        for key in chance.sample(sorted(rows), min(len(rows), 3)):
            rows[key] = {**rows[key], "qty": chance.randrange(9), "customer": chance.choice("ab") + "é"}
        for key in chance.sample(sorted(rows), min(len(rows), 2)):
            del rows[key]
        for key in range(number * 100, number * 100 + 4):
            rows[key] = {"id": key, "customer": chance.choice([None, "", "o'hara"]), "qty": 3 + key % 5}
        gone = [("-", row) for row in before.values() if row not in rows.values()]
        come = [("+", row) for row in rows.values() if row not in before.values()]
        made.append(([*gone, *come], dict(rows)))
    return made


def expected() -> list[list[Any]]:
    """The rows of the view after all transactions, in order."""
    last = transactions()[-1][1]
    return sorted([row["id"], row["customer"], row["qty"]] for row in last.values() if row["qty"] > 2)


def lake_table(
    kind: str, folder: Path, declared: Schema, *, append_only: bool = False, **options: str
) -> SinkTable:
    """A sink table `folder.name` of a lake; options are written with underscores for dashes and `__` for dots."""
    given: Mapping[str, str] = {"table-path": str(folder)}
    if kind == "iceberg":
        given = {
            "catalog-type": "hadoop",
            "warehouse": str(folder.parent.parent),
            "catalog-database": folder.parent.name,
            "catalog-table": folder.name,
        }
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    read: Any = read_options(
        SINK_TYPES[kind].options, {**given, **named}, owner=f"connector '{kind}'", place=None
    )
    return SinkTable(folder.name, declared, read, append_only)


ALL_TYPES = schema(
    "id int, yes boolean, tiny tinyint, small smallint, large bigint, f float, d double, n decimal(38,10), "
    "text string, bytes binary, day date, local timestamp_ntz, instant timestamp, list array<tinyint>, "
    "deep array<struct<a:smallint,b:array<string>>>, pairs map<string,decimal(5,2)>, "
    "nested struct<x:int,y:struct<z:timestamp_ntz>>",
    "id",
)


def typed_rows() -> list[dict[str, Any]]:
    """A row with a value in every column, one with extremes, one with nothing but its key."""
    full = {
        "id": 1,
        "yes": True,
        "tiny": -128,
        "small": 32767,
        "large": -(2**63),
        "f": 1.5,
        "d": float("inf"),
        "n": Decimal("1234567890123456789012345678.0123456789"),
        "text": "naïve\n\t'\"`\\ 🐟",
        "bytes": b"\x00\xff",
        "day": date(1, 1, 1),
        "local": datetime(9999, 12, 31, 23, 59, 59, 999999),
        "instant": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=ZoneInfo("UTC")),
        "list": [1, None, -128],
        "deep": [{"a": 7, "b": ["x", None]}, None],
        "pairs": [("a", Decimal("1.25")), ("b", None)],
        "nested": {"x": None, "y": {"z": datetime(2024, 2, 29, 1, 2, 3, 4)}},
    }
    empty = {**full, "id": 2, "text": "", "bytes": b"", "list": [], "deep": [], "pairs": [], "d": -0.0}
    return [full, empty, {**dict.fromkeys(full), "id": 3}]
