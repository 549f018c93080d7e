"""Several processes read first rows while others work at the server.

Oracle: the rows that the server shows at that moment.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from contextlib import closing

import pytest

from headwater.sources.base import Report
from headwater.sources.postgres.config import config_of
from headwater.sources.postgres.connect import connect, connect_replication
from headwater.sources.postgres.server import create_slot
from headwater.sources.postgres.snapshot import Snapshot
from tests.postgres.copying import T, copying, fill
from tests.postgres.world import Database, World, wait_for

pytestmark = pytest.mark.services


@pytest.mark.usefixtures("many_parts")
def test_who_waits_to_change_a_table_does_not_stop_its_readers(database: Database, world: World) -> None:
    """Whoever reads a table for the first time stands behind the change, and that behind the one who starts readers."""
    fill(database)
    database.run("CREATE TABLE u AS SELECT * FROM t; ALTER TABLE u ADD PRIMARY KEY (id)")
    waits = "SELECT 1 FROM pg_locks WHERE relation = 'u'::regclass AND NOT granted AND mode = 'AccessExclusiveLock'"
    told: list[str] = []

    def change() -> None:
        with database.client() as client, client.cursor() as cursor:
            cursor.execute("SET lock_timeout = '120s'; ALTER TABLE u ADD x int")
            client.commit()
            told.append("changed")

    changing = threading.Thread(target=change)

    def begin_change(report: Report) -> None:
        if changing.ident is None:
            changing.start()
            wait_for(lambda: bool(database.run(waits)))

    tables = [database.table(*T), database.table("u", *T[1:])]
    with copying(database, world, *tables) as copied:
        copied.heard = begin_change
        copied.run()
        changing.join()
        assert told == ["changed"], "it waited until the time was up"
        for name in ("t", "u"):
            assert Counter(copied.rows(name)) == Counter(database.run(f"SELECT id, n, word FROM {name}"))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("setting", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_who_holds_the_moment_of_first_rows_may_say_nothing_for_long(
    database: Database, world: World, setting: str
) -> None:
    fill(database, 10)
    database.run(f"ALTER DATABASE {database.name} SET {setting} = '50ms'")
    address = config_of([database.table(*T)], world.context, after=None).address
    with closing(connect_replication(address)) as holder:
        _, name = create_slot(holder, "holder", temporary=True)
        for_long = (
            "SELECT state_change < clock_timestamp() - interval '500 ms' FROM pg_stat_activity WHERE pid = %s"
        )
        pid = holder.info.backend_pid
        wait_for(lambda: database.run(for_long, pid) in ([(True,)], []))
        Snapshot(connect(address), name).close()


@pytest.mark.usefixtures("many_parts")
def test_readers_see_the_moment_also_when_who_made_it_has_gone(database: Database, world: World) -> None:
    fill(database)
    expected = Counter(database.run("SELECT * FROM t"))
    gone: list[bool] = []
    with copying(database, world, database.table(*T)) as copied:

        def end(report: Report) -> None:
            if not gone:
                gone.append(True)
                copied.end_moment()
                database.run("DELETE FROM t WHERE id % 2 = 0")

        copied.heard = end
        copied.run()
        assert Counter(copied.rows("t")) == expected
