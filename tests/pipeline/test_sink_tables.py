"""Tables of sinks that go, and keys that are made of several values.

Oracle: the table of the source, row by row.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headwater.errors import SinkError
from headwater.sources.values import store
from tests.pipeline.world import pipeline, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COLUMNS = "(id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"


def test_a_table_that_was_written_and_is_gone_is_not_made_anew(database: Database, folder: Path) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    text = (
        source(database, "t", COLUMNS)
        + sink(database, "made", COLUMNS, sink__create_table="true")
        + "INSERT INTO made SELECT id, v FROM t;\n"
    )
    with pipeline(text, folder) as running:
        running.run_once()
    assert database.run("SELECT count(*) FROM made") == [(2,)]
    database.run("ALTER TABLE made RENAME TO aside; UPDATE t SET v = 'c' WHERE id = 1")
    with pytest.raises(SinkError) as raised, pipeline(text, folder):
        pass
    assert raised.value.message == "sink table 'made' is gone"
    assert "headwater drop" in (raised.value.hint or "") and raised.value.place is not None
    database.run("ALTER TABLE aside RENAME TO made")
    with pipeline(text, folder) as again:
        again.run_once()
    assert database.run("SELECT id, v FROM made ORDER BY id") == [(1, "c"), (2, "b")]


def test_a_key_may_be_a_row(folder: Path) -> None:
    text = (
        "SET 'pipeline.name' = 'rows as keys';\n"
        "CREATE TABLE s (id INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');\n"
        "CREATE TABLE o (k ROW<a STRING, b ARRAY<INT>>, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)"
        " WITH ('connector' = 'values');\n"
        "INSERT INTO o SELECT k, COUNT(*) FROM"
        " (SELECT CAST(ROW(v, ARRAY[n]) AS ROW<a STRING, b ARRAY<INT>>) AS k FROM s) AS x GROUP BY k;\n"
    )
    rows = store("rows as keys")
    with pipeline(text, folder) as running:
        for number in (1, 2):
            rows.append({"s": pa.table({"id": pa.array([number], pa.int32()), "v": ["x"], "n": [7]})})
            running.run_once()
        found = running.rows("insert_o").to_pylist()
    assert found == [{"k": {"a": "x", "b": [7]}, "c": 2}]
