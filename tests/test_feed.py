"""The feed of a pipeline: what is told of it, over crashes, gaps and limits.

Oracle: the batches that were written, and which of them were done.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet, Files, Rows, weighted_schema
from headwater.log.positions import Cut, Position, cut_from_text
from headwater.runtime import feed as feeds
from headwater.runtime.feed import Feed, Gone
from headwater.schema import Column, Schema

SCHEMA = Schema((Column("n", "int"),))


def cut(number: int) -> Cut:
    return Cut((("a", Position(number)), ("b", Position(7, "lsn"))))


def rows(*numbers: int) -> pa.Table:
    """One row for each number; a negative one went."""
    columns = [[abs(number) for number in numbers], [1 if number > 0 else -1 for number in numbers]]
    return pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, weighted_schema(SCHEMA), strict=True)],
        weighted_schema(SCHEMA),
    )


def changes(*numbers: int) -> dict[str, ChangeSet]:
    return {"v": ChangeSet("v", SCHEMA, (Rows(rows(*numbers)),))}


def written(folder: Path, count: int) -> Feed:
    """A feed in which so many batches are done; batch 3 comes with 3 and goes with 2."""
    feed = Feed(folder, 0)
    for number in range(1, count + 1):
        feed.write(number, cut(number), changes(number, 1 - number) if number > 1 else changes(1), ())
        feed.publish(number)
    return feed


def told(feed: Feed, after: int, view: str = "v") -> list[tuple[int, str, list[int]]]:
    """Everything after a batch."""
    found = list[tuple[int, str, list[int]]]()
    while True:
        with feed.next(view, after) as one:
            if one is None:
                return found
            table = one.changes.table() if one.changes is not None else rows()
            signed = zip(*(column.to_pylist() for column in table.columns), strict=True)
            found.append((one.batch_id, one.mark, [number * sign for number, sign in signed]))
            after = one.batch_id


def test_what_was_done_is_told_again_by_the_next_process(tmp_path: Path) -> None:
    before = told(written(tmp_path, 3), 0)
    assert before == [(1, "1@1,0/7", [1]), (2, "2@2,0/7", [2, -1]), (3, "3@3,0/7", [3, -2])]
    again = Feed(tmp_path, 3)
    assert told(again, 0) == before
    assert told(again, again.after("2@2,0/7")) == before[2:] == told(again, again.after("2 0/7"))
    # As a line of SUBSCRIBE tells its batch and its cut.
    assert again.after("2@2 0/7") == 2
    assert [numbers for _, _, numbers in told(again, 0, "another view")] == [[], [], []]


def test_a_batch_that_was_never_done_is_not_told(tmp_path: Path) -> None:
    feed = written(tmp_path, 1)
    feed.write(2, cut(2), changes(99), ())
    assert told(feed, 1) == []
    again = Feed(tmp_path, 1)
    assert told(again, 1) == []
    again.write(2, cut(5), changes(2), ())
    again.publish(2)
    assert told(again, 1) == [(2, "2@5,0/7", [2])]


def test_what_stands_before_a_gap_is_gone(tmp_path: Path) -> None:
    written(tmp_path, 4)
    (tmp_path / "000000000002.feed").unlink()
    again = Feed(tmp_path, 4)
    assert [batch for batch, _, _ in told(again, again.after("2@2,0/7"))] == [3, 4]
    with pytest.raises(Gone):
        again.after("1@1,0/7")
    assert told(Feed(tmp_path, 9), 9) == []


def test_a_file_that_is_not_whole_is_a_gap(tmp_path: Path) -> None:
    written(tmp_path, 2)
    path = tmp_path / "000000000002.feed"
    path.write_bytes(path.read_bytes()[:-1])
    again = Feed(tmp_path, 2)
    assert again.after("2@2,0/7") == 2
    with pytest.raises(Gone):
        again.after("1@1,0/7")


@pytest.mark.parametrize("said", ["4@4,0/7", "2@3,0/7", "8", "", "@", "x@y", "9" * 5000 + "@1"])
def test_a_mark_of_another_history_is_gone(tmp_path: Path, said: str) -> None:
    with pytest.raises(Gone):
        written(tmp_path, 3).after(said)


def _few_batches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feeds, "MOST_BATCHES", 2)


def _few_bytes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feeds, "MOST_BYTES", 1200)


@pytest.mark.parametrize("bounded", [_few_batches, _few_bytes])
def test_what_is_kept_is_bounded(
    tmp_path: Path, bounded: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(monkeypatch)
    feed = written(tmp_path, 6)
    kept = sorted(int(path.stem) for path in tmp_path.iterdir())
    assert kept and kept[-1] == 6 and len(kept) <= 3
    assert [batch for batch, _, _ in told(feed, kept[0] - 1)] == kept
    with pytest.raises(Gone):
        told(feed, kept[0] - 2)


def test_a_batch_that_is_too_large_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = written(tmp_path, 2)
    monkeypatch.setattr(feeds, "MOST_BYTES", 100)
    feed.write(3, cut(3), changes(*range(1, 100)), ())
    feed.publish(3)
    with pytest.raises(Gone):
        feed.after("2@2,0/7")
    assert feed.after("3@3,0/7") == 3 and list(tmp_path.iterdir()) == []


def test_files_are_linked_and_stay_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "made.parquet"
    pq.write_table(rows(1, 2), source)
    (folder := tmp_path / "feed").mkdir()
    feed = Feed(folder, 0)
    large = ChangeSet("v", SCHEMA, (Files((source,), 2), Files((source,), 2, negated=True), Rows(rows(3))))
    feed.write(1, cut(1), {"v": large}, {"v"})
    feed.publish(1)
    source.unlink()
    monkeypatch.setattr(feeds, "MOST_BATCHES", 1)
    with feed.next("v", 0) as one:
        assert one is not None and one.is_anew and one.changes is not None
        feed.write(2, cut(2), changes(4), ())
        feed.publish(2)
        found = one.changes.table().to_pydict()
    assert sorted(found["n"]) == [1, 1, 2, 2, 3] and sum(found["__hw_weight"]) == 1
    assert [path.name for path in folder.iterdir()] == ["000000000002.feed"]


def test_a_cut_is_read_from_how_it_prints() -> None:
    notations = [Position(5), Position(0x16B3748, "lsn"), Position(3 << 40 | 77, "binlog")]
    for several in (Cut(), Cut(tuple(zip("abc", notations, strict=True)))):
        assert str(cut_from_text(str(several))) == str(several)
