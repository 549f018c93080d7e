"""The area below a cell: what it says of a pipeline, and when it is drawn again.

Oracle: the pictures written here; time is a number that the tests set.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from headwater.changes.change_set import ChangeSet, Rows, weighted_schema
from headwater.errors import SourceError
from headwater.log.positions import Cut, Position
from headwater.notebook.area import Area, Look
from headwater.notebook.page import Bundle
from headwater.runtime.facts import BatchDone
from headwater.runtime.pipeline import Pipeline
from headwater.schema import Column, Schema
from headwater.sources.base import Report, is_back, waits

SCHEMA = Schema((Column("who", "string"), Column("n", "int")), ("who",))


class Wall:
    """Keeps every picture."""

    def __init__(self) -> None:
        self.pictures: list[Bundle] = []

    def __call__(self, picture: Bundle) -> None:
        self.pictures.append(picture)

    @property
    def text(self) -> str:
        return self.pictures[-1]["text/plain"]

    @property
    def html(self) -> str:
        return self.pictures[-1]["text/html"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in its only place."""
    now = [100.0]
    monkeypatch.setattr("headwater.notebook.area.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def area(wall: Wall, clock: list[float]) -> Area:
    return Area("In [3] q", Look(rows=2, every=0.5), wall)


def pipeline(**more: Any) -> Pipeline:
    """As much of a pipeline as an area asks."""
    sinks = [SimpleNamespace(relation="insert_t", table=SimpleNamespace(name="t"))]
    known = {
        "queries": ("query_1",),
        "answers": (),
        "pending": {"query_1"},
        "program": SimpleNamespace(sinks=sinks if more.pop("writes", False) else []),
        "schema": lambda name: SCHEMA,
        "cut": lambda: Cut(()),
    }
    return cast(Pipeline, SimpleNamespace(**(known | more)))


def done(number: int, *changes: tuple[str, int, int], relation: str = "query_1") -> BatchDone:
    columns = [list(column) for column in zip(*changes, strict=True)]
    table = pa.table(columns, weighted_schema(SCHEMA))
    cut = Cut((("s", Position(number)),))
    return BatchDone(
        number, cut, len(changes), {relation: ChangeSet(relation, SCHEMA, (Rows(table),))}, {}, 5.0, 5.25
    )


def test_an_area_tells_state_lag_and_cut_and_shows_the_first_rows(area: Area, wall: Wall) -> None:
    area.open(pipeline())
    area.look = Look(rows=2, every=0.0)
    area.batch(done(1, ("bob", 2, 1), ("ann", 1, 1), ("cy", 3, 1)))
    assert wall.text.splitlines() == [
        "running In [3] q batch 1 rows read 3 lag 0.25 s cut 1",
        "who  n",
        "---  -",
        "ann  1",
        "bob  2",
        "2 of 3 rows",
    ]


def test_only_what_changed_since_the_last_picture_lights_up(
    area: Area, wall: Wall, clock: list[float]
) -> None:
    area.open(pipeline())
    clock[0] += 1
    area.batch(done(1, ("ann", 1, 1), ("bob", 2, 1)))
    assert 'class="hw-right hw-new"' not in wall.html, "what is there at first is no news"
    clock[0] += 1
    area.batch(done(2, ("ann", 1, -1), ("ann", 7, 1)))
    assert '<td>ann</td><td class="hw-right hw-new">7</td>' in wall.html
    clock[0] += 1
    area.batch(done(3, ("bob", 2, -1), ("bob", 3, 1)))
    assert '<td>ann</td><td class="hw-right">7</td>' in wall.html


def test_it_is_drawn_at_most_so_often_and_nothing_is_forgotten(
    area: Area, wall: Wall, clock: list[float]
) -> None:
    area.open(pipeline())
    drawn = len(wall.pictures)
    area.batch(done(1, ("ann", 1, 1)))
    area.refresh()
    assert len(wall.pictures) == drawn
    clock[0] += 0.6
    area.refresh()
    assert len(wall.pictures) == drawn + 1 and "ann" in wall.text
    clock[0] += 0.6
    area.refresh()
    assert len(wall.pictures) == drawn + 1, "nothing is new"


def test_what_takes_a_while_is_told(area: Area, wall: Wall, clock: list[float]) -> None:
    area.report(Report("spark", "starting Spark"))
    assert wall.text.splitlines() == ["starting In [3] q", "starting Spark"]
    clock[0] += 1
    area.report(Report("snapshot", "orders", 1200, 5000))
    assert wall.text.splitlines()[1] == "snapshot of orders: 1,200 of 5,000 rows"


def test_a_source_that_is_away_is_waited_for(area: Area, wall: Wall, clock: list[float]) -> None:
    area.open(pipeline())
    for report, state in ((waits("kafka at k:1 does not answer"), "waiting"), (is_back("kafka"), "running")):
        clock[0] += 1
        area.report(report)
        assert area.state == state and wall.text.startswith(state)


def test_sinks_tell_what_came_and_went(area: Area, wall: Wall) -> None:
    area.open(pipeline(writes=True, queries=()))
    area.look = Look(rows=2, every=0.0)
    area.batch(done(4, ("ann", 1, 1), ("bob", 2, 1), ("ann", 1, -1), relation="insert_t"))
    assert wall.text.splitlines()[-1].split() == ["t", "2", "1", "4"]


def test_a_failure_is_told_where_it_happened(area: Area, wall: Wall) -> None:
    area.open(pipeline())
    area.end("failed", SourceError("the server <said> no", hint="Ask again."))
    assert wall.text.splitlines()[-2:] == ["error: the server <said> no", "hint: Ask again."]
    assert "the server &lt;said&gt; no" in wall.html and "hw-failed" in wall.html


def test_before_it_stands_the_cell_tells_the_error_itself(area: Area, wall: Wall) -> None:
    area.end("failed", SourceError("no"))
    assert wall.text == "failed In [3] q"
