"""The first rows of tables, all as of one moment whose place in the log is known.

MariaDB tells that place to a transaction itself. MySQL does not: there the tables are locked against writers, the
transaction is opened, the place is asked for, and the tables are free again, long before the first row is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pymysql
import pymysql.cursors
from sqlglot import exp

from headwater.errors import SourceError
from headwater.log.events import INSERT, WEIGHTS, first_history, told_schema
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.log.text_values import is_bytes, typed_column
from headwater.sources.base import Report
from headwater.sources.mysql.catalog import ServerTable
from headwater.sources.mysql.checks import Pair
from headwater.sources.mysql.connect import Address, connect
from headwater.sources.mysql.places import Place
from headwater.sources.mysql.server import ServerFacts, account, end_of_log
from headwater.sources.mysql.types import family, selected

FETCH_ROWS = 500
CHUNK_ROWS, CHUNK_BYTES = 20_000, 4_000_000
LOCK_SECONDS = 20

_BEGIN = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_BEGIN_MARIA = (_BEGIN[0], "START TRANSACTION WITH CONSISTENT SNAPSHOT")
_LOCK_TIMEOUT = 1205
_NOT_ALLOWED = (1044, 1142)
_TRANSACTIONAL = ("innodb", "rocksdb", "tokudb", "ndbcluster")

Progress = Callable[[Report], None]
"""Hears how far the first rows of a table are."""


class Snapshot:
    """A transaction that sees the server as of one moment; `place` is that moment in the log."""

    def __init__(self, address: Address, facts: ServerFacts, tables: list[ServerTable]) -> None:
        self._opened, self._holding = connect(address), connect(address)
        self.executed = ""
        """The transactions before that place, as MySQL writes them."""
        try:
            # A transaction does not see these as of one moment: nobody writes to them until they are read.
            held = [table for table in tables if table.engine.lower() not in _TRANSACTIONAL]
            _lock(self._holding.cursor(), held)
            if facts.is_maria:
                self.place = self._begin_maria()
            else:
                self.place = self._begin_locked(address, [table for table in tables if table not in held])
        except BaseException:
            self.close()
            raise

    def _begin_maria(self) -> Place:
        with self._opened.cursor() as cursor:
            for command in _BEGIN_MARIA:
                cursor.execute(command)
            cursor.execute(
                "SHOW STATUS WHERE variable_name IN ('binlog_snapshot_file', 'binlog_snapshot_position')"
            )
            found = {str(name).lower(): value for name, value in cursor.fetchall()}
        return Place(str(found["binlog_snapshot_file"]), int(found["binlog_snapshot_position"]))

    def _begin_locked(self, address: Address, tables: list[ServerTable]) -> Place:
        locking = connect(address)
        try:
            with locking.cursor() as locks, self._opened.cursor() as reads:
                _lock(locks, tables)
                for command in _BEGIN:
                    reads.execute(command)
                place, self.executed = end_of_log(locks)
                locks.execute("UNLOCK TABLES")
                return place
        finally:
            locking.close()

    def copy(self, pair: Pair, log: LogWriter, *, position: int, progress: Progress) -> tuple[Segment, ...]:
        """Write all rows of a table into the log as inserts at `position`."""
        stream = log.snapshot(pair.declared.name)
        typer = _Typer(pair, position, log.seq)
        table = exp.table_(pair.found.name, db=pair.found.schema, quoted=True)
        query = exp.select(*typer.wanted).from_(table)
        done = 0
        progress(Report("snapshot", pair.declared.name, 0, pair.found.estimate))
        cursor = self._opened.cursor(pymysql.cursors.SSCursor)
        try:
            cursor.execute(query.sql(dialect="mysql"))
            for rows in _chunks(cursor):
                stream.write(typer.events(rows))
                done += len(rows)
                progress(Report("snapshot", pair.declared.name, done, pair.found.estimate))
        except BaseException:
            # A cursor that is closed reads on to the end; this one is to let go at once.
            cursor.connection = None
            raise
        cursor.close()
        log.seq = typer.seq
        return stream.close()

    def close(self) -> None:
        """End the transaction."""
        self._opened.close()
        self._holding.close()


def _lock(cursor: Any, tables: list[ServerTable]) -> None:
    if not tables:
        return
    names = [exp.table_(table.name, db=table.schema, quoted=True).sql(dialect="mysql") for table in tables]
    try:
        cursor.execute(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")
        cursor.execute("LOCK TABLES " + ", ".join(f"{name} READ" for name in names))
    except pymysql.OperationalError as error:
        if error.args[0] in _NOT_ALLOWED:
            raise _unlockable(cursor, tables, str(error.args[-1])) from error
        if error.args[0] != _LOCK_TIMEOUT:
            raise
        raise SourceError(
            "the tables cannot be locked for the moment in which their first rows begin",
            detail=f"A transaction has held one of {', '.join(table.shown for table in tables)} for more than"
            f" {LOCK_SECONDS} seconds.",
            hint="See SHOW PROCESSLIST for it, and start again when it is over.",
        ) from error


def _unlockable(cursor: Any, tables: list[ServerTable], said: str) -> SourceError:
    schemas = ", ".join(sorted({table.schema for table in tables}))
    grants = [f"GRANT LOCK TABLES ON `{schema}`.* TO {account(cursor)};" for schema in schemas.split(", ")]
    return SourceError(
        f"the user may not lock tables of {schemas}",
        detail=f"{said}. They are locked for the moment in which their first rows begin.",
        hint=" ".join(grants),
    )


def _chunks(cursor: Any) -> Iterator[list[tuple[Any, ...]]]:
    """Rows in pieces that are bounded in number and in size."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    while some := cursor.fetchmany(FETCH_ROWS):
        rows += some
        size += sum(len(value) for row in some for value in row if value is not None)
        if len(rows) >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


class _Typer:
    """Turns rows of texts into typed insert events."""

    def __init__(self, pair: Pair, position: int, seq: int) -> None:
        self._pair, self._position, self.seq = pair, position, seq
        self._schema = told_schema(pair.declared.schema)
        self.wanted: list[exp.Expr] = []
        self._families = []
        constants = {"database_name": pair.found.schema, "table_name": pair.found.name}
        for column in pair.declared.schema:
            taken = pair.declared.metadata.get(column.name)
            if taken is not None:
                self.wanted.append(exp.Literal.string(constants[taken]))
                self._families.append("text")
                continue
            found = pair.found.column(column.name)
            assert found is not None
            self.wanted.append(selected(found))
            self._families.append(family(found, pair.zone))

    def events(self, rows: list[tuple[Any, ...]]) -> pa.Table:
        declared, count = self._pair.declared, len(rows)
        columns = [
            typed_column(
                pa.array(values, pa.binary() if is_bytes(how) else pa.string()),
                column,
                family=how,
                table=declared.name,
                place=declared.place,
            )
            for values, column, how in zip(
                zip(*rows, strict=True), declared.schema, self._families, strict=True
            )
        ]
        columns.append(pa.repeat(INSERT, count))
        columns.append(pa.repeat(pa.scalar(WEIGHTS[INSERT], pa.int8()), count))
        columns.append(pa.repeat(pa.scalar(self._position, pa.int64()), count))
        columns.append(pa.array(range(self.seq + 1, self.seq + count + 1), pa.int64()))
        columns.append(pa.nulls(count, pa.list_(pa.string())))
        columns += first_history(count, datetime.now(UTC))
        self.seq += count
        return pa.Table.from_arrays(columns, schema=self._schema)
