"""The loop of the SQL client around a session that is written down. Oracle: what is asked and shown, written by hand."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from headwater.cli.client.main import toolbar
from headwater.cli.client.shell import Shell
from headwater.errors import HeadwaterError, SqlError
from headwater.runtime.conversation import Job, Known, Listed, Onlooker, Outcome, Said, Started
from headwater.runtime.facts import Listener
from tests.cli.fakes import FakePipeline, batch

JOB = Job("into-out", "INSERT INTO out", "running", batch=3, rows_read=1200, lag=0.5, cut="0/3")


class Keyed(FakePipeline):
    def row_key(self, relation: str) -> tuple[str, ...] | None:
        return ("animal",)


class WrittenQuery:
    """Tells one batch, and goes on until it is stopped."""

    name, mode, once = "query-1", "tableau", False

    def __init__(self, problem: HeadwaterError | None = None) -> None:
        self.problem = problem
        self.ended = threading.Event()

    def start(self, onlooker: Onlooker) -> None:
        pipeline = Keyed((batch(1, ("+", "Emu", 1.0)),), onlooker)
        onlooker.open(pipeline)
        pipeline.run_once()
        if self.problem is not None:
            self.ended.set()

    def stop(self) -> None:
        self.ended.set()


class WrittenSession:
    """Answers by the first word of a statement, and remembers what it was asked."""

    keeps_jobs = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.listed: tuple[Job, ...] = ()

    def run(self, text: str, file: str, *, listener: Listener, once: bool = False) -> Outcome:
        self.asked.append(f"{file}: {text.strip()}")
        match text.split()[0]:
            case "SELECT":
                return WrittenQuery(SqlError("it broke") if "broke" in text else None)
            case "INSERT":
                return Started(JOB)
            case "SHOW":
                return Listed((JOB,))
            case "WRONG":
                raise SqlError("that is wrong", hint="Write it right.")
            case _:
                return Said("done", is_note=True)

    def jobs(self) -> tuple[Job, ...]:
        return self.listed

    def known(self) -> Known:
        return Known({"clicks": ("id",), "pages": ("n",)}, frozenset({"pages"}))

    def close(self) -> None:
        """Nothing runs."""


class PressedKeyboard:
    """Somebody who presses q at once."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        yield

    def pressed(self) -> bool:
        return True


class Typed:
    """Texts, one after the other; then Ctrl-D. A None is Ctrl-C."""

    def __init__(self, *texts: str | None) -> None:
        self._texts = list(texts)

    def read(self) -> str:
        if not self._texts:
            raise EOFError
        text = self._texts.pop(0)
        if text is None:
            raise KeyboardInterrupt
        return text


@pytest.fixture
def session() -> WrittenSession:
    return WrittenSession()


def said(session: WrittenSession, *texts: str | None) -> str:
    """What is on the screen after these texts."""
    out = io.StringIO()
    console = Console(file=out, width=100, color_system=None)
    Shell(session, console, PressedKeyboard()).loop(Typed(*texts))
    return out.getvalue()


def test_statements_are_carried_out_one_by_one_up_to_the_first_error(session: WrittenSession) -> None:
    shown = said(session, "USE a; WRONG;\n USE b;", None, "USE c;")
    assert session.asked == ["sql: USE a", "sql: WRONG", "sql: USE c"]
    assert shown == "done\nerror: that is wrong\nhint: Write it right.\ndone\n"


def test_ctrl_c_before_the_next_prompt_is_there_ends_nothing(
    session: WrittenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    presses: list[BaseException] = [KeyboardInterrupt()]

    def jobs() -> tuple[Job, ...]:
        if presses:
            raise presses.pop()
        return ()

    monkeypatch.setattr(session, "jobs", jobs)
    assert said(session, "USE a;") == "done\n" and not presses


def test_a_job_is_stopped_whatever_it_is_called(session: WrittenSession) -> None:
    Shell(session, Console(file=io.StringIO()), PressedKeyboard()).stop(replace(JOB, id="ann's"))
    assert session.asked == ["sql: STOP JOB 'ann''s'"]


def test_a_query_is_shown_until_a_key_is_pressed(session: WrittenSession) -> None:
    shown = said(session, "SELECT 1; USE a;")
    assert "| +I | Emu    |     1 |" in shown and "1 change\n" in shown and shown.endswith("done\n")


def test_a_query_that_fails_is_an_error(session: WrittenSession) -> None:
    assert said(session, "SELECT broke; USE a;").endswith("error: it broke\n")


def test_a_file_is_run_where_it_stands_and_not_for_ever(session: WrittenSession, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text("USE a;\nUSE b;")
    said(session, f"\\i {file}")
    assert session.asked == [f"{file}: USE a", f"{file}: USE b"]
    file.write_text("\\dt\n\nUSE c;")
    said(session, f"SOURCE '{file}'; USE d;")
    assert session.asked[2:] == ["sql: SHOW TABLES", f"{file}: USE c", "sql: USE d"]
    file.write_text(f"SOURCE '{file}';")
    assert "is one file too deep" in said(session, f"SOURCE '{file}';")
    assert "error: cannot read nowhere.sql" in said(session, "\\i nowhere.sql")


def test_jobs_are_told_when_they_start_when_asked_for_and_when_they_fail(session: WrittenSession) -> None:
    shown = said(session, "INSERT INTO out SELECT 1;", "\\dj")
    assert shown.startswith("job 'into-out' is running: INSERT INTO out\n")
    assert "│ into-out │ INSERT INTO out │ running │     3 │     1,200 │ 0.50 s │ 0/3 │" in shown
    failed = Job("into-out", "INSERT INTO out", "failed", problem="the sink is full")
    session.listed = (failed,)
    assert "job 'into-out' failed: the sink is full" in said(session, "INSERT INTO out SELECT 1;", "USE a;")
    assert toolbar((JOB, failed), "local") == "local   1 job runs   1 failed"


def test_short_forms_and_commands_do_what_they_say(session: WrittenSession) -> None:
    shown = said(session, "\\d", "help", "\\d clicks", "quit", "USE never;")
    assert "│ pages  │ view  │ n       │" in shown and "STOP JOB 'id'" in shown
    assert session.asked == ["sql: DESCRIBE clicks"]
