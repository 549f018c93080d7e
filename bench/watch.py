"""Who looks on while a contender works: a reader of the target, and one who adds up memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2

from bench.contender import CAUSES, Program

WATCH_SECONDS, MEMORY_SECONDS = 0.005, 0.5


@contextmanager
def cursor(uri: str) -> Iterator[Any]:
    """A cursor; each text it executes is a transaction."""
    client = psycopg2.connect(uri)
    client.autocommit = True
    try:
        yield client.cursor()
    finally:
        client.close()


@contextmanager
def watching(uri: str, question: str) -> Iterator[list[tuple[float, int]]]:
    """Somebody asks for a number again and again: every moment of an answer, and the answer."""
    seen: list[tuple[float, int]] = []

    def look(over: threading.Event) -> None:
        with cursor(uri) as target:
            while not over.wait(WATCH_SECONDS):
                target.execute(question)
                value = int(target.fetchone()[0])
                seen.append((time.perf_counter(), value))

    with beside(look):
        yield seen


@contextmanager
def peak(program: Program) -> Iterator[list[int]]:
    """The memory of a contender, looked at again and again."""
    found = [0]

    def look(over: threading.Event) -> None:
        while not over.wait(MEMORY_SECONDS):
            found.append(program.memory())

    with beside(look):
        yield found


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Something runs beside the block in a thread; it ends with the block, and what it failed of is raised there."""
    over = threading.Event()
    faults: list[Exception] = []

    def run() -> None:
        try:
            work(over)
        except CAUSES as fault:
            faults.append(fault)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if faults:
        raise faults[0]
