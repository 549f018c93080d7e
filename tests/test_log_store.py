"""The durable log: what is appended is read, once, in order, whoever dies in between.

Oracle: the events that were written, kept in a list beside the log.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import StateError
from headwater.log.events import INSERT, SMALL_ROWS, UPSERT, WEIGHTS, Delivery, event_schema
from headwater.log.manifest import FILE, LoggedTable, Manifest
from headwater.log.positions import Position
from headwater.log.store import LogReader, LogWriter
from headwater.schema import Column, Schema

SCHEMA = Schema((Column("id", "int"),), ("id",))


def events(*ids: int, position: int, kind: str = INSERT) -> pa.Table:
    columns = [
        ids,
        [kind] * len(ids),
        [WEIGHTS[kind]] * len(ids),
        [position] * len(ids),
        ids,
        [None] * len(ids),
    ]
    wanted = event_schema(SCHEMA)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, wanted, strict=True)], schema=wanted)


def append(log: LogWriter, position: int, *ids: int, table: str = "t", kind: str = INSERT) -> bool:
    parts = [log.write(table, events(*ids, position=position, kind=kind))] if ids else []
    return log.append(parts, first=position, last=position, committed_at=float(position))


def ids(delivery: Delivery | None, table: str = "t") -> list[Any]:
    assert delivery is not None
    rows = delivery.tables[table].rows
    assert rows is not None
    return list(rows.column("id").to_pylist())


def at(value: int) -> Position:
    return Position(value, "lsn")


def test_appends_are_read_in_order_and_whole(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path, notation="lsn"), LogReader(tmp_path)
    assert reader.read(None, 10) is None
    append(writer, 100, 1, 2)
    append(writer, 200, 3)
    append(writer, 300)
    first = reader.read(None, 1)
    assert ids(first) == [1, 2] and first is not None
    assert first.position == at(100) and str(first.position) == "0/64" and first.committed_at == 100.0
    assert ids(reader.read(at(100), 1)) == [3]
    rest = reader.read(at(200), 10)
    assert rest is not None and rest.position == at(300) and rest.tables == {}
    everything = reader.read(None, 10)
    assert ids(everything) == [1, 2, 3] and everything is not None and everything.position == at(300)
    assert reader.read(at(300), 10) is None


def test_a_batch_can_be_read_again_exactly(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path, notation="lsn"), LogReader(tmp_path)
    for number in range(1, 6):
        append(writer, number * 100, number)
    again = reader.read(at(100), 1, upto=at(400))
    assert ids(again) == [2, 3, 4] and again is not None and again.position == at(400)
    assert reader.read(at(100), 1, upto=at(600)) is None


def test_what_the_log_has_is_not_appended_twice(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, notation="lsn")
    assert append(writer, 100, 1)
    assert not append(writer, 100, 1)
    assert not append(writer, 50, 9)
    assert ids(LogReader(tmp_path).read(None, 10)) == [1]
    assert len(list(tmp_path.glob("*.parquet"))) == 1, "the files of a repeat are gone"


def test_events_that_need_a_look_up_are_marked(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path, notation="lsn"), LogReader(tmp_path)
    append(writer, 100, 1)
    append(writer, 200, 1, kind=UPSERT)
    first, both = reader.read(None, 1), reader.read(None, 10)
    assert first is not None and both is not None
    assert first.tables["t"].whole_rows and not both.tables["t"].whole_rows


def test_many_rows_stay_in_files(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, notation="lsn")
    parts = [
        writer.write("t", events(*range(SMALL_ROWS), position=7)),
        writer.write("t", events(-1, position=7)),
    ]
    writer.append(parts, first=7, last=7, committed_at=None)
    delivery = LogReader(tmp_path).read(None, 1)
    assert delivery is not None
    found = delivery.tables["t"]
    assert found.rows is None and found.count == SMALL_ROWS + 1 and len(found.files) == 2
    assert sum(pq.ParquetFile(path).metadata.num_rows for path in found.files) == found.count


def test_trimmed_files_are_gone_unless_linked_elsewhere(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path / "log", notation="lsn"), LogReader(tmp_path / "log")
    append(writer, 100, 1)
    append(writer, 200, 2)
    (first, second) = sorted((tmp_path / "log").glob("*.parquet"))
    os.link(first, tmp_path / "kept.parquet")
    reader.trim(at(100))
    assert not first.exists() and second.exists()
    assert pq.read_table(tmp_path / "kept.parquet").column("id").to_pylist() == [1]
    assert ids(reader.read(at(100), 10)) == [2]
    reader.trim(at(200))
    assert writer.last == 200, "the end of the log is known though nothing is in it"
    assert not append(writer, 200, 2)


def snapshot(log: LogWriter, name: str, position: int, *rows: int) -> None:
    stream = log.snapshot(name)
    if rows:
        stream.write(events(*rows, position=position))
    log.put_snapshot(LoggedTable(name, SCHEMA, "origin", position), stream.close())


def test_a_snapshot_comes_with_the_append_that_reaches_it(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path, notation="lsn"), LogReader(tmp_path)
    snapshot(writer, "t", 100, 1, 2)
    assert reader.read(None, 10) is None
    append(writer, 100)
    assert ids(reader.read(None, 10)) == [1, 2]
    append(writer, 150, 3)
    snapshot(writer, "u", 300, 7)
    append(writer, 200, 4)
    assert reader.read(at(100), 1) is None, "before its snapshot a table would seem to be empty"
    append(writer, 400, 5)
    delivery = reader.read(at(100), 1)
    assert ids(delivery) == [3, 4, 5] and ids(delivery, "u") == [7]
    assert reader.whole_at() == at(300)
    assert reader.read(at(400), 10) is None


def test_a_forgotten_table_takes_its_rows_along(tmp_path: Path) -> None:
    writer, reader = LogWriter(tmp_path, notation="lsn"), LogReader(tmp_path)
    snapshot(writer, "t", 100, 1)
    snapshot(writer, "u", 100, 2)
    append(writer, 100)
    writer.forget("u")
    delivery = reader.read(None, 10)
    assert delivery is not None and list(delivery.tables) == ["t"]
    assert list(writer.manifest.tables()) == ["t"]
    assert len(list(tmp_path.glob("*.parquet"))) == 1


def test_a_writer_that_is_killed_leaves_whole_appends_only(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from headwater.log.store import LogWriter
        from tests.test_log_store import append, events
        log = LogWriter(Path({str(tmp_path)!r}), notation="lsn")
        for number in range(1, 100000):
            append(log, number, number)
            log.write("t", events(-number, position=number))     # a part whose append never comes
            print(number, flush=True)
        """
    )
    house = str(Path(__file__).parent.parent)
    writer = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": house},
    )
    assert writer.stdout is not None
    done = 0
    for line in writer.stdout:
        done = int(line)
        if done == 20:
            writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    reopened = LogWriter(tmp_path, notation="lsn")
    last = reopened.last
    assert last is not None and last >= done >= 20
    assert ids(LogReader(tmp_path).read(None, 10**6)) == list(range(1, last + 1))
    assert len(list(tmp_path.glob("*.parquet"))) == last, "parts without an append are removed"
    append(reopened, last + 1, 0)
    assert ids(LogReader(tmp_path).read(at(last), 10)) == [0]


