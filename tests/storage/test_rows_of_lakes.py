"""Where rows lie that executors write into a lake. Oracle: the folder that all machines share."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import gettempdir

import pyarrow as pa
import pytest

from headwater.changes.change_set import ChangeSet, Rows
from headwater.runtime.progress import Progress
from headwater.schema import WEIGHT, Column, Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.lake import rows as lake_rows
from headwater.storage.place import Desk, furnish

KEYED = Schema((Column("k", "int"),), ("k",))


def placed(folder: Path | None) -> list[Path]:
    table = pa.table({"k": pa.array([1, 2], pa.int32()), WEIGHT: pa.array([1, 1], pa.int8())})
    changes = ChangeSet("t", KEYED, (Rows(table),))
    with lake_rows.written_rows(SinkTable("t", KEYED, None), changes, folder) as written:
        (part,) = written.parts
        assert not isinstance(part, Rows) and all(path.exists() for path in part.paths)
        return list(part.paths)


def test_many_rows_lie_where_executors_find_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_rows, "LOCAL_ROWS", 1)
    furnish(Desk(tmp_path / "desk", tmp_path / "shared", 4))
    with closing(Progress(tmp_path / "desk")) as progress:
        paths = placed(progress.for_executors)
    assert paths and all(path.is_relative_to(tmp_path / "shared" / "work-t4") for path in paths)
    assert not any(path.parent.exists() for path in paths)


def test_on_one_machine_they_lie_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_rows, "LOCAL_ROWS", 1)
    with closing(Progress(tmp_path)) as progress:
        assert progress.for_executors is None
    assert all(path.is_relative_to(gettempdir()) for path in placed(None))
