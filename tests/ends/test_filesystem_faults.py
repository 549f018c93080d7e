"""Crashes and full disks. Oracle: every batch exactly once, and for a snapshot one whole state at any time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.changes import change_set
from headwater.errors import SinkError
from headwater.sinks.filesystem import disk
from tests.ends import filesystem_child
from tests.ends.filesystem_world import opened, table_of
from tests.ends.postgres_world import changes, schema

ROWS = schema("id int, name string")
HOUSE = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("kind", ["growing", "folder", "snapshot-csv"])
def test_killed_at_every_call_to_the_disk_each_batch_is_written_once(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-m", filesystem_child.__name__, kind, str(tmp_path / "out")]
    done = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


@pytest.mark.parametrize("kind", ["growing", "folder", "snapshot-csv", "snapshot-parquet"])
def test_while_a_batch_is_written_readers_see_the_one_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    table = filesystem_child.table(kind, tmp_path / "out")
    sink = opened(table)
    sink.write([filesystem_child.batch(table, 1)], 1)
    before = {path: path.read_bytes() for path in visible(tmp_path)}
    looks: list[dict[Path, bytes]] = []
    real = change_set.ChangeSet.batches

    def batches(changes: change_set.ChangeSet) -> Iterator[pa.RecordBatch]:
        for rows in real(changes):
            yield rows
            looks.append({path: path.read_bytes() for path in visible(tmp_path)})

    monkeypatch.setattr(change_set, "BATCH_ROWS", 3)
    monkeypatch.setattr(change_set.ChangeSet, "batches", batches)
    sink.write([filesystem_child.batch(table, 2)], 2)
    assert len(looks) > 3
    assert all(look == before for look in looks)
    monkeypatch.undo()
    assert filesystem_child.seen(kind, tmp_path / "out") == filesystem_child.state(table, 2)


def visible(folder: Path) -> list[Path]:
    """The files that a reader looks at."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._"]


@pytest.mark.parametrize("kind", ["growing", "folder", "snapshot-csv", "snapshot-parquet"])
def test_a_full_disk_is_waited_for_at_every_call_and_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(disk, "FIRST_PAUSE", 0.001)
    full: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if full and not full.pop():
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    for calls in range(8):
        path, told = tmp_path / str(calls), list[str | None]()
        table = filesystem_child.table(kind, path)
        sink = opened(table, waits=told.append)
        sink.write([filesystem_child.batch(table, 1)], 1)
        full[:] = [0] + [1] * calls
        sink.write([filesystem_child.batch(table, 2)], 2)
        was_full = not full
        full.clear()
        assert filesystem_child.seen(kind, path) == filesystem_child.state(table, 2)
        assert opened(table).last_batch() == 2
        shown = table.options.path
        assert told == ([f"there is no room for {shown}: No space left on device", None] if was_full else [])
    assert calls > 4


def test_a_disk_that_fails_otherwise_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(tmp_path / "x.csv", ROWS, append_only=True, format="csv")
    sink = opened(table)

    def fsync(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(SinkError) as caught:
        sink.write([changes(table, (1, 1, "a"))], 1)
    assert caught.value.message == f"'{tmp_path}/x.csv' of sink table 'out' cannot be written"
    assert caught.value.detail == "Input/output error."
    assert sink.last_batch() is None
    monkeypatch.undo()
    sink.write([changes(table, (1, 1, "a"))], 1)
    assert (tmp_path / "x.csv").read_text() == "1,a\n"
