"""The binary log of a MySQL as a data source of Spark.

Oracle: the changes as they were made, written down by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import headwater
from headwater.services.java import java_home
from headwater.spark.session import open_session
from tests.mysql.world import Database
from tests.postgres.followed import Followed, brief

pytestmark = [pytest.mark.services, pytest.mark.jvm]


def test_rows_and_changes_are_read_like_those_of_postgres(database: Database, tmp_path: Path) -> None:
    database.run("CREATE TABLE people (id int PRIMARY KEY, name varchar(20))")
    database.run("INSERT INTO people VALUES (1, 'ann'), (2, 'bob')")
    spark = open_session(java_home(), name="data source")
    headwater.register(spark)
    given = {
        "connector": "mysql-cdc",
        "hostname": "127.0.0.1",
        "port": str(database.server.port),
        "username": database.server.user,
        "password": database.server.password,
        "database-name": database.name,
        "table-name": "people",
    }
    once = spark.read.format("headwater").options(**given).load()
    assert sorted(tuple(row) for row in once.select("op", "after.*").collect()) == [
        ("r", 1, "ann"),
        ("r", 2, "bob"),
    ]
    frame = spark.readStream.format("headwater").options(**given, state=str(tmp_path / "state")).load()
    query = Followed(frame, tmp_path / "checkpoint")
    query.run_available()
    database.together("UPDATE people SET id = 3 WHERE id = 1", "DELETE FROM people WHERE id = 2")
    query.run_available()
    assert sorted(brief(query.batches[0])) == [("r", None, (1, "ann")), ("r", None, (2, "bob"))]
    assert brief(query.batches[1]) == [("u", (1, "ann"), (3, "ann")), ("d", (2, "bob"), None)]
    assert len({(row.position, row.transaction_id) for row in query.batches[1]}) == 1
    assert len(query.batches) == 2 and query.repeats == 0
