"""How a demo looks, on a terminal and as lines. Oracle: the screens and lines below, written by hand."""

from __future__ import annotations

import io
import json
import re

from rich.console import Console

from headwater.cli.demo_board import Board, Scene, event_line
from headwater.cli.demo_lines import DemoLines
from headwater.cli.demo_parts import PartBars, PartLines
from headwater.cli.demo_sheet import Sheet, crosstab
from headwater.demo.feeds import Said
from headwater.demo.looks import Look
from headwater.demo.together import News
from headwater.log.positions import Cut, Position
from headwater.runtime.facts import BatchDone

SCENE = Scene("pets", ("pets.claims",), "index costs", "id")

NEWEST = Scene("pets", (), "table pets", "id", newest_only=True)

DOCUMENTS = {
    "A_X": {"who": "Ann", "what": "cat", "cost": 3.0},
    "B_X": {"who": "Bob", "what": "cat", "cost": 4.5},
    "B_Y": {"who": "Bob", "what": "dog", "cost": 1.0},
}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def screen(width: int = 60, height: int = 24) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)


def drawn(console: Console, what: object) -> list[str]:
    with console.capture() as captured:
        console.print(what)
    return [line.rstrip() for line in captured.get().splitlines()]


def event(op: str, before: object, after: object) -> Said:
    source = {"schema": "s", "table": "claims"}
    said = {"op": op, "before": before, "after": after, "source": source}
    return Said("pets.claims", b'{"id": 1}', json.dumps(said).encode())


def batch(batch_id: int) -> BatchDone:
    cut = Cut((("kafka", Position(12, "messages")),))
    return BatchDone(batch_id, cut, 3, {}, {"views": 0.5}, committed_at=100.0, done_at=100.75)


def test_documents_become_a_table_of_two_of_their_fields() -> None:
    found = crosstab(DOCUMENTS, down="what", across="who", value="cost")
    assert found == {"cat": {"Ann": 3.0, "Bob": 4.5}, "dog": {"Ann": "", "Bob": 1.0}}


def test_a_cell_that_changed_flashes_for_a_moment() -> None:
    sheet, console = Sheet("what"), screen()
    sheet.follow({"cat": {"Ann": 3.0, "Bob": 4.5}}, 1.0)
    sheet.follow({"cat": {"Ann": 3.0, "Bob": 5.0}}, 2.0)
    bright = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="standard")
    with bright.capture() as captured:
        bright.print(sheet.drawn(5, width=60, now=2.5))
    flashing = re.findall("\x1b\\[1;30;43m([^\x1b]*)", captured.get())
    assert [text.strip() for text in flashing] == ["5"]
    assert drawn(console, sheet.drawn(5, width=60, now=9.0))[3] == "│ cat  │   3 │   5 │"


def test_the_newest_rows_stand_first_and_a_long_column_gives_way() -> None:
    sheet = Sheet("id", newest_first=True)
    rows = {number: {"who": f"client {number}", "pizzas": "x" * 80} for number in (1, 2, 10)}
    sheet.follow(rows, 0.0)
    lines = drawn(screen(), sheet.drawn(2, width=60, now=9.0))
    assert [line.split()[1] for line in lines[3:5]] == ["10", "2"]
    assert "client 10" in lines[3] and lines[3].endswith("… │")
    assert "1 more" in lines[-1]


def test_an_event_says_first_which_row_and_what_changed() -> None:
    was, now = {"id": 1, "kind": "cat", "cost": 2.5}, {"id": 1, "kind": "cat", "cost": 3}
    assert event_line(event("u", was, now)).plain == '  u s.claims  id=1, cost=2.5 → 3, kind="cat"'
    assert event_line(event("d", was, None)).plain == '  d s.claims  id=1, kind="cat", cost=2.5'
    assert event_line(event("c", None, {"id": 2, "kind": "a\nb"})).plain == '  c s.claims  id=2, kind="a\\nb"'


def test_the_board_shows_head_events_and_rows() -> None:
    console, clock = screen(), Clock()
    board = Board(console, SCENE, clock=clock)
    assert "nothing yet" in drawn(console, board.picture())[7]
    board.batch(batch(4))
    board.heard([event("c", None, {"id": 1}), Said("pets.claims", b"1", None)])
    board.rows({1: {"who": "Ann"}})
    clock.now = 5.0
    assert board.shown
    assert drawn(console, board.picture()) == [
        " pets   cut 12   lag 0.75 s   changes/s 0.6   step 0.50 s",
        "batch 4",
        "in  topic pets.claims",
        "  c s.claims  id=1",
        *[""] * 4,
        "out index costs  1 row",
        "╭────┬─────╮",
        "│ id │ who │",
        "├────┼─────┤",
        "│  1 │ Ann │",
        "╰────┴─────╯",
        "Ctrl-C stops",
    ]


