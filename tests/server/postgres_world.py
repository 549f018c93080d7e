"""A world for the Postgres endpoint without Spark: relations in memory, read by DuckDB, and the clients that ask."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import duckdb
import psycopg2
import pyarrow as pa
from sqlglot import exp

from headwater.errors import SqlError
from headwater.runtime.reading import Limits
from headwater.schema import Column, Schema, arrow_schema
from headwater.server.postgres.endpoint import Door, Endpoint
from headwater.services.postgres import psql_path


@dataclass(frozen=True)
class MemoryRelation:
    """A relation whose rows are in memory."""

    pipeline: str
    name: str
    kind: str
    schema: Schema
    rows: pa.Table = field(compare=False)


@dataclass(frozen=True)
class MemoryFound:
    """What DuckDB gave."""

    schema: Schema
    rows: pa.RecordBatchReader

    def batches(self) -> Iterator[pa.RecordBatch]:
        """As they come."""
        yield from self.rows


@dataclass(frozen=True)
class MemoryAsked:
    """A query that is being answered."""

    found: MemoryFound


@dataclass
class MemoryReader:
    """Reads what is in memory; a snapshot is the list of tables as it is at a moment."""

    now: dict[tuple[str, str], MemoryRelation] = field(default_factory=dict)
    held_by: int = 0
    """How many snapshots are held."""
    answering: int = 0
    """How many answers are not let go of."""
    waits_for: threading.Event | None = None
    """If there is one, a query is only answered once it is set; or given up."""
    waiting: threading.Event = field(default_factory=threading.Event)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def put(
        self, name: str, columns: Mapping[str, str], rows: Sequence[Sequence[object]], **more: object
    ) -> None:
        """Let a relation be there, with these rows and no others."""
        pipeline, _, relation = name.partition(".")
        key = more.get("key", ())
        assert isinstance(key, tuple)
        schema = Schema(tuple(Column(*one) for one in columns.items()), key)
        kinds = arrow_schema(schema)
        arrays = [pa.array([row[at] for row in rows], kind.type) for at, kind in enumerate(kinds)]
        table = pa.Table.from_arrays(arrays, schema=kinds)
        kind = str(more.get("kind", "table" if key else "view"))
        self.now = {**self.now, (pipeline, relation): MemoryRelation(pipeline, relation, kind, schema, table)}

    def relations(self) -> list[MemoryRelation]:
        """All of them."""
        return list(self.now.values())

    @contextmanager
    def held(self) -> Iterator[MemoryHeld]:
        """As they are now."""
        self.count(held=1)
        try:
            yield MemoryHeld(self, self.relations())
        finally:
            self.count(held=-1)

    def count(self, *, held: int = 0, answers: int = 0) -> None:
        """So many more are held, or not let go of; every client has a thread of its own."""
        with self._counting:
            self.held_by += held
            self.answering += answers


@dataclass(frozen=True)
class MemoryHeld:
    """Relations as they were at a moment."""

    reader: MemoryReader
    all: list[MemoryRelation]

    def relations(self) -> list[MemoryRelation]:
        """All of them."""
        return self.all

    @contextmanager
    def asked(self, query: exp.Query, limits: Limits) -> Iterator[MemoryAsked]:
        """What DuckDB gives."""
        if self.reader.waits_for is not None:
            self.reader.waiting.set()
            while not self.reader.waits_for.wait(0.01):
                if limits.given_up.is_set():
                    raise SqlError("the query was given up")
        with duckdb.connect() as database:
            database.execute("SET TimeZone = 'UTC'")
            for relation in self.all:
                database.register("rows_now", relation.rows)
                database.execute(f'CREATE SCHEMA IF NOT EXISTS "{relation.pipeline}"')
                database.execute(f'CREATE TABLE "{relation.pipeline}"."{relation.name}" AS FROM rows_now')
                database.unregister("rows_now")
            try:
                rows = database.sql(query.sql("duckdb")).to_arrow_reader(1_000)
            except duckdb.Error as problem:
                raise SqlError("the query cannot be computed", detail=str(problem)) from problem
            self.reader.count(answers=1)
            try:
                yield MemoryAsked(MemoryFound(Schema(()), rows))
            finally:
                self.reader.count(answers=-1)


@dataclass(frozen=True)
class World:
    """An endpoint, and what it reads."""

    endpoint: Endpoint
    reader: MemoryReader
    password: str = ""

    def connect(self, **more: str) -> psycopg2.extensions.connection:
        """A client."""
        return psycopg2.connect(**self.address | more)

    @property
    def address(self) -> dict[str, str]:
        """Where clients connect."""
        given = {
            "host": "127.0.0.1",
            "port": str(self.endpoint.port),
            "user": "headwater",
            "dbname": "headwater",
        }
        return given | ({"password": self.password} if self.password else {})

    def psql(self, *commands: str, expects: int = 0) -> str:
        """What psql prints for some commands, without alignment."""
        psql = self.open_psql(*commands)
        said, complained = psql.communicate(timeout=120)
        assert psql.returncode == expects, complained
        return said if expects == 0 else complained

    def open_psql(self, *commands: str) -> subprocess.Popen[str]:
        """A psql that is at work on some commands."""
        uri = " ".join(f"{name}='{value}'" for name, value in self.address.items())
        asked = [part for command in commands for part in ("-c", command)]
        started = [str(psql_path()), "-X", "-A", "-d", uri, *asked]
        return subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


ORDERS = {"id": "int", "customer": "string", "total": "decimal(10,2)"}


@contextmanager
def postgres_world(folder: Path, **door: object) -> Iterator[World]:
    """An endpoint over a small shop."""
    reader = MemoryReader()
    fill(reader)
    passwords = door.get("passwords", ())
    assert isinstance(passwords, tuple)
    endpoint = Endpoint(reader, Door(**door), note=folder / "postgres")  # type: ignore[arg-type]  # any of its fields
    try:
        yield World(endpoint, reader, passwords[0] if passwords else "")
    finally:
        endpoint.close()


def fill(reader: MemoryReader) -> None:
    """A table of orders and a view of totals."""
    orders = [
        (1, "ann", Decimal("10.50")),
        (2, "ann", Decimal("4.50")),
        (3, "bøb", Decimal("7.00")),
        (4, None, None),
    ]
    reader.put("shop.orders", ORDERS, orders, key=("id",))
    totals = [("ann", Decimal("15.00"), 2), ("bøb", Decimal("7.00"), 1), (None, None, 1)]
    reader.put("shop.totals", {"customer": "string", "total": "decimal(20,2)", "orders": "bigint"}, totals)
