"""What the tests of whole pipelines share: scripts, commands, pipelines in this process, and an oracle."""

from __future__ import annotations

import io
import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2

from headwater.cli.main import main
from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.services.postgres import EmbeddedPostgres
from headwater.sources.base import Report
from tests.postgres.world import Database, wait_for

ALL = 10_000_000
START_SECONDS = 120.0
"""Java and Spark may take long to start on a busy machine."""

Bag = Counter[tuple[Any, ...]]

_NUMBERS = itertools.count(1)


@contextmanager
def made_database(server: EmbeddedPostgres) -> Iterator[Database]:
    """An empty database of a server; slots that are left behind in it are gone afterwards."""
    name = f"pipeline_{next(_NUMBERS)}"
    admin = psycopg2.connect(server.uri)
    admin.autocommit = True
    try:
        with admin.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    finally:
        admin.close()
    found = Database(f"{server.uri.rsplit('/', 1)[0]}/{name}")
    try:
        yield found
        found.clean()
    finally:
        found.close()


@dataclass(frozen=True)
class Ran:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


def command(*words: str | Path) -> Ran:
    """Run a command of `headwater` in this process, so that it shares the tests' Spark.

    What it does not turn into an exit code comes out as what it is, and fails the test.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(word) for word in words])
    return Ran(code, out.getvalue(), err.getvalue())


@contextmanager
def process(
    folder: Path, *words: str | Path, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A `headwater` of its own; what it says goes to `out` and `err` in the folder. It is gone at the end."""
    with (folder / "out").open("ab") as out, (folder / "err").open("ab") as err:
        running = subprocess.Popen(
            [sys.executable, "-m", "headwater", *map(str, words)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(env or {})},
        )
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
            running.wait()


def said(folder: Path) -> str:
    """All that the processes of a folder said."""
    return (folder / "out").read_text() + (folder / "err").read_text()


@dataclass
class Listening:
    """Remembers what a pipeline reports."""

    reports: list[Report] = field(default_factory=list)
    batches: list[BatchDone] = field(default_factory=list)

    def report(self, report: Report) -> None:
        """Something that takes a while has come further."""
        self.reports.append(report)

    def batch(self, done: BatchDone) -> None:
        """A batch is done."""
        self.batches.append(done)

    def subjects(self, stage: str) -> set[str]:
        """What was reported of a stage."""
        return {report.subject for report in self.reports if report.stage == stage}


@contextmanager
def pipeline(
    text: str, folder: Path, listening: Listening | None = None, *, file: str = "pipeline.sql"
) -> Iterator[Pipeline]:
    """A pipeline in this process, closed at the end."""
    opened = open_pipeline(text, file=file, state=folder / "state", listener=listening or Listening())
    try:
        yield opened
    finally:
        opened.close()


def rows(of: Pipeline, relation: str) -> Bag:
    """What a view holds."""
    table = of.rows(relation, ALL)
    return Counter(zip(*(table.column(n).to_pylist() for n in of.schema(relation).names), strict=True))


def bag(database: Database, query: str) -> Bag:
    """What Postgres itself answers."""
    return Counter(database.run(query))


def both(database: Database, one: str, other: str) -> tuple[Bag, Bag]:
    """What two queries give at one moment."""
    with database.client() as client, client, client.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        found = []
        for query in (one, other):
            cursor.execute(query)
            found.append(Counter(cursor.fetchall()))
    return found[0], found[1]


def become_equal(database: Database, sink: str, query: str, *, seconds: float = START_SECONDS) -> Bag:
    """Wait until a sink holds what the query gives, and give that."""
    last: list[tuple[Bag, Bag]] = []

    def equal() -> bool:
        last[:] = [both(database, sink, query)]
        return last[0][0] == last[0][1]

    try:
        wait_for(equal, seconds=seconds)
    except AssertionError:
        found, expected = last[0]
        raise AssertionError(
            f"only in the sink {found - expected}, only in the query {expected - found}"
        ) from None
    return last[0][0]


def source(database: Database, table: str, columns: str = "", **options: str) -> str:
    """A CREATE TABLE that reads a table of the database; `columns` with its brackets."""
    given = {
        "connector": "postgres-cdc",
        "hostname": "127.0.0.1",
        "port": str(database.port),
        "username": "postgres",
        "password": "postgres",
        "database-name": database.name,
        "table-name": table,
    }
    return _create(table, columns, given, options)


def sink(database: Database, table: str, columns: str, **options: str) -> str:
    """A CREATE TABLE that writes a table of the database."""
    given = {
        "connector": "jdbc",
        "url": f"jdbc:postgresql://127.0.0.1:{database.port}/{database.name}",
        "table-name": table,
        "username": "postgres",
        "password": "postgres",
    }
    return _create(table, columns, given, options)


def _create(table: str, columns: str, given: dict[str, str], options: dict[str, str]) -> str:
    """Options are written with underscores for dashes and `__` for dots; an empty one is left out."""
    given |= {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    name = options.pop("name", table)
    given.pop("name", None)
    listed = ",\n".join(f"  '{key}' = '{value}'" for key, value in given.items() if value)
    return f"CREATE TABLE {name} {columns} WITH (\n{listed}\n);\n"
