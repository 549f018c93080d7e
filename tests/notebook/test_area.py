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
from headwater.notebook.shown import HELD_ROWS, READ_ROWS
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
    # The area's alone: threads that files before this one left behind go by the real one.
    monkeypatch.setattr("headwater.notebook.area.time", SimpleNamespace(monotonic=lambda: now[0]))
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


class Large:
    """An answer with too many rows to be held: each row tells which read it is of."""

    def __init__(self, rows: int = READ_ROWS) -> None:
        self.rows, self.reads, self.is_closed = rows, 0, False

    def __call__(self, name: str, limit: int = READ_ROWS) -> pa.Table:
        assert not self.is_closed
        self.reads += 1
        rows = min(limit, self.rows)
        return pa.table({"who": [f"{n:05}" for n in range(rows)], "n": [self.reads] * rows})


def many(number: int) -> BatchDone:
    return done(number, *((f"{n:05}", number, 1) for n in range(HELD_ROWS + 1)))


def test_an_answer_that_is_read_again_is_never_older_than_its_cut(
    area: Area, wall: Wall, clock: list[float]
) -> None:
    large = Large()
    area.open(pipeline(rows=large))
    clock[0] += 1.1
    area.batch(many(1))
    assert wall.text.splitlines()[0].endswith("cut 1") and wall.text.splitlines()[3].split()[1] == "1"
    assert wall.text.splitlines()[-1] == "the first 2 of 1,000 rows or more"
    clock[0] += 0.6
    area.batch(done(2, ("a", 1, 1)))
    area.refresh()
    assert large.reads == 1 and wall.text.splitlines()[0].endswith("cut 1"), "it is not read so often"
    clock[0] += 0.6
    area.refresh()
    assert wall.text.splitlines()[0].endswith("cut 2") and wall.text.splitlines()[3].split()[1] == "2"
    clock[0] += 5
    area.refresh()
    assert large.reads == 2, "nothing is new"
    area.batch(done(3, ("a", 1, 1)))
    area.batch(done(4, ("a", 1, 1)))
    area.draw()
    assert large.reads == 4 and wall.text.splitlines()[0].endswith("cut 4")
    assert wall.text.splitlines()[3].split()[1] == "4", "who waits sees the newest"


def test_an_answer_that_became_small_is_held_again(area: Area, wall: Wall, clock: list[float]) -> None:
    large = Large()
    area.open(pipeline(rows=large))
    clock[0] += 2
    area.batch(many(1))
    large.rows = 1
    clock[0] += 2
    area.batch(done(2, ("a", 1, -1)))
    assert wall.text.splitlines()[3:] == ["00000  2"]
    clock[0] += 2
    area.batch(done(3, ("00000", 2, -1)))
    assert wall.text.splitlines()[-1] == "no rows" and large.reads == 2


def test_a_resumed_answer_of_which_only_the_first_rows_were_read_is_read_again(
    area: Area, wall: Wall, clock: list[float]
) -> None:
    large = Large()
    area.open(pipeline(rows=large, cut=lambda: Cut((("s", Position(1)),)), pending=set()))
    assert large.reads == 1
    clock[0] += 2
    area.batch(done(2, ("zoe", 1, 1)))
    assert large.reads == 2


def test_after_a_failure_nothing_is_read_and_older_rows_are_told(
    area: Area, wall: Wall, clock: list[float]
) -> None:
    large = Large()
    area.open(pipeline(rows=large))
    clock[0] += 2
    area.batch(many(1))
    area.batch(done(2, ("a", 1, 1)))
    large.is_closed = True
    area.end("failed", SourceError("no"))
    assert "the first 2 of 1,000 rows of an earlier batch or more" in wall.text.splitlines()
