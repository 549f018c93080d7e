"""The history of a table from its events, whichever way these came.

Oracle: histories written by hand.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.log.events import WEIGHTS, Events, event_schema, told_schema
from headwater.schema import Column, Schema
from headwater.tables.history import History
from headwater.tables.state import State

COLUMNS = (Column("id", "int"), Column("v", "array<string>"))
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)

Event = tuple[str, str | None, int | None, list[str] | None]
"""Kind, op, id and v."""


def table(events: list[Event], *, key: tuple[str, ...], told: bool = True) -> pa.Table:
    """Events as a source delivers them, with or without what it knows of their history."""
    schema = Schema(COLUMNS, key)
    rows = [
        {
            "id": number,
            "v": v,
            "__hw_kind": kind,
            "__hw_weight": WEIGHTS[kind],
            "__hw_position": 100 + place,
            "__hw_seq": place,
            "__hw_op": op,
            "__hw_transaction": f"t{place}",
            "__hw_committed": MOMENT,
            "__hw_appended": MOMENT,
        }
        for place, (kind, op, number, v) in enumerate(events)
    ]
    return pa.Table.from_pylist(rows, schema=told_schema(schema) if told else event_schema(schema))


def history(
    folder: Path, events: Events, *, key: tuple[str, ...] = (), known: list[dict[str, Any]] | None = None
) -> list[tuple[str, Any, Any]]:
    """Of each row of the history its op, and what was before and after."""
    schema = Schema(COLUMNS, key)
    maker = History("changes of t", schema, "number", folder / "history")
    stored = pa.Table.from_pylist(
        known or [], schema=pa.schema([("id", pa.int32()), ("v", pa.list_(pa.string()))])
    )
    changes = maker.of(events, State("t", schema, folder / "state"), lambda: stored)
    return [(row["op"], row["before"], row["after"]) for row in changes.table().to_pylist()]


def row(number: int, *v: str) -> dict[str, Any]:
    """A row of the table."""
    return {"id": number, "v": list(v)}


WHOLE: list[Event] = [
    ("insert", "r", 1, ["a"]),
    ("delete", "u", 1, ["a"]),
    ("insert", "u", 1, ["b"]),
    ("delete", "d", 1, ["b"]),
    ("insert", "c", 1, ["b"]),
]
TOLD = [
    ("r", None, row(1, "a")),
    ("u", row(1, "a"), row(1, "b")),
    ("d", row(1, "b"), None),
    ("c", None, row(1, "b")),
]


@pytest.mark.parametrize("key", [(), ("id",)])
def test_both_halves_of_an_update_are_one_row(tmp_path: Path, key: tuple[str, ...]) -> None:
    rows = table(WHOLE, key=key)
    assert history(tmp_path, Events(len(rows), rows.take([4, 2, 0, 1, 3])), key=key) == TOLD


def test_large_events_go_from_files_to_files(tmp_path: Path) -> None:
    rows = table(WHOLE, key=())
    paths = (tmp_path / "a.parquet", tmp_path / "b.parquet")
    pq.write_table(rows.slice(0, 3), paths[0])
    pq.write_table(rows.slice(3), paths[1])
    assert history(tmp_path, Events(len(rows), files=paths)) == TOLD
    assert len(list((tmp_path / "history").iterdir())) == 2


def test_a_source_that_knows_nothing_tells_rows_that_come_and_go(tmp_path: Path) -> None:
    rows = table([("insert", None, 1, ["a"]), ("delete", None, 1, ["a"])], key=(), told=False)
    assert history(tmp_path, Events(2, rows)) == [("c", None, row(1, "a")), ("d", row(1, "a"), None)]


def test_what_became_of_a_key_is_told_with_what_was_there(tmp_path: Path) -> None:
    events: list[Event] = [
        ("upsert", None, 1, ["a"]),
        ("upsert", None, 1, ["b"]),
        ("delete_key", "u", 1, None),
        ("upsert", "u", 2, ["b"]),
        ("delete_key", "d", 2, None),
    ]
    rows = table(events, key=("id",))
    assert history(tmp_path, Events(len(rows), rows, whole_rows=False), key=("id",)) == [
        ("c", None, row(1, "a")),
        ("u", row(1, "a"), row(1, "b")),
        ("u", row(1, "b"), row(2, "b")),
        ("d", row(2, "b"), None),
    ]


@pytest.mark.parametrize("key", [(), ("id",)])
def test_a_table_that_is_emptied_loses_every_row_it_had(tmp_path: Path, key: tuple[str, ...]) -> None:
    events: list[Event] = [
        ("delete", "d", 1, ["a"]),
        ("insert", "c", 3, ["c"]),
        ("truncate", "t", None, None),
        ("insert", "c", 4, ["d"]),
    ]
    rows = table(events, key=key)
    twice = [] if key else [row(2, "b")]
    known = [row(1, "a"), row(2, "b"), *twice]
    told = history(tmp_path, Events(len(rows), rows, whole_rows=False), key=key, known=known)
    assert told == [
        ("d", row(1, "a"), None),
        ("c", None, row(3, "c")),
        *[("d", row(2, "b"), None)] * (1 + len(twice)),
        ("d", row(3, "c"), None),
        ("c", None, row(4, "d")),
    ]
