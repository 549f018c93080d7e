"""A session of SQL as whoever types it sees it: statements go in one by one, each has an outcome.

Two things fulfil `Session`: one in this process, and one that speaks to a server. Nothing here needs Spark.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.log.positions import Cut
from headwater.runtime.facts import Listener
from headwater.schema import Schema
from headwater.sql.statements import Subscribe

SUBSCRIBED = "subscribe"
"""The mode of a query of which each change is told, whatever the session is set to."""


@dataclass(frozen=True)
class Job:
    """What an INSERT INTO does in the background."""

    id: str
    what: str
    """`INSERT INTO totals`."""
    state: str
    """starting, running, stopped, failed or done."""
    batch: int | None = None
    rows_read: int = 0
    lag: float | None = None
    cut: str = ""
    problem: str = ""
    """Why it failed."""

    @property
    def is_over(self) -> bool:
        """True if nothing runs any more."""
        return self.state in ("stopped", "failed", "done")

    def to_json(self) -> dict[str, object]:
        """The form in which it crosses a process boundary."""
        return asdict(self)


@dataclass(frozen=True)
class Said:
    """Something is done, and this is to be said of it."""

    text: str
    is_note: bool = False
    """True for words about what was done, False for an answer."""
    is_bad: bool = False
    """True if VERIFY found a difference."""
    stopped: str = ""
    """The job that was stopped, if that is what was done."""


@dataclass(frozen=True)
class Started:
    """A job runs from now on."""

    job: Job


@dataclass(frozen=True)
class Listed:
    """What SHOW JOBS answers."""

    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Known:
    """The names that a statement may use, for completion."""

    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each table and view, as far as they are known without asking anyone."""
    views: frozenset[str] = frozenset()
    catalogs: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    """Functions that were created; those of SQL are known anyway."""
    jobs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The form in which it crosses a process boundary."""
        return {**asdict(self), "views": sorted(self.views)}


class Answers(Protocol):
    """A pipeline as someone who only looks on sees it."""

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of its live SELECTs, in order."""

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        """What is true now."""

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""

    def cut(self) -> Cut:
        """The moment of history at which `rows` is true."""


class LiveAnswers(Answers, Protocol):
    """A live query, which also tells which of its rows are the same one before and after a change."""

    def row_key(self, relation: str) -> tuple[str, ...] | None:
        """The columns of whose values there is one row each; none if there is one row, None if nobody knows."""


class Onlooker(Listener, Protocol):
    """A listener that is told first whom to ask."""

    def open(self, answers: LiveAnswers) -> None:
        """The pipeline is there: what is true already can be asked for."""

    def say(self, text: str) -> None:
        """What EXPLAIN, SHOW or DESCRIBE answered, and notes."""


class Query(Protocol):
    """A live query, which runs from `start` until it is stopped, fails or is done."""

    name: str
    mode: str
    """How it is to be shown: table, changelog or tableau; or as SUBSCRIBE is."""
    once: bool
    """True if it ends when it knows what is committed now."""
    ended: threading.Event

    @property
    def problem(self) -> HeadwaterError | None:
        """Why it failed."""

    def start(self, onlooker: Onlooker) -> None:
        """Begin; returns at once. The onlooker is called in another thread."""

    def stop(self) -> None:
        """Let the step at hand end, then end; returns at once."""


Outcome = Said | Started | Listed | Query


class Elsewhere(Protocol):
    """What others keep up to date, and a session may look at without having declared it."""

    def known(self) -> Known:
        """The tables and views that can be looked at."""

    def follow(self, asked: Subscribe, *, once: bool) -> Query:
        """The changes of a view, also those since a cut; raises if nobody keeps it."""

    def select(self, query: exp.Query, mode: str, *, once: bool) -> Query | None:
        """What a query gives, again and again; None if it reads anything that nobody keeps."""


class Session(Protocol):
    """Statements come one after the other; what they declare stays for the next."""

    keeps_jobs: bool
    """True if its jobs go on without it."""

    def run(self, text: str, file: str, *, listener: Listener, once: bool = False) -> Outcome:
        """Carry out one statement; `once` makes a query end when it knows what is committed now.

        What takes a while is told to the listener. A job is there when this returns.
        """

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, also those that are over."""

    def known(self) -> Known:
        """The names that the next statement may use."""

    def close(self) -> None:
        """Let everything go that ends with the session."""


def job_from_json(said: Mapping[str, object]) -> Job:
    """The job that `Job.to_json` wrote."""
    return Job(**said)  # type: ignore[arg-type]  # the same names and types, as it wrote them


def known_from_json(said: Mapping[str, object]) -> Known:
    """What `Known.to_json` wrote."""
    tables, views = said["tables"], said["views"]
    assert isinstance(tables, dict) and isinstance(views, list)
    lists = {name: tuple(map(str, _list(said[name]))) for name in ("catalogs", "functions", "jobs")}
    return Known({name: tuple(columns) for name, columns in tables.items()}, frozenset(views), **lists)


def _list(said: object) -> list[object]:
    assert isinstance(said, list)
    return said