def test_the_board_is_never_higher_than_the_screen() -> None:
    console = screen(100, 30)
    board = Board(console, SCENE)
    board.batch(batch(1))
    board.rows({number: {"who": "x" * 200} for number in range(200)})
    assert len(drawn(console, board.picture())) < 30


def test_lines_can_be_added_up() -> None:
    out, notes = io.StringIO(), io.StringIO()
    lines = DemoLines(SCENE, out, notes)
    lines.rows({})
    assert not lines.shown
    lines.rows({2: {"who": "Bob"}, 1: {"who": "Ann"}})
    lines.heard([event("c", None, {"id": 3})])
    lines.rows({2: {"who": "Eve"}, 1: {"who": "Ann"}})
    lines.rows({2: {"who": "Eve"}})
    lines.batch(batch(4))
    assert lines.shown
    assert out.getvalue().splitlines() == [
        "index costs: 2 rows",
        "+ who=Ann",
        "+ who=Bob",
        "topic c s.claims  id=3",
        "- who=Bob",
        "+ who=Eve",
        "- who=Ann",
    ]
    assert notes.getvalue() == "batch 4: 3 rows, cut 12, lag 0.75 s, step 0.50 s\n"


def test_the_board_shows_facts_above_the_newest_rows() -> None:
    console = screen()
    board = Board(console, NEWEST)
    board.look(Look({"all": 1234, "most": "A\nB", "least": None}, {9: {"who": "Ann"}}))
    assert board.shown
    assert drawn(console, board.picture())[1:7] == [
        "out table pets  the newest rows",
        "    all    1,234",
        "    most   A\\nB",
        "    least  nothing yet",
        "╭────┬─────╮",
        "│ id │ who │",
    ]


def test_lines_tell_facts_that_changed_and_rows_that_are_new() -> None:
    out = io.StringIO()
    lines = DemoLines(NEWEST, out, io.StringIO())
    lines.look(Look({"all": 1, "most": None}, {1: {"who": "Ann"}}))
    lines.look(Look({"all": 2, "most": None}, {2: {"who": "Bob"}}))
    lines.look(Look({"all": 2, "most": "Bob"}, {2: {"who": "Eve"}}))
    assert out.getvalue().splitlines() == [
        "all: 1",
        "most: nothing yet",
        "table pets: the newest rows",
        "+ who=Ann",
        "all: 2",
        "+ who=Bob",
        "most: Bob",
        "- who=Bob",
        "+ who=Eve",
    ]


def test_parts_say_each_thing_once_and_count_now_and_then() -> None:
    out, clock = io.StringIO(), Clock()
    lines = PartLines(out, clock)
    for moment, news in [
        (0.0, News("kafka", "fetching packages", 0, 9)),
        (1.0, News("kafka", "fetching packages", 3, 9)),
        (3.0, News("kafka", "fetching packages", 7, 9)),
        (4.0, News("kafka", "starting")),
        (9.0, News("kafka", "starting")),
        (9.5, News("kafka", "runs", is_over=True)),
    ]:
        clock.now = moment
        lines.news(news)
    assert out.getvalue().splitlines() == [
        "kafka: fetching packages: 0 of 9",
        "kafka: fetching packages: 7 of 9",
        "kafka: starting",
        "kafka: runs",
    ]


def test_each_part_has_a_line_and_only_those_that_are_done_keep_it() -> None:
    console, clock = screen(), Clock()
    bars = PartBars(console, clock)
    with console.capture() as captured:
        bars.news(News("kafka", "starting"))
        clock.now = 2.0
        bars.news(News("connect", "fetching packages", 3, 9))
        bars.news(News("search", "fetching packages", 5, 5))
        clock.now = 6.0
        first, second, third = drawn(screen(100), bars.picture())
        bars.news(News("kafka", "runs at 127.0.0.1:9092", is_over=True))
        bars.close()
    assert first.endswith("kafka       starting  6 s")
    assert second.endswith("fetching packages: 3 of 9") and "━" in second
    assert third.startswith("· search")
    # The last line only shows the cursor again.
    *_, kept, _ = captured.get().splitlines()
    assert "✓ kafka       runs at 127.0.0.1:9092" in kept and "connect" not in kept
