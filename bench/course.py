"""A course: a job, first rows, changes in parts, and the legs in which contenders run through them.

Changes are made once in a copy of the source before anyone starts, and what the query gives after each part is kept: so
checking costs nobody time while it is measured, and every contender meets the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.contender import Changes, Contender, Ground, Job, Program, Yardstick, waited
from bench.relay import all_told
from bench.results import Figure
from bench.watch import cursor, peak
from bench.ways import Way

FIRST_SECONDS, PART_SECONDS = 1800.0, 900.0
FIRST, BACKLOG = "first load", "backlog"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Part:
    """Some transactions, and what the target shows after them."""

    transactions: tuple[str, ...]
    expected: tuple[Row, ...]


@dataclass(frozen=True)
class Course:
    """What is run: `parts` in the order in which they are made, `legs` in the order in which they are run."""

    workload: str
    job: Job
    filled: str
    rows: int
    changes: int
    parts: Mapping[str, Sequence[str]]
    legs: Sequence[tuple[str, Leg]]
    way: Way = Way.LOG


@dataclass(frozen=True)
class Field:
    """A contender at work, between the source and the target."""

    who: str
    course: Course
    ground: Ground
    program: Program
    parts: Mapping[str, Part]
    source: Any
    target: Any

    def make(self, transaction: str) -> None:
        """Commit a transaction."""
        self.source.execute(transaction)

    def arrived(self) -> None:
        """Wait until all that was committed lies where the contender reads it."""
        if self.ground.topics is not None:
            all_told(self.ground.topics, self.course.job.tables, self.course.rows, self.source)

    def shown(self) -> tuple[Row, ...]:
        """What the target shows."""
        self.target.execute(f"SELECT * FROM {self.course.job.target.name}")
        return tuple(sorted(self.target.fetchall()))

    def equal(self, part: str, seconds: float = PART_SECONDS) -> None:
        """Wait until the target shows what it must after a part."""
        expected = self.parts[part].expected
        waited(lambda: self.shown() == expected, self.program.check, seconds, f"the right result of '{part}'")

    def figure(self, what: str, value: float, unit: str) -> Figure:
        """A figure of this contender."""
        return Figure(self.course.workload, what, self.who, value, unit)


Leg = Callable[[Field], Iterator[Figure]]


def foreseen(course: Course, uri: str) -> dict[str, Part]:
    """Make all changes where nobody looks, and keep what the query gives after each part."""
    found = {}
    with cursor(uri) as source:
        for name, transactions in course.parts.items():
            for transaction in transactions:
                source.execute(transaction)
            source.execute(course.job.anew())
            found[name] = Part(tuple(transactions), tuple(sorted(source.fetchall())))
    return found


def run_through(
    course: Course,
    contender: Contender,
    ground: Ground,
    parts: Mapping[str, Part],
    begun: Callable[[str], None],
) -> Iterator[Figure]:
    """All legs, one after the other; `begun` hears which one begins, so that a failure has a place."""
    begin = time.perf_counter()
    program = contender.start(course.job, ground)
    started = time.perf_counter() - begin
    try:
        with (
            cursor(ground.uri(ground.source)) as source,
            cursor(ground.uri(ground.target)) as target,
            peak(program) as memory,
        ):
            field = Field(contender.name, course, ground, program, parts, source, target)
            begun(FIRST)
            field.equal(FIRST, FIRST_SECONDS)
            yield field.figure(FIRST, time.perf_counter() - begin, "s")
            yield field.figure("of it until the job is taken", started, "s")
            for name, leg in course.legs:
                begun(name)
                yield from leg(field)
            yield field.figure("memory", max(memory) / 2**30, "GB")
    finally:
        program.stop()


def run_beside(
    course: Course,
    yardstick: Yardstick,
    ground: Ground,
    parts: Mapping[str, Part],
    begun: Callable[[str], None],
) -> Iterator[Figure]:
    """What a yardstick measures, on the first rows and on the changes of the backlog."""
    begun(FIRST)
    transactions = parts[BACKLOG].transactions if BACKLOG in parts else ()

    def make() -> None:
        begun(BACKLOG)
        with cursor(ground.uri(ground.source)) as source:
            for transaction in transactions:
                source.execute(transaction)

    changes = Changes(course.workload, course.rows, course.changes, make, parts[FIRST].expected)
    yield from yardstick.figures(course.job, ground, changes)
