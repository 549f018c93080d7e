"""A disk that is full, here or there, a clock that jumps, a line that is dead without a word: nothing is lost.

Oracle: the rows of the table at the end, what the kernel says of a connection, and the texts, by hand.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from collections import Counter
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.errors import StateError
from headwater.log.segments import Segment, write_segment
from headwater.log.store import LogReader, LogWriter
from headwater.sources.base import Lost
from headwater.sources.postgres.capture import capture
from headwater.sources.postgres.config import CaptureConfig, config_of
from headwater.sources.postgres.connect import connect, connect_replication, session
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, bag, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"


@pytest.fixture
def config(database: Database, world: World) -> CaptureConfig:
    """A capture of one table."""
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t VALUES (1, 1)")
    return config_of([database.table("t", COLUMNS, "id")], world.context, after=None)


def test_a_full_disk_of_ours_is_told_and_nothing_is_lost(
    database: Database, world: World, config: CaptureConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
    written: list[str] = []

    def full(folder: Path, file: str, *, table: str, events: pa.Table) -> Segment:
        """The second segment finds no room, half of it being there."""
        written.append(file)
        found = write_segment(folder, file, table=table, events=events)
        if len(written) == 2:
            os.truncate(folder / file, 100)
            raise OSError(errno.ENOSPC, "No space left on device")
        database.run("INSERT INTO t VALUES (3, 3)")
        return found

    log = LogWriter(config.folder, notation="lsn")
    monkeypatch.setattr("headwater.sources.postgres.capture.LogWriter", lambda *_, **__: log)
    monkeypatch.setattr("headwater.log.store.write_segment", full)
    monkeypatch.setattr("headwater.sources.postgres.capture.say", lambda *_, **__: None)
    database.run("INSERT INTO t VALUES (2, 2)")
    with pytest.raises(StateError) as raised:
        capture(config)
    assert raised.value.message == "the log cannot be written"
    assert "No space left on device" in raised.value.detail
    monkeypatch.undo()
    log.close()
    with world.source(database.table("t", COLUMNS, "id"), after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))


def test_a_clock_that_jumps_changes_no_row(
    database: Database, config: CaptureConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, jumps = Started(), itertools.cycle((0.0, 4e9, 1e9))
    with captured(config, monkeypatch, started) as ended:
        wait_for(lambda: bool(started))
        monkeypatch.setattr("time.time", lambda: next(jumps))
        for number in range(2, 6):
            database.run("INSERT INTO t VALUES (%s, 0); UPDATE t SET n = n + 1", number)
        with closing(LogReader(config.folder)) as log:
            expected = Counter(database.run("SELECT id, n FROM t"))
            wait_for(lambda: (said := log.read(None, 1000)) is not None and bag([said], "t") == expected)
        database.run("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
    assert len(ended) == 1


def test_a_server_without_room_is_tried_again(config: CaptureConfig) -> None:
    with pytest.raises(Lost, match="no room") as raised, session(config.address) as cursor:
        cursor.execute("SET temp_file_limit = 0; SET work_mem = '64kB'")
        cursor.execute("SELECT i FROM generate_series(1, 50000) i ORDER BY random()")
    assert "temporary file size exceeds" in raised.value.detail


def test_a_dead_line_is_noticed_by_whoever_waits_and_whoever_writes(config: CaptureConfig) -> None:
    """As long as something is not acknowledged, nobody asks whether the other end lives: that has a limit of its own."""
    for opened in (connect(config.address), connect_replication(config.address)):
        with closing(opened), socket.socket(fileno=os.dup(opened.fileno())) as line:
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 50_000
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 20
