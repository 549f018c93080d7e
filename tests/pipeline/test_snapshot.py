"""Snapshots: what is true at one cut, read in other threads while steps and compactions go on.

Oracle: the transactions that were handed in, so what is true after each of them is known.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from headwater.log.positions import Cut, Position
from headwater.runtime import compaction
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.snapshot import Snapshot, Snapshots
from headwater.runtime.turning import Turning
from headwater.schema import WEIGHT
from headwater.sources.values import ValuesStore, store
from headwater.tables import held
from tests.pipeline.world import Bag, Listening
from tests.postgres.world import wait_for

pytestmark = pytest.mark.jvm

SCRIPT = """
CREATE TABLE entries (id INT, account STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW total AS SELECT SUM(amount) AS total, COUNT(*) AS entries FROM entries;
"""


@pytest.fixture
def name() -> str:
    """A store and a pipeline of its own for each test."""
    return f"bank_{uuid4().hex[:8]}"


@pytest.fixture
def running(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    """A pipeline that compacts whatever has more than two runs."""
    monkeypatch.setattr(compaction, "MOST_RUNS", 2)
    opened = opened_in(tmp_path, name)
    yield opened
    opened.close()


def opened_in(folder: Path, name: str) -> Pipeline:
    return open_pipeline(SCRIPT, file=f"{name}.sql", state=folder / "state", listener=Listening())


def transfer(bank: ValuesStore, number: int) -> None:
    """Two entries that add up to nothing, in one transaction."""
    ids = (2 * number, 2 * number + 1)
    amounts = (number + 1, -number - 1)
    bank.append(
        {
            "entries": [
                ("+", {"id": i, "account": "a", "amount": n}) for i, n in zip(ids, amounts, strict=True)
            ]
        }
    )


def rows(snapshot: Snapshot, relation: str) -> Bag:
    """What its runs add up to, read one by one, straight from the files."""
    state = snapshot.states[relation]
    found: Bag = Counter()
    for run in state.runs:
        for row in pq.read_table(run.path).to_pylist():
            found[tuple(row[name] for name in state.schema.names)] += row[WEIGHT]
    return Counter({row: count for row, count in found.items() if count})


def test_a_slow_reader_gets_the_rows_of_its_cut_though_their_files_were_merged(
    running: Pipeline, name: str
) -> None:
    bank = store(name)
    for number in range(3):
        transfer(bank, number)
        running.run_once()
    with running.snapshot() as snapshot:
        paths = snapshot.paths
        state = snapshot.states["entries"]
        number = 3

        def is_merged() -> bool:
            nonlocal number
            transfer(bank, number)
            number += 1
            running.run_once()
            return not {*state.runs} & {*running.states["entries"].runs}

        wait_for(is_merged, seconds=120)
        assert all(path.exists() for path in paths)
        assert len(rows(snapshot, "entries")) == 6
        assert rows(snapshot, "total") == Counter({(0, 6): 1})
    wait_for(lambda: not any(path.exists() for path in state.paths))
    with running.snapshot() as later:
        assert rows(later, "total") == Counter({(0, 2 * number): 1})
        assert later.batch_id > snapshot.batch_id


def test_what_somebody_reads_outlives_the_pipeline_and_its_next_opening(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "MOST_RUNS", 2)
    bank = store(name)
    running = opened_in(tmp_path, name)
    transfer(bank, 0)
    running.run_once()
    with running.snapshot() as snapshot:
        for number in range(1, 5):
            transfer(bank, number)
            running.run_once()
        running.close()
        again = opened_in(tmp_path, name)
        transfer(bank, 5)
        again.run_once()
        assert rows(snapshot, "total") == Counter({(0, 2): 1})
        with again.snapshot() as later:
            assert rows(later, "total") == Counter({(0, 12): 1})
    again.close()


def test_readers_of_a_turning_pipeline_never_see_half_a_transaction(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "MOST_RUNS", 2)
    bank = store(name)
    turning = Turning(name, lambda: opened_in(tmp_path, name))
    turning.start()
    wait_for(turning.opened.is_set, seconds=120)
    assert turning.pipeline is not None
    pipeline, done, seen, wrong = turning.pipeline, threading.Event(), set[int](), list[object]()

    def read() -> None:
        while not done.is_set():
            with pipeline.snapshot() as snapshot:
                if "total" in snapshot.waiting:
                    continue
                entries, total = rows(snapshot, "entries"), rows(snapshot, "total")
            seen.add(snapshot.batch_id)
            expected = Counter({(None if not entries else 0, len(entries)): 1})
            if total != expected or sum(amount for _, _, amount in entries) != 0:
                wrong.append((snapshot.batch_id, entries, total))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        for number in range(12):
            transfer(bank, number)
            assert turning.catch_up(120)
            # Every fourth time somebody reads before it goes on.
            wait_for(lambda number=number: len(seen) > number // 4)  # type: ignore[misc]  # bound at once
    finally:
        done.set()
        for reader in readers:
            reader.join()
    turning.stop()
    turning.join()
    assert turning.problem is None
    assert wrong == []
    assert len(seen) >= 3


def test_a_view_that_is_not_computed_yet_is_waiting(running: Pipeline, name: str) -> None:
    with running.snapshot() as snapshot:
        assert "total" in snapshot.waiting
    running.run_once()
    with running.snapshot() as snapshot:
        assert not snapshot.waiting


def test_a_file_that_has_the_name_of_one_that_was_to_go_stays(tmp_path: Path) -> None:
    path = tmp_path / "000000000001-0.parquet"
    path.write_text("old")
    held.hold([path])
    held.remove(path)
    assert path.exists()
    path.unlink()
    path.write_text("another")
    held.let_go([path])
    assert path.read_text() == "another"


def test_a_cut_is_as_old_as_it_was_when_its_files_are_merged() -> None:
    snapshots = Snapshots(Snapshot(Cut(), 3, {}))
    ages = []
    for cut in (Cut(), Cut((("a", Position(4)),)), Cut((("a", Position(4)),)), Cut((("a", Position(5)),))):
        snapshots.publish(Snapshot(cut, 3, {}))
        with snapshots.held() as now:
            ages.append(now.reached_at)
    # What the process began with was reached by another one, at a time that nobody knows.
    assert ages[0] is None and ages[1] is not None and ages[1] == ages[2] != ages[3]
