"""`run` and `sql` around a pipeline whose batches are written down. Oracle: what is printed, written by hand."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.cli import run
from headwater.cli.main import main
from headwater.cli.render import choose_view
from headwater.cli.stop import Stop
from headwater.errors import SourceError
from headwater.runtime.questions import Answer
from tests.cli.fakes import FakePipeline, batch

FIRST = batch(1, ("+", "Cassowary", 10.0))
SECOND = batch(2, ("-", "Cassowary", 10.0), ("+", "Cassowary", 12.5))


class World:
    """What `open_pipeline` was asked for and what it gave."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.text = ""
        self.idle: Callable[[], None] = lambda: signal.raise_signal(signal.SIGINT)
        self.given: FakePipeline | None = None
        self.said: list[Answer] = []

    def open_pipeline(self, text: str, **asked: Any) -> FakePipeline:
        self.text, self.asked = text, asked
        self.given = FakePipeline((FIRST, SECOND), asked["listener"], idle=self.idle)
        self.given.said = self.said
        return self.given


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World()
    monkeypatch.setattr(run, "open_pipeline", world.open_pipeline)
    yield world
    assert world.given is None or world.given.closed


def test_sql_follows_until_ctrl_c(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "-e", "SELECT 1"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "+ animal=Cassowary, total=10 (batch 1, cut 0/1)",
        "- animal=Cassowary, total=10 (batch 2, cut 0/2)",
        "+ animal=Cassowary, total=12.5 (batch 2, cut 0/2)",
    ]


@pytest.mark.parametrize(("is_bad", "code"), [(False, 0), (True, 1)])
def test_what_was_asked_is_answered_at_the_end_and_a_difference_is_an_exit_code(
    world: World, capsys: pytest.CaptureFixture[str], is_bad: bool, code: int
) -> None:
    world.said = [Answer("about totals", is_bad)]
    assert main(["sql", "--once", "-e", "VERIFY totals"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == "about totals"


def test_sigterm_stops_as_well(world: World) -> None:
    world.idle = lambda: signal.raise_signal(signal.SIGTERM)
    assert main(["sql", "-e", "SELECT 1"]) == 143


def test_once_ends_with_the_final_rows(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "-e", "SELECT 1", "--once", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "animal,total\nCassowary,12.5\n"


def test_an_error_while_running_closes_the_pipeline(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise SourceError("the server is gone", hint="Start it.")

    world.idle = fail
    assert main(["sql", "-e", "SELECT 1"]) == 1
    assert capsys.readouterr().err.endswith("error: the server is gone\nhint: Start it.\n")


def test_a_file_is_run_under_its_name_and_state(world: World, tmp_path: Path) -> None:
    script = tmp_path / "claims.sql"
    script.write_text("SELECT 1;\n")
    assert main(["run", str(script), "--once", "--state", str(tmp_path / "s")]) == 0
    assert (world.text, world.asked["file"]) == ("SELECT 1;\n", str(script))
    assert world.asked["state"] == tmp_path / "s"


def test_sql_text_comes_after_the_file(world: World, tmp_path: Path) -> None:
    script = tmp_path / "tables.sql"
    script.write_text("CREATE TABLE t (a INT) ;\n\n")
    main(["sql", str(script), "-e", "SELECT a FROM t", "--once"])
    assert world.text == "CREATE TABLE t (a INT) ;\nSELECT a FROM t"


def test_a_script_may_come_on_standard_input(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 2"))
    main(["sql", "--once"])
    assert world.text == "SELECT 2"


def test_no_sql_at_all_is_a_usage_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert main(["sql"]) == 2


def test_a_file_that_is_not_there_is_a_usage_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nowhere.sql"]) == 2
    assert capsys.readouterr().err.startswith("error: cannot read nowhere.sql\ndetail: No such file")


def test_the_time_counts_from_the_first_result(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Oracle: a clock that only moves when the pipeline is idle, by a second; both results come before that.
    now = [0.0]
    steps = []

    def idle() -> None:
        now[0] += 1.0
        steps.append(now[0])

    world.idle = idle
    monkeypatch.setattr(run, "now", lambda: now[0])
    view = choose_view(None, plain=True, title="")
    with Stop() as stop, run.opened("", "a.sql", state=None, view=view, stop=stop) as pipeline:
        now[0] = 3600.0
        run.follow(pipeline, view, stop=stop, seconds=5.0)
    assert steps == [3601.0, 3602.0, 3603.0, 3604.0, 3605.0]


def test_answers_are_printed_and_a_script_of_nothing_else_ends(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakePipeline, "answers", ("orders\ncustomers",))
    monkeypatch.setattr(FakePipeline.program, "results", {})
    assert main(["sql", "-e", "SHOW TABLES"]) == 0
    assert capsys.readouterr().out == "orders\ncustomers\n"
