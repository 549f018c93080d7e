"""The loop of the SQL client: read what is typed, carry it out statement by statement, show what comes of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from rich.console import Console
from rich.text import Text

from headwater.cli.client import commands
from headwater.cli.client.commands import Command, apart, command_of
from headwater.cli.client.show import show_error, show_help, show_jobs, show_relations, show_said
from headwater.cli.client.watch import Keyboard, view_for, watch
from headwater.cli.progress import Bars
from headwater.cli.script_file import sourced
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import Job, Listed, Outcome, Said, Session, Started
from headwater.runtime.facts import BatchDone
from headwater.sources.base import Report
from headwater.sql.secrets import masked

TYPED = "sql"
"""Where SQL stands that was typed."""

TITLE_LETTERS = 200


class Reader(Protocol):
    """Where statements are typed."""

    def read(self) -> str:
        """A text that is whole."""


class Shell:
    """Carries out what is typed until somebody leaves."""

    def __init__(self, session: Session, console: Console, keyboard: Keyboard) -> None:
        self._session = session
        self._console = console
        self._keyboard = keyboard
        self._is_over = False
        self._states: dict[str, str] = {}

    def loop(self, reader: Reader) -> None:
        """Read and carry out; Ctrl-C throws away what is typed or at hand, Ctrl-D leaves."""
        self._is_over = False
        while not self._is_over:
            try:
                # Where a server is away nobody can say what jobs do; the next statement tells why.
                with suppress(HeadwaterError):
                    self._tell_of_jobs()
                self.enter(reader.read())
            except KeyboardInterrupt:
                continue
            except EOFError:
                self._is_over = True

    def enter(self, text: str) -> None:
        """Carry out a text; the first error in it is shown, and what comes behind it is left out."""
        try:
            self._enter(text, TYPED, depth=0)
        except HeadwaterError as problem:
            show_error(self._console, problem)
        except KeyboardInterrupt:
            self._console.print(Text("interrupted", style="yellow"))

    def _enter(self, text: str, file: str, *, depth: int) -> None:
        for piece in apart(text):
            if self._is_over:
                return
            if (command := command_of(piece.text)) is not None:
                self._command(command, depth)
            else:
                self._statement(piece.in_place(text), file)

    def _command(self, command: Command, depth: int) -> None:
        match command:
            case commands.Quit():
                self._is_over = True
            case commands.Clear():
                self._console.clear()
            case commands.Help():
                show_help(self._console)
            case commands.Relations():
                show_relations(self._console, self._session.known())
            case commands.Sql(text):
                self._statement(text, TYPED)
            case commands.Source(file):
                self._enter(sourced(file, depth), str(file), depth=depth + 1)

    def _statement(self, text: str, file: str) -> None:
        progress = _Progress(self._console)
        try:
            outcome = self._session.run(text, file, listener=progress)
        finally:
            progress.close()
        self._show(outcome, text)

    def _show(self, outcome: Outcome, text: str) -> None:
        match outcome:
            case Said():
                show_said(self._console, outcome)
            case Listed(jobs):
                show_jobs(self._console, jobs)
            case Started(job):
                self._states[job.id] = job.state
                note = f"job '{job.id}' is running: {job.what}"
                self._console.print(Text(note, style="green"))
            case query:
                view = view_for(query.mode, self._console, _title(text))
                if (problem := watch(query, view, self._keyboard)) is not None:
                    raise problem

    def _tell_of_jobs(self) -> None:
        """Say which jobs failed since the last time somebody looked."""
        for job in self._session.jobs():
            if job.state == "failed" and self._states.get(job.id) not in (None, "failed"):
                self._console.print(Text(f"job '{job.id}' failed: {job.problem}", style="red"))
            self._states[job.id] = job.state

    def stop(self, job: Job) -> None:
        """Stop a job, and say so."""
        name = job.id.replace("'", "''")
        self.enter(f"STOP JOB '{name}';")

    def running(self) -> list[Job]:
        """The jobs that are not over."""
        return [job for job in self._session.jobs() if not job.is_over]


class _Progress:
    """Bars for what takes a while before a statement's outcome is there."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: Bars | None = None

    def report(self, report: Report) -> None:
        self._bars = self._bars or Bars(self._console)
        self._bars.report(report)

    def batch(self, done: BatchDone) -> None:
        """What a job does is told when someone asks."""

    def close(self) -> None:
        if self._bars is not None:
            self._bars.close()


def _title(text: str) -> str:
    """A query in one short line."""
    line = " ".join(masked(text).split())
    return line if len(line) <= TITLE_LETTERS else f"{line[: TITLE_LETTERS - 1]}…"
