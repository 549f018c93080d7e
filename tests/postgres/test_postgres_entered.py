"""How the log remembers a table, in the form of today and in those before.

Oracle: the table itself.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from headwater.log.manifest import LoggedTable
from headwater.schema import Column, Schema
from headwater.sources.postgres.before import before_of
from headwater.sources.postgres.catalog import ServerColumn, ServerTable
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.entered import is_new, logged_table, matched
from headwater.sources.postgres.options import INITIAL
from headwater.sources.postgres.types import ServerType

SCHEMA = Schema((Column("id", "int"), Column("shard", "string")), ("id",))
TABLE = CaptureTable("t", SCHEMA, "public", "t_1", INITIAL)
NAMED = replace(TABLE, metadata={"shard": "table_name"})
SHARD = replace(NAMED, of=("public", "t_.*"), oid=7)
FOUND = ServerTable(
    7, "public", "t_1", "r", False, ("id",), (ServerColumn("id", 23, ServerType("int4"), False, 1),), None
)


@pytest.mark.parametrize("table", [TABLE, NAMED, SHARD])
def test_a_table_is_known_again(table: CaptureTable) -> None:
    pair = Pair(table, FOUND)
    logged = logged_table(pair, 5)
    assert not is_new(pair, {"t": logged}, None)
    found, before = matched(logged), before_of(logged)
    assert (found.oid, found.shown) == (7, "public.t_1")
    assert (before.oid, before.columns, before.is_keyed) == (7, FOUND.columns, True)
    others = [other for other in (TABLE, NAMED, SHARD) if other is not table]
    assert all(is_new(Pair(other, FOUND), {"t": logged}, None) for other in others)
    assert is_new(Pair(table, replace(FOUND, name="t_2")), {"t": logged}, None)


@pytest.mark.parametrize(
    ("table", "beside"), [(TABLE, []), (NAMED, [{"shard": "table_name"}])], ids=["plain", "metadata"]
)
def test_a_table_that_an_older_version_has_read_is_known(table: CaptureTable, beside: list[object]) -> None:
    logged = LoggedTable("t", SCHEMA, json.dumps(["public", "t_1", 7, *beside]), 5)
    assert not is_new(Pair(table, FOUND), {"t": logged}, None)
    before = before_of(logged)
    assert (before.oid, before.columns, before.is_keyed) == (7, (), False)