def test_a_log_has_one_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.log.store.LOCK_SECONDS", 0.1)
    first = LogWriter(tmp_path, notation="lsn")
    with pytest.raises(StateError, match="the log is in use"):
        LogWriter(tmp_path, notation="lsn")
    first.close()
    LogWriter(tmp_path, notation="lsn").close()


def test_counters_go_on_after_a_restart(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, notation="lsn")
    writer.seq = 17
    append(writer, 100, 1)
    writer.close()
    assert LogWriter(tmp_path, notation="lsn").seq == 17


def test_a_newer_or_broken_manifest_is_said(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.remember("format", "99")
    manifest.close()
    with pytest.raises(StateError, match="written by a newer version"):
        LogReader(tmp_path)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    (tmp_path / FILE).write_bytes(b"this is no manifest" * 100)
    with pytest.raises(StateError, match="cannot be read"):
        LogReader(tmp_path)


def test_a_position_without_a_time_does_not_hide_that_of_a_commit(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, notation="lsn")
    append(writer, 1, 1)
    assert writer.append([], first=2, last=2, committed_at=None)
    found = LogReader(tmp_path).read(None, 10)
    assert found is not None and (found.position, found.committed_at) == (at(2), 1.0)


def open_at_once(folder: Path, start: Any, said: Any) -> None:
    """Open the manifest of a log when everyone does."""
    start.wait()
    try:
        Manifest(folder).close()
    except StateError as problem:
        said.put(problem.detail)
    else:
        said.put("")


def test_a_new_log_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    forked = multiprocessing.get_context("fork")
    for number in range(20):
        folder, start, said = tmp_path / str(number), forked.Event(), forked.Queue()
        folder.mkdir()
        openers = [forked.Process(target=open_at_once, args=(folder, start, said)) for _ in range(4)]
        for opener in openers:
            opener.start()
        start.set()
        assert [said.get(timeout=60.0) for _ in openers] == [""] * len(openers)
        for opener in openers:
            opener.join()
