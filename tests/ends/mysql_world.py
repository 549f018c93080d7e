"""What the tests of the jdbc sink share for MySQL and MariaDB: a database of its own, and a client of the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pymysql

from headwater.options import read_options
from headwater.schema import Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.options import JdbcOptions
from tests.ends.postgres_world import wait_for
from tests.stage.shared import fresh


class Login(Protocol):
    """A server that lets somebody in."""

    @property
    def port(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def password(self) -> str: ...


class MysqlDatabase:
    """One database of a server, and sink tables that lie in it."""

    def __init__(self, server: Login) -> None:
        self.server, self.name = server, fresh("sink").replace("-", "_")
        self._client = self._connected("")
        self.run(f"CREATE DATABASE {self.name}")
        self.run(f"USE {self.name}")

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in a transaction of its own and give its rows."""
        with self._client.cursor() as cursor:
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A cursor of a second session, in an open transaction that is undone at the end."""
        connection = self._connected(self.name)
        connection.autocommit(False)
        try:
            yield connection.cursor()
        finally:
            connection.close()

    def url(self, parameters: str = "", *, port: int | None = None, name: str = "mysql") -> str:
        """The database as a jdbc url."""
        return f"jdbc:{name}://127.0.0.1:{port or self.server.port}/{self.name}{parameters}"

    def table(self, name: str, declared: Schema, *, append_only: bool = False, **options: str) -> SinkTable:
        """A sink table; options are written with underscores for dashes and `__` for dots."""
        given = {
            "url": self.url(),
            "table-name": name,
            "username": self.server.user,
            "password": self.server.password,
        }
        given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
        read = read_options(JdbcOptions, given, owner="connector 'jdbc'", place=None)
        return SinkTable(name, declared, read, append_only)

    def wait_for_waiting(self, count: int = 1) -> list[int]:
        """The sessions of this database that wait for a lock of a row, as soon as there are so many."""
        # MySQL looks anew only if nobody asked for a tenth of a second.
        seen: list[int] = []

        def are_waiting() -> bool:
            seen[:] = self._waiting()
            return len(seen) == count

        wait_for(are_waiting, pause=0.15)
        return seen

    def _waiting(self) -> list[int]:
        found = self.run(
            "SELECT t.trx_mysql_thread_id FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
            f" ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = '{self.name}'"
        )
        return [number for (number,) in found]

    def close(self) -> None:
        """Remove the database."""
        self.run(f"DROP DATABASE {self.name}")
        self._client.close()

    def _connected(self, database: str) -> Any:
        return pymysql.connect(
            host="127.0.0.1",
            port=self.server.port,
            user=self.server.user,
            password=self.server.password,
            database=database or None,
            autocommit=True,
            charset="utf8mb4",
            init_command="SET time_zone = '+00:00'",
        )
