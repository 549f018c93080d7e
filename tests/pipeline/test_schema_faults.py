"""A table that changes at a bad moment: in a batch that is interrupted or too large for memory, and under a history.

Oracle: the same query in Postgres for what goes on; for what stopped, its answer before the change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.test_schema_changes import COLUMNS, OTHERS, USING, VIEWS, change_rows, check_others, make
from tests.pipeline.world import bag, pipeline, rows, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize(
    ("point", "most_runs"),
    [("batch planned", 24), ("batch planned", 1), ("sink written", 24), ("progress saved", 24)],
)
def test_a_batch_that_loses_a_column_can_be_interrupted(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, point: str, most_runs: int
) -> None:
    """Also while the runs of the table are merged that the batch has blanked already."""
    monkeypatch.setattr("headwater.runtime.compaction.MOST_RUNS", most_runs)

    def kill(passed: str) -> None:
        if passed == point:
            raise Killed

    script = make(database)
    with pipeline(script, folder) as running:
        running.run_once()
        database.run("UPDATE orders SET amount = 1000 WHERE id = 1")
        running.run_once()
        good = {name: rows(running, name) for name in USING}
        database.together("ALTER TABLE orders DROP COLUMN amount", "DELETE FROM orders WHERE id IN (1, 2)")
        change_rows(database)
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr("headwater.runtime.pipeline.pass_by", kill)
            running.run_once()
    with pipeline(script, folder) as running:
        running.run_once()
        check_others(running, database)
        assert {name: rows(running, name) for name in USING} == good
        assert set(running.stopped) == {*USING, "insert_sums"}
        assert bag(database, "SELECT * FROM sums") == good["totals"]


def test_a_change_too_large_for_memory_loses_a_column(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.log.store.SMALL_ROWS", 3)
    with pipeline(make(database), folder) as running:
        running.run_once()
        database.together(
            "INSERT INTO orders SELECT i, i % 3, i, 'x' FROM generate_series(200, 260) i",
            "UPDATE orders SET note = 'seen' WHERE id % 5 = 0",
            "ALTER TABLE orders DROP COLUMN amount",
            "DELETE FROM orders WHERE id % 2 = 0",
            "UPDATE orders SET customer = 0 WHERE id % 7 = 0",
        )
        running.run_once()
        check_others(running, database)
        database.run("UPDATE orders SET note = 'late' WHERE id % 3 = 0; DELETE FROM orders WHERE id % 11 = 0")
        running.run_once()
        check_others(running, database)
        assert set(running.stopped) == {*USING, "insert_sums"}


def test_the_changes_of_a_table_are_told_to_those_who_do_not_use_the_column(
    database: Database, folder: Path
) -> None:
    make(database)
    script = source(database, "orders", COLUMNS)
    script += (
        "CREATE VIEW amounts AS SELECT op, after.id AS id, after.amount AS amount FROM CHANGES(orders);\n"
    )
    script += "CREATE VIEW notes AS SELECT op, after.note AS note FROM CHANGES(orders) WHERE op <> 'r';\n"
    script += "CREATE VIEW told AS SELECT op, after FROM CHANGES(orders);\n"
    with pipeline(script, folder) as running:
        running.run_once()
        good = rows(running, "amounts")
        database.run("ALTER TABLE orders DROP COLUMN amount; UPDATE orders SET note = 'zz' WHERE id = 1")
        running.run_once()
        assert set(running.stopped) == {"amounts", "told"}
        assert rows(running, "amounts") == good
        assert rows(running, "notes") == {("u", "zz"): 1}


def test_a_view_that_is_new_cannot_use_what_is_lost(database: Database, folder: Path) -> None:
    script = make(database)
    with pipeline(script, folder) as running:
        running.run_once()
        database.run("ALTER TABLE orders DROP COLUMN amount; DELETE FROM orders WHERE id = 1")
        running.run_once()
    late = "CREATE VIEW late AS SELECT MAX(amount) AS most FROM orders;\n"
    with pipeline(script + late, folder) as running:
        change_rows(database)
        running.run_once()
        assert set(running.stopped) == {*USING, "insert_sums", "late"}
        assert tuple(name for name in VIEWS if name not in running.stopped) == OTHERS
        check_others(running, database)
