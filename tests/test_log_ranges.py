"""The log between two places: the same files for the same range, and an error where they are gone.

Oracle: the events that were written, kept beside the log.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import StateError
from headwater.log.ranges import LogRanges
from headwater.log.store import LogWriter


def append(log: LogWriter, position: int, *ids: int) -> None:
    events = pa.table({"__hw_kind": ["insert"] * len(ids), "id": ids})
    parts = [log.write("t", events)] if ids else []
    log.append(parts, first=position, last=position, committed_at=None)


def ids(log: LogRanges, after: int, upto: int, *, rows: int = 100) -> list[list[int]]:
    """What stands in each piece."""
    pieces = log.pieces(after, upto, rows=rows)
    read = [[i for f in piece.files for i in pq.read_table(f).column("id").to_pylist()] for piece in pieces]
    assert [piece.rows for piece in pieces] == [len(piece) for piece in read]
    return read


def test_a_range_is_read_in_pieces_and_can_be_read_again(tmp_path: Path) -> None:
    writer, log = LogWriter(tmp_path, notation="lsn"), LogRanges(tmp_path)
    assert log.end == 0 and ids(log, 0, 0) == []
    append(writer, 100, 1, 2)
    append(writer, 200, 3)
    append(writer, 300, 4, 5)
    assert log.end == 300
    for _ in range(2):
        assert ids(log, 0, 300) == [[1, 2, 3, 4, 5]]
        assert ids(log, 0, 300, rows=3) == [[1, 2, 3], [4, 5]]
        assert ids(log, 0, 300, rows=1) == [[1, 2], [3], [4, 5]]
        assert ids(log, 100, 200) == [[3]]
    assert ids(log, 300, 300) == []


def test_places_without_events_are_no_ends(tmp_path: Path) -> None:
    writer, log = LogWriter(tmp_path, notation="lsn"), LogRanges(tmp_path)
    append(writer, 100)
    assert (log.end, log.last) == (0, 100)
    append(writer, 200, 1)
    for position in range(300, 900, 100):
        append(writer, position)
    assert (log.end, log.last) == (200, 800)
    log.tidy()
    assert [append.last for append in log.manifest.appends_after(-1)] == [200, 800]
    assert (log.end, log.last) == (200, 800) and ids(log, 0, 200) == [[1]]


def test_an_end_never_goes_back(tmp_path: Path) -> None:
    writer, log = LogWriter(tmp_path, notation="lsn"), LogRanges(tmp_path)
    append(writer, 100, 1)
    append(writer, 200)
    log.trim(100)
    assert log.end == 100 and log.trimmed == 100
    append(writer, 300, 2)
    assert log.end == 300 and ids(log, 100, 300) == [[2]]


def test_what_is_gone_or_was_never_there_is_refused(tmp_path: Path) -> None:
    writer, log = LogWriter(tmp_path, notation="lsn"), LogRanges(tmp_path)
    append(writer, 100, 1)
    append(writer, 200, 2)
    log.trim(100)
    with pytest.raises(StateError, match="no longer has what is asked for") as gone:
        log.pieces(0, 200, rows=10)
    assert gone.value.detail == "It begins after 0/64, asked for is what follows 0/0."
    with pytest.raises(StateError, match="ends before what is asked for"):
        log.pieces(100, 300, rows=10)


def test_each_log_has_a_name_that_stays(tmp_path: Path) -> None:
    first, same = LogRanges(tmp_path / "a"), LogRanges(tmp_path / "a")
    assert first.name == same.name != LogRanges(tmp_path / "b").name
