"""What the tests of the MySQL source share: a database of its own, declared tables, and a source over them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql

from headwater.log.positions import Position
from headwater.options import read_options
from headwater.sources.base import Report, SourceContext, SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.sources.mysql.options import MysqlOptions
from headwater.sources.mysql.source import open_source
from tests.postgres.world import schema
from tests.stage.shared import SharedMysql, fresh


@contextmanager
def server_folder() -> Iterator[Path]:
    """A folder for a server that another test run cannot close: pytest's own are shut to other users whenever one starts.

    A server of root runs as another user, who finds a table read only from then on.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-mysql-") as made:
        yield Path(made)


class Database:
    """A database of a server, and a client on it."""

    def __init__(self, server: SharedMysql, name: str = "") -> None:
        self.server, self.name = server, name or fresh("db").replace("-", "_")
        self._client = self.connect()
        self.run(f"CREATE DATABASE IF NOT EXISTS {self.name}")
        self.run(f"USE {self.name}")

    def again(self) -> Database:
        """The same database, after its server was started again."""
        return Database(self.server, self.name)

    def connect(self) -> Any:
        """A connection of its own."""
        return pymysql.connect(
            host="127.0.0.1",
            port=self.server.port,
            user=self.server.user,
            password=self.server.password,
            autocommit=True,
            charset="utf8mb4",
        )

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements one after the other, each in a transaction of its own; the rows of the last."""
        with self._client.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]

    @property
    def is_maria(self) -> bool:
        """True if the server is a MariaDB."""
        return "MariaDB" in self.run("SELECT version()")[0][0]

    def place(self) -> tuple[str, int]:
        """Where the log of the server stands."""
        file, at, *_ = self.run("SHOW MASTER STATUS")[0]
        return file, int(at)

    def gtids(self) -> str:
        """The transactions that were executed, as the server writes them."""
        asked = "SELECT @@gtid_binlog_pos" if self.is_maria else "SELECT @@global.gtid_executed"
        return str(self.run(asked)[0][0]).replace("\n", "")

    @contextmanager
    def holding(self, *statements: str) -> Iterator[None]:
        """Somebody else ran statements, and has not ended the transaction."""
        client = self.connect()
        with client.cursor() as cursor:
            for statement in (f"USE {self.name}", *statements):
                cursor.execute(statement)
        yield
        client.close()

    def together(self, *statements: str) -> None:
        """Run statements in one transaction."""
        self.run("BEGIN", *statements, "COMMIT")

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for many rows."""
        with self._client.cursor() as cursor:
            cursor.executemany(statement, rows)

    def options(self, table: str, **options: str) -> MysqlOptions:
        """Options of a table; written with underscores for dashes and `__` for dots."""
        given = {
            "hostname": "127.0.0.1",
            "port": str(self.server.port),
            "username": self.server.user,
            "password": self.server.password,
            "database-name": self.name,
            "table-name": table,
        }
        given |= {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
        return read_options(MysqlOptions, given, owner="connector 'mysql-cdc'", place=None)

    def table(self, name: str, columns: str, *key: str, **options: str) -> SourceTable:
        """A declared table that reads the table of the same name."""
        remote = options.pop("table_name", name)
        return SourceTable(name, schema(columns, *key), self.options(remote, **options))

    def close(self) -> None:
        """Remove the database."""
        self.run(f"DROP DATABASE IF EXISTS {self.name}")
        self._client.close()


class World:
    """A source under test, its folder, and everything it said."""

    def __init__(self, folder: Path, pipeline: str = "") -> None:
        # Tests run side by side on one server, which lets only one reader of a number stay.
        pipeline = pipeline or fresh("test")
        self.reports: list[Report] = []
        self.context = SourceContext(pipeline, folder, self.reports.append)

    @contextmanager
    def source(self, *tables: SourceTable, after: Position | None = None) -> Iterator[CapturedSource]:
        """A started source."""
        opened = open_source(tables, self.context)
        try:
            opened.start(after)
            yield opened
        finally:
            opened.close()
