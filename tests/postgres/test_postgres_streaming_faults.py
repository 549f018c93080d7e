"""Transactions that the server sends before they are committed, when something breaks on the way.

Oracle: the rows of the table at the end, and what the server and the log say of how far they are.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import psycopg2.errors
import pytest

from headwater.log.events import Delivery
from headwater.log.manifest import Manifest
from headwater.sources.postgres.config import CaptureConfig, config_of, log_folder
from headwater.sources.postgres.connect import connect_replication
from tests.postgres.captures import captured
from tests.postgres.streams import MUCH, fill, stream_early, was_streamed
from tests.postgres.world import Database, World, bag, events, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, note string"


@pytest.fixture(autouse=True)
def table(database: Database) -> None:
    """A table that logs whole rows; the server streams early."""
    database.run("CREATE TABLE t (id int PRIMARY KEY, note text); ALTER TABLE t REPLICA IDENTITY FULL")
    stream_early(database)


def test_what_the_server_cannot_read_before_the_commit_is_read_after_it(
    database: Database, world: World
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        with database.client() as client, client.cursor() as cursor:
            fill(cursor)
            cursor.execute("SAVEPOINT s; ALTER TABLE t DROP COLUMN note; ALTER TABLE t ADD COLUMN other int")
            cursor.execute("INSERT INTO t SELECT i, i FROM generate_series(10000, 13000) i")
            cursor.execute("ROLLBACK TO s")
            fill(cursor, first=101)
            cursor.execute("ALTER TABLE t RENAME note TO old; ALTER TABLE t ADD COLUMN note text")
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, 'n' FROM generate_series(201, 300) i")
            client.commit()
        said = read_now(source)
    # Of the two servers only 18 fails; if it learns to read this, the way back has to be tried with something else.
    ((newest,),) = database.run("SELECT current_setting('server_version_num')::int >= 180000")
    assert ("streaming" in [report.stage for report in world.reports]) == newest
    found = [(row["id"], len(row["note"])) for row in events(said, "t")]
    assert found == [*((i, 1_280) for i in range(1, 201)), *((i, 1) for i in range(201, 301))]


def test_a_capture_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    database: Database, world: World
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        with database.client() as client, client.cursor() as cursor:
            for step in range(2):
                # More than is held: some of it is in the capture's file when that is killed.
                fill(cursor, first=100_000 * step, count=26_000)
                database.run("INSERT INTO t VALUES (%s, 'small')", -1 - step)
                wait_for(lambda: _open_bytes(source.capture_pid) > 1_000_000)
                killed = source.capture_pid
                os.kill(killed, signal.SIGKILL)
                wait_for(lambda killed=killed: source.capture_pid != killed)  # type: ignore[misc]  # bound in the loop
                said += read_now(source, after=said[-1].position)
            assert [row["id"] for row in events(said, "t")] == [-1, -2]
            client.commit()
        said += read_now(source, after=said[-1].position)
        named = Manifest(log_folder(world.context))
        assert {path.name for path in log_folder(world.context).glob("*.parquet")} == named.files()
        named.close()
        wait_for(lambda: _open_bytes(source.capture_pid) == 0)
    found = Counter(row["id"] for row in events(said, "t"))
    assert found == Counter(id for (id,) in database.run("SELECT id FROM t"))


def _open_bytes(pid: int) -> int:
    """How much a process has in files that have no name."""
    found = 0
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        # A process may close a file, or end, while it is looked at.
        try:
            found += link.stat().st_size if str(link.readlink()).endswith("(deleted)") else 0
        except OSError:
            continue
    return found


def test_what_the_server_was_told_never_passes_what_is_durable(database: Database, world: World) -> None:
    confirmed = (
        "SELECT (confirmed_flush_lsn - '0/0'::pg_lsn)::int8 FROM pg_replication_slots"
        " WHERE database = current_database()"
    )
    table = database.table("t", COLUMNS, "id")
    log, said = None, list[Delivery]()
    with database.client() as client, client.cursor() as cursor:
        for life in range(3):
            with world.source(table, after=said[-1].position if said else None) as source:
                log = log or Manifest(log_folder(world.context))
                for step in range(10):
                    number = 1_000 * life + 20 * step
                    database.run("INSERT INTO t VALUES (%s, 'small')", -1 - number)
                    # After a piece of it the server tells where it stands itself, beyond what was confirmed.
                    fill(cursor, first=number, count=20)
                    database.run("CREATE TABLE other AS SELECT generate_series(1, 100); DROP TABLE other")
                    ((told,),), durable = database.run(confirmed), log.number("last")
                    assert durable is not None and told <= durable
                said += read_now(source, after=said[-1].position if said else None)
            assert was_streamed(database)
        client.commit()
    with world.source(table, after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert log is not None
    log.close()
    assert bag(said, "t") == Counter(database.run("SELECT id, note FROM t"))


class Stumbling:
    """Stands for a stream: the first one of a test fails as it is told, the second one ends it."""

    fails: ClassVar[Callable[[CaptureConfig], BaseException]]
    runs: ClassVar[list[bool]]

    def __init__(self, config: CaptureConfig, *_: object, early: bool = True, **__: object) -> None:
        self.config, self.early = config, early

    def run(self, opened_up: Callable[[], None]) -> None:
        """Fail, the second time as if the connection was lost."""
        Stumbling.runs.append(self.early)
        raise Stumbling.fails(self.config) if self.early else psycopg2.OperationalError("the end")


@pytest.fixture
def stumbling(monkeypatch: pytest.MonkeyPatch) -> type[Stumbling]:
    """Captures whose stream fails."""
    monkeypatch.setattr("headwater.sources.postgres.capture.Stream", Stumbling)
    Stumbling.runs = []
    return Stumbling


def test_only_what_the_server_cannot_read_is_a_reason_to_wait_for_the_commit(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, stumbling: type[Stumbling]
) -> None:
    stumbling.fails = lambda _: psycopg2.errors.DataCorrupted("a page is broken")
    config = config_of([database.table("t", COLUMNS, "id")], world.context, after=None)
    with captured(config, monkeypatch) as ended:
        wait_for(lambda: bool(ended))
    assert stumbling.runs == [True] and "a page is broken" in vars(ended[0])["detail"]


def test_the_second_try_waits_until_the_slot_of_the_first_is_free(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, stumbling: type[Stumbling]
) -> None:
    held: list[Any] = []

    def fail_and_hold(config: CaptureConfig) -> BaseException:
        held.append(connect_replication(config.address))
        held[0].cursor().start_replication(
            slot_name=config.slot,
            decode=False,
            options={"proto_version": "1", "publication_names": config.publication},
        )
        failed: BaseException = psycopg2.errors.InternalError_("cannot be read")
        return failed

    def let_go(event: str, **told: Any) -> None:
        if told.get("stage") == "waiting":
            held[0].close()

    stumbling.fails = fail_and_hold
    config = config_of([database.table("t", COLUMNS, "id")], world.context, after=None)
    monkeypatch.setattr("headwater.sources.captured.process.say", let_go)
    with captured(config, monkeypatch) as ended:
        wait_for(lambda: bool(ended))
    assert stumbling.runs == [True, False] and held[0].closed
