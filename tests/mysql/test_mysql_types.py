"""A value is the same whether it came with the first rows or with a change, for every type and in two zones.

The zones are those of servers: one runs in UTC, the other in New York. What is put in is what their clocks show.
Oracle: the value that was put in, written by hand, what the server shows of JSON, and each way against the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SourceError
from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer
from headwater.services.mysql_server import MysqlFamilyServer
from tests.mysql.kinds import KINDS
from tests.mysql.world import Database, World, server_folder
from tests.postgres.world import brief, read_now, rows_of
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

UTC_ZONE, NEW_YORK = "UTC", "America/New_York"
RULES = "EST5EDT,M3.2.0,M11.1.0"
"""New York for a server, which has no names of zones."""


@contextmanager
def in_new_york(made: MysqlFamilyServer) -> Iterator[SharedMysql]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", RULES)
        made.start()
    try:
        yield SharedMysql(made.port, made.user, made.password)
    finally:
        made.kill()


@pytest.fixture(scope="module")
def far_mysql() -> Iterator[SharedMysql]:
    """A server whose clock is that of New York."""
    with server_folder() as folder, in_new_york(MysqlServer(folder, settings={"server-id": "3"})) as server:
        yield server


@pytest.fixture(scope="module")
def far_mariadb() -> Iterator[SharedMysql]:
    """The same of the other kind."""
    with server_folder() as folder, in_new_york(MariadbServer(folder, settings={"server-id": "3"})) as server:
        yield server


@pytest.fixture(params=["far_mysql", "far_mariadb"])
def far(request: pytest.FixtureRequest) -> Iterator[Database]:
    """An empty database of each in turn."""
    made = Database(request.getfixturevalue(request.param))
    yield made
    made.close()


def insert(database: Database, number: int, values: dict[str, str]) -> None:
    """Put a row in by hand."""
    names = ", ".join(f"`{name}`" for name in values)
    database.run(f"INSERT INTO t (id, {names}) VALUES ({number}, {', '.join(values.values())})")


def rows_by_id(said: Any) -> dict[int, dict[str, Any]]:
    """The inserted rows of table t."""
    found = [row for delivery in said if "t" in delivery.tables for row in rows_of(delivery.tables["t"])]
    assert all(row["__hw_kind"] == "insert" for row in found)
    return {row["id"]: {name: v for name, v in row.items() if not name.startswith("__hw")} for row in found}


def wanted(database: Database, name: str, number: int, *, value: Any, far: bool) -> Any:
    """What is to be read of what was put in."""
    if value == "AS SHOWN":
        return database.run(f"SELECT `{name}` FROM t WHERE id = {number}")[0][0]
    if far and isinstance(value, datetime) and value.tzinfo is not None:
        # When a clock in New York shows it, it is later than when one in UTC does.
        return value + timedelta(hours=4 if value.month == 7 else 5)
    return value


@pytest.mark.parametrize("zone", [UTC_ZONE, NEW_YORK])
@pytest.mark.parametrize("kind", ["mysql", "mariadb"])
def test_snapshot_and_stream_give_equal_values(
    request: pytest.FixtureRequest, world: World, kind: str, zone: str
) -> None:
    far = zone == NEW_YORK
    database = Database(request.getfixturevalue(f"far_{kind}" if far else kind))
    columns = ", ".join(f"`{name}` {kind}" for name, (kind, _, _) in KINDS.items())
    database.run(
        "SET SESSION sql_mode = ''",
        f"CREATE TABLE t (id int PRIMARY KEY, {columns}) CHARACTER SET utf8mb4",
    )
    longest = max(len(values) for _, _, values in KINDS.values())
    rows = [
        {
            name: (values[place] if place < len(values) else ("NULL", None))
            for name, (_, _, values) in KINDS.items()
        }
        for place in range(longest)
    ] + [dict.fromkeys(KINDS, ("NULL", None))]
    for number, row in enumerate(rows):
        insert(database, number, {name: sql for name, (sql, _) in row.items()})
    declared = ", ".join(["id int", *(f"{name} {kind}" for name, (_, kind, _) in KINDS.items())])
    # A server in UTC says so itself.
    told = {"server_time_zone": zone} if far else {}
    with world.source(database.table("t", declared, "id", **told)) as source:
        first = read_now(source)
        for number, row in enumerate(rows):
            insert(database, 100 + number, {name: sql for name, (sql, _) in row.items()})
        then = read_now(source, after=first[-1].position)
    snapshot, stream = rows_by_id(first), rows_by_id(then)
    for number, row in enumerate(rows):
        for name, (sql, value) in row.items():
            right = wanted(database, name, number, value=value, far=far)
            for found in (snapshot[number][name], stream[100 + number][name]):
                if isinstance(right, dict):
                    found = json.loads(found)
                assert found == right, (name, sql)
    database.close()


def test_a_clock_that_is_not_what_its_name_says_is_refused(
    far: Database, world: World, tmp_path: Path
) -> None:
    """In winter the server in New York calls its zone EST, which as a zone has no summer."""
    far.run("CREATE TABLE t (id int PRIMARY KEY, m timestamp(0) NULL, l datetime)")
    far.run("INSERT INTO t VALUES (1, '2020-07-01 12:30:15', '2020-07-01 12:30:15')")
    for columns in ("id int, m string", "id int, l timestamp"):
        with pytest.raises(SourceError) as caught, world.source(far.table("t", columns, "id")):
            pass
        assert "of the server's clock" in caught.value.message
        assert "'server-time-zone'" in (caught.value.hint or "")
    # What does not depend on the clock needs no zone.
    moments = "id int, m timestamp, l timestamp_ntz"
    with World(tmp_path / "moments").source(far.table("t", moments, "id")) as source:
        said = read_now(source)
    noon = datetime(2020, 7, 1, 12, 30, 15)
    assert brief(said, "t") == [("insert", 1, noon.replace(tzinfo=UTC) + timedelta(hours=4), noon)]
    far.run("SET GLOBAL time_zone = '-04:00'")
    try:
        with World(tmp_path / "fixed").source(far.table("t", "id int, m string", "id")) as source:
            said = read_now(source)
    finally:
        far.run("SET GLOBAL time_zone = 'SYSTEM'")
    assert brief(said, "t") == [("insert", 1, "2020-07-01 12:30:15")]
