"""What the terminal shows. Oracle: the screen's text, written by hand."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from headwater.cli.lines import CSV, JSON, PLAIN, Format, LineView
from headwater.cli.live import LiveView
from headwater.cli.progress import Lines, time_text
from headwater.cli.render import OnceView
from headwater.sources.base import Report
from tests.cli.fakes import FakePipeline, Terminal, batch

BATCHES = (
    batch(1, ("+", "Cassowary", 10.0), ("+", "Box Jellyfish", 5.0)),
    batch(2, ("-", "Cassowary", 10.0), ("+", "Cassowary", 12.5), ("-", "Box Jellyfish", 5.0)),
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lines(form: Format, *, resumed: bool = False) -> list[str]:
    """What a line view writes for the batches above."""
    out = io.StringIO()
    view = LineView(out, io.StringIO(), form)
    before = (("+", "Dingo", 1.0),) if resumed else ()
    pipeline = FakePipeline(BATCHES, view, resumed=before)
    view.open(pipeline)
    pipeline.run_once()
    view.close()
    return out.getvalue().splitlines()


def test_plain_lines_tell_each_change_with_batch_and_cut() -> None:
    assert lines(PLAIN) == [
        "+ animal=Box Jellyfish, total=5 (batch 1, cut 0/1)",
        "+ animal=Cassowary, total=10 (batch 1, cut 0/1)",
        "- animal=Box Jellyfish, total=5 (batch 2, cut 0/2)",
        "- animal=Cassowary, total=10 (batch 2, cut 0/2)",
        "+ animal=Cassowary, total=12.5 (batch 2, cut 0/2)",
    ]


def test_after_a_resume_what_is_true_already_comes_first() -> None:
    assert lines(PLAIN, resumed=True)[0] == "+ animal=Dingo, total=1 (cut 0/7)"


def test_csv_lines_have_one_head() -> None:
    said = lines(CSV)
    assert said[0] == "op,batch,cut,animal,total"
    assert said[1] == "+,1,0/1,Box Jellyfish,5.0"
    assert len(said) == 6


def test_json_lines_are_json() -> None:
    last = json.loads(lines(JSON)[-1])
    row = {"animal": "Cassowary", "total": 12.5}
    assert last == {"op": "+", "batch": 2, "cut": "0/2", "query": "costs", "row": row}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "animal,total\nCassowary,12.5\n"),
        ("json", '{"animal": "Cassowary", "total": 12.5}\n'),
        ("table", "| Cassowary |  12.5 |\n"),
    ],
)
def test_once_writes_the_final_rows_only(form: str, text: str) -> None:
    out = io.StringIO()
    view = OnceView(out, io.StringIO(), form)
    pipeline = FakePipeline(BATCHES, view)
    view.open(pipeline)
    pipeline.run_once()
    view.finish()
    view.close()
    assert text in out.getvalue()
    assert "Jellyfish" not in out.getvalue()


def test_progress_lines_are_few() -> None:
    out, clock = io.StringIO(), Clock()
    progress = Lines(out, clock)
    progress.report(Report("spark", "starting Spark"))
    for done in (0, 100, 200, 1000):
        progress.report(Report("snapshot", "claims", done, 1000))
        clock.now += 1.5
    assert out.getvalue().splitlines() == [
        "starting Spark ...",
        "snapshot of claims ...",
        "snapshot of claims: 200 of 1,000 rows, 67/s",
        "snapshot of claims: 1,000 of 1,000 rows, 222/s",
    ]


def test_progress_tells_how_fast_and_how_long_if_the_source_knows() -> None:
    out, clock = io.StringIO(), Clock()
    progress = Lines(out, clock)
    progress.report(Report("snapshot", "claims", 0, 90_000))
    clock.now += 2.0
    progress.report(Report("snapshot", "claims", 10_000, 90_000, 2_000.0, 40.0))
    clock.now += 2.0
    progress.report(Report("snapshot", "claims", 90_000, 90_000, 2_000.0, 0.0))
    assert out.getvalue().splitlines() == [
        "snapshot of claims ...",
        "snapshot of claims: 10,000 of 90,000 rows, 2,000/s, 40 s left",
        "snapshot of claims: 90,000 of 90,000 rows, 2,000/s",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.4, "3 s"), (89.0, "89 s"), (150.0, "2 min"), (7_500.0, "2 h 5 min")]
)
def test_time_is_told_as_people_do(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def screen(view: LiveView) -> str:
    """What is drawn now, with colours as escape codes."""
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=100, height=30, color_system="standard").print(
        view.picture()
    )
    return out.getvalue()


def text_screen(view: LiveView) -> str:
    """What is drawn now, without colours."""
    out = io.StringIO()
    Console(file=out, width=100, height=30).print(view.picture())
    return out.getvalue()


def live(clock: Clock) -> tuple[LiveView, Console]:
    console = Console(file=Terminal(), force_terminal=True, width=100, height=30, color_system="standard")
    return LiveView(console, title="claims", clock=clock), console


def test_the_live_table_shows_answer_and_head() -> None:
    view, _ = live(Clock())
    pipeline = FakePipeline(BATCHES, view)
    view.open(pipeline)
    assert not view.shown
    pipeline.step()
    assert view.shown
    pipeline.step()
    said = text_screen(view)
    view.close()
    assert "cut 0/2   lag 0.50 s   changes/s 1.0   step 0.20 s   batch 2" in said
    assert "│ Cassowary │  12.5 │" in said
    assert "Jellyfish" not in said


def test_changed_cells_flash_for_a_second() -> None:
    clock = Clock()
    view, _ = live(clock)
    pipeline = FakePipeline(BATCHES, view)
    view.open(pipeline)
    pipeline.step()
    clock.now += 5
    pipeline.step()
    flashing = screen(view)
    clock.now += 1.1
    after = screen(view)
    view.close()
    yellow = "\x1b[1;30;43m"
    assert f"{yellow} 12.5" in flashing and f"{yellow}Cassowary" not in flashing
    assert yellow not in after


def test_a_resumed_live_table_says_so_and_shows_its_rows_at_once() -> None:
    view, console = live(Clock())
    view.open(FakePipeline((), view, resumed=(("+", "Dingo", 1.0),)))
    assert view.shown
    said = screen(view)
    view.close()
    assert "Dingo" in said
    assert isinstance(console.file, Terminal)
    assert "resumed at cut 0/7, no new snapshot" in console.file.getvalue()


def test_progress_is_drawn_with_words_and_taken_away() -> None:
    view, console = live(Clock())
    view.report(Report("spark", "starting Spark"))
    view.report(Report("snapshot", "claims", 400, 1000))
    view.close()
    assert isinstance(console.file, Terminal)
    assert "starting Spark" in console.file.getvalue()
    assert "snapshot of claims" in console.file.getvalue()


def test_a_note_that_comes_later_is_printed_above_the_table() -> None:
    view, console = live(Clock())
    pipeline = FakePipeline(BATCHES, view)
    view.open(pipeline)
    pipeline.step()
    view.report(Report("note", "postgres keeps 2.4 GB of its log"))
    view.report(Report("spark", "starting Spark"))
    view.close()
    assert isinstance(console.file, Terminal)
    assert "postgres keeps 2.4 GB of its log" in console.file.getvalue()
    assert "starting Spark" not in console.file.getvalue()


def test_more_rows_than_fit_are_counted() -> None:
    view, _ = live(Clock())
    many = batch(1, *(("+", f"animal {number:02}", 1.0) for number in range(40)))
    pipeline = FakePipeline((many,), view)
    view.open(pipeline)
    pipeline.step()
    said = text_screen(view)
    view.close()
    assert "animal 00" in said and "animal 39" not in said
    assert "18 more rows" in said
