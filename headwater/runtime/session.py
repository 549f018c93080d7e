"""A session of SQL in this process: what is declared stays, queries are followed, INSERTs become jobs."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from headwater.errors import HeadwaterError, SqlError
from headwater.nearest import nearest_hint
from headwater.runtime.conversation import (
    SUBSCRIBED,
    Elsewhere,
    Job,
    Known,
    Listed,
    Outcome,
    Query,
    Said,
    Started,
)
from headwater.runtime.declarations import NAME, Declarations, Script
from headwater.runtime.facts import Listener
from headwater.runtime.interactive import Interactive, remove_unused
from headwater.runtime.jobs import Jobs, job_id
from headwater.runtime.known import known_of, told
from headwater.runtime.live_query import QUERIES, LocalQuery, remove_leftovers
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Question
from headwater.runtime.questions import Answer
from headwater.runtime.turning import waited
from headwater.settings import Settings
from headwater.sql import statements as sql
from headwater.sql.names import parts_of

MODE = "sql-client.execution.result-mode"

_RESTART = "Start the client again, and declare this table before the first statement that needs Spark."

NAME_BYTES = 200
"""Of the name of a pipeline; a name of a file has 255, and what is made beside the folder is called a little longer."""

SHOWN_LETTERS = 100

_NUMBERS = itertools.count(1)

Told = TypeVar("Told")


class LocalSession:
    """A session whose pipelines run in this process. Its jobs end with it, unless they are somebody else's."""

    def __init__(
        self,
        interactive: Interactive | None = None,
        jobs: Jobs | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.keeps_jobs = jobs is not None
        self._elsewhere = elsewhere
        self._interactive = interactive or Interactive(restart=_RESTART)
        self._jobs = jobs if jobs is not None else Jobs()
        self._declarations = Declarations()
        self._name: sql.Set | None = None
        """What SET 'pipeline.name' said last."""
        self._has_tidied = False
        self._lock = threading.RLock()

    def run(self, text: str, file: str, *, listener: Listener, once: bool = False) -> Outcome:
        """Carry out one statement."""
        with self._lock:
            script = self._declarations.read(text, file)
            match script.own:
                case (sql.Show(what="jobs"),):
                    return Listed(self._jobs.all())
                case (sql.StopJob() as stop,):
                    job = self._jobs.stop(stop.job, stop.place)
                    return Said(f"job '{job.id}' is {job.state}", is_note=True, stopped=job.id)
                case (sql.Verify() | sql.Analyze() as asked,):
                    return self._ask(asked)
                case (sql.Select() as select,):
                    return self._select(select, script, file, once=once)
                case (sql.Subscribe() as asked,):
                    return self._follow(asked, file, once=once)
                case (sql.InsertInto() | sql.StatementSet(),):
                    return Started(self._start(script, file, listener, once=once))
                case () | (_,):
                    return self._declare(script, listener)
                case _:
                    raise SqlError("a session takes one statement at a time", place=script.own[1].place)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, also those that are over."""
        return self._jobs.all()

    def known(self) -> Known:
        """The names that the next statement may use."""
        running = tuple(job.id for job in self._jobs.all() if not job.is_over)
        known = known_of(self._declarations.kept, running)
        others = self._elsewhere.known() if self._elsewhere is not None else Known()
        views = known.views | (others.views - known.tables.keys())
        return replace(known, tables={**others.tables, **known.tables}, views=views)

    def close(self) -> None:
        """Stop the jobs that are the session's own."""
        if not self.keeps_jobs:
            self._jobs.close()

    def _declare(self, script: Script, listener: Listener) -> Said:
        """Check what is declared, and answer what is asked for, without running anything."""
        for statement in script.own:
            _check_name(statement)
        named = script if self._name is None else replace(script, statements=(self._name, *script.statements))
        answers = _aside(lambda: self._interactive.answers(named, listener))
        note = told(self._declarations.kept, script)
        self._declarations.keep(script)
        for statement in script.own:
            if isinstance(statement, sql.Set) and statement.key == NAME and statement.value is not None:
                self._name = statement
            if isinstance(statement, sql.Reset) and statement.key in (NAME, None):
                self._name = None
        return Said("\n".join(answers), is_note=False) if answers else Said(note, is_note=True)

    def _select(self, select: sql.Select, script: Script, file: str, *, once: bool) -> Query:
        """A query over what the session declared, else over what others keep."""
        reads = any(
            isinstance(s, sql.CreateTable | sql.CreateView | sql.CreateCatalog) for s in script.statements
        )
        if self._elsewhere is not None and not reads:
            found = self._elsewhere.select(select.query, self._mode(), once=once)
            if found is not None:
                return found
        return self._query(script, file, once=once)

    def _follow(self, asked: sql.Subscribe, file: str, *, once: bool) -> Query:
        """The changes of a view of this session, which begin with its rows, or of one that others keep."""
        known = known_of(self._declarations.kept)
        name = next((name for name in known.tables if name.lower() == asked.name.lower()), None)
        if name is None and self._elsewhere is not None:
            return self._elsewhere.follow(asked, once=once)
        _check_followed(asked, name, known)
        parts = [part.replace("`", "``") for part in parts_of(asked.name)]
        query = f"SELECT * FROM {'.'.join(f'`{part}`' for part in parts)}"
        return replace(self._query(self._declarations.read(query, file), file, once=once), mode=SUBSCRIBED)

    def _query(self, script: Script, file: str, *, once: bool) -> LocalQuery:
        name = f"{QUERIES}{os.getpid()}-{next(_NUMBERS)}"
        # Without a table nothing can change: the first answer is the last.
        is_final = not any(isinstance(s, sql.CreateTable | sql.CreateCatalog) for s in script.statements)
        opening = self._opening(script, name, file)

        def opening_first(listener: Listener) -> Pipeline:
            if not self._has_tidied:
                self._has_tidied = True
                remove_leftovers(self._interactive.folder_of(name).parent)
            return opening(listener)

        return LocalQuery(name, self._mode(), opening_first, once=once or is_final)

    def _start(self, script: Script, file: str, listener: Listener, *, once: bool) -> Job:
        given = self._name.value if self._name is not None else None
        name = given or self._jobs.free_id(job_id(script.targets))
        opening = self._opening(script, name, file)
        return self._jobs.start(name, script.summary, opening, listener=listener, once=once)

    def _opening(self, script: Script, name: str, file: str) -> Callable[[Listener], Pipeline]:
        folder = self._interactive.folder_of(name)

        def opening(listener: Listener) -> Pipeline:
            was_there = folder.exists()
            try:
                return self._interactive.open(script, name, file=file, listener=listener)
            except HeadwaterError:
                if not was_there:
                    remove_unused(folder)
                raise

        return opening

    def _mode(self) -> str:
        said = [s.value for s in self._declarations.kept if isinstance(s, sql.Set) and s.key == MODE]
        return said[-1] if said and said[-1] is not None else Settings().result_mode

    def _ask(self, asked: sql.Verify | sql.Analyze) -> Said:
        """VERIFY and EXPLAIN ANALYZE are answered by the job that keeps the view."""
        for turning in self._jobs.turnings():
            pipeline = turning.pipeline
            results = pipeline.program.results if pipeline is not None else {}
            found = next((name for name in results if name.lower() == asked.name.lower()), None)
            if found is not None:
                question = Question("truth" if isinstance(asked, sql.Verify) else "cost", found)
                answer = turning.ask(partial(_answer, question))
                return Said(answer.text, is_bad=answer.is_bad)
        raise SqlError(
            f'no job that runs keeps a view "{asked.name}"',
            hint="A view is verified or analyzed where it is kept: start an INSERT INTO that reads it.",
            place=asked.place,
        )


def _check_followed(asked: sql.Subscribe, name: str | None, known: Known) -> None:
    """Raise if a session cannot tell the changes of what SUBSCRIBE names, or not those since a cut."""
    if name is None:
        hint = nearest_hint(asked.name, sorted(known.views), "views")
        raise SqlError(f'view "{asked.name}" does not exist', hint=hint, place=asked.place)
    if name not in known.views:
        raise SqlError(
            f'"{name}" is a table: its changes are those of its source',
            hint=f"Follow a view: CREATE VIEW v AS SELECT * FROM {name}.",
            place=asked.place,
        )
    if asked.after is not None:
        raise SqlError(
            f'the changes of "{name}" are not kept: nobody computes it while nobody looks',
            hint="Leave out AFTER; or put the view into a script that headwater run runs, or that a server deploys.",
            place=asked.place,
        )


def _check_name(said: sql.Statement) -> None:
    """State is kept in a folder of the pipeline's name beside those of others, and never elsewhere."""
    name = said.value if isinstance(said, sql.Set) and said.key == NAME else None
    if name and not _is_name(name):
        raise SqlError(
            f"'{name[:SHOWN_LETTERS]}' cannot be the name of a pipeline",
            detail=f"It is one line of at most {NAME_BYTES} bytes, without slashes.",
            hint="Its State is kept in a folder of this name.",
            place=said.place,
        )


def _is_name(name: str) -> bool:
    is_line = name.isprintable() and name.strip() != "" and len(name.encode()) <= NAME_BYTES
    return is_line and name != ".." and Path(name).name == name


def _answer(question: Question, pipeline: Pipeline) -> Answer:
    return pipeline.answer(question)


def _aside(work: Callable[[], Told]) -> Told:
    """Do it in another thread: in the main thread Spark would take Ctrl-C for itself, and nobody could stop waiting."""
    done, found = threading.Event(), list[Told | Exception]()

    def working() -> None:
        try:
            found.append(work())
        except Exception as problem:  # noqa: BLE001  # raised again by the one who waits
            found.append(problem)
        finally:
            done.set()

    threading.Thread(target=working, name="headwater session", daemon=True).start()
    waited(done)
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]
