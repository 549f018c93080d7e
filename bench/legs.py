"""The legs of a course: each makes a part of the changes in one manner, waits until the target is right, and measures."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from bench.contender import Failed
from bench.course import Field, Leg
from bench.results import Figure
from bench.watch import watching

COMMIT_SECONDS, TRANSFER_SECONDS = 0.5, 0.02


def commits(warm: str, part: str, question: str) -> Leg:
    """One commit after the other at a steady pace: how long until each is seen; every one makes a number grow by one."""

    def leg(field: Field) -> Iterator[Figure]:
        paced(field, warm, COMMIT_SECONDS)
        field.equal(warm)
        field.target.execute(question)
        before = field.target.fetchone()[0]
        with watching(field.ground.uri(field.ground.target), question) as seen:
            made = paced(field, part, COMMIT_SECONDS)
            field.equal(part)
            # The reader is to see it too.
            wait_seen(seen, before + len(made))
        taken = sorted(
            1000 * (next(t for t, value in seen if value > before + number) - at)
            for number, at in enumerate(made)
        )
        yield field.figure("commit to row, p50", statistics.median(taken), "ms")
        yield field.figure("commit to row, p95", statistics.quantiles(taken, n=20)[-1], "ms")
        yield field.figure("commit to row, max", taken[-1], "ms")

    return leg


def single(part: str) -> Leg:
    """One transaction: how long until the target is right."""

    def leg(field: Field) -> Iterator[Figure]:
        for transaction in field.parts[part].transactions:
            field.make(transaction)
        begin = time.perf_counter()
        field.equal(part)
        yield field.figure(part, time.perf_counter() - begin, "s")

    return leg


def transfers(part: str, question: str) -> Leg:
    """Transfers that leave a number as it is, while a reader asks for it: how often it sees another one."""

    def leg(field: Field) -> Iterator[Figure]:
        field.target.execute(question)
        right = field.target.fetchone()[0]
        with watching(field.ground.uri(field.ground.target), question) as seen:
            paced(field, part, TRANSFER_SECONDS)
            field.equal(part)
        wrong = sum(value != right for _, value in seen)
        yield field.figure("polls of the total", len(seen), "polls")
        yield field.figure("wrong totals", 100 * wrong / len(seen), "%")

    return leg


def running(part: str) -> Leg:
    """Many changes, made as fast as the server takes them: how many a second until the target is right."""

    def leg(field: Field) -> Iterator[Figure]:
        begin = time.perf_counter()
        for transaction in field.parts[part].transactions:
            field.make(transaction)
        field.equal(part)
        taken = time.perf_counter() - begin
        yield field.figure(part, field.course.changes / taken, "changes/s")

    return leg


def backlog(part: str) -> Leg:
    """Many changes, made while all processes of the contender are frozen; time runs from when they go on.

    What stands between the source and the contender is not frozen, and has handed everything on by then.
    """

    def leg(field: Field) -> Iterator[Figure]:
        field.program.freeze()
        try:
            for transaction in field.parts[part].transactions:
                field.make(transaction)
            field.arrived()
        finally:
            begin = time.perf_counter()
            field.program.thaw()
        field.equal(part)
        taken = time.perf_counter() - begin
        yield field.figure(part, field.course.changes / taken, "changes/s")

    return leg


def paced(field: Field, part: str, seconds: float) -> list[float]:
    """Commit a part's transactions one by one, so many seconds apart; when each was committed."""
    moments, due = [], time.monotonic()
    for transaction in field.parts[part].transactions:
        due += seconds
        time.sleep(max(0.0, due - time.monotonic()))
        field.make(transaction)
        moments.append(time.perf_counter())
        field.program.check()
    return moments


def wait_seen(seen: list[tuple[float, int]], number: int) -> None:
    """Until the reader has seen a number that the target shows already."""
    deadline = time.monotonic() + 60.0
    while not seen or seen[-1][1] < number:
        if time.monotonic() > deadline:
            raise Failed("the reader did not see what the target shows")
        time.sleep(0.001)
