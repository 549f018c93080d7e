"""Plain SQL in a database, as the server's own client would run it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg2
import psycopg2.extensions
import pymysql
import sqlglot
from psycopg2 import sql
from pymysql.constants.SERVER_STATUS import SERVER_STATUS_IN_TRANS
from pymysql.cursors import SSCursor
from sqlglot.tokenizer_core import TokenType

from headwater.jdbc_url import MYSQL, Address
from headwater.options import Secret
from headwater.sources.base import Client, Outcome, Refusal
from headwater.sources.jdbc import mysql, postgres

_ASKS = ("SELECT", "VALUES", "TABLE", "WITH")
_DOES = {"INSERT", "UPDATE", "DELETE", "MERGE", "INTO"}
"""Words of what Postgres does not take as a cursor."""

_DECLARE = "DECLARE headwater_shown NO SCROLL CURSOR FOR "

# Dates, times and intervals as the server writes them: Python has no year 10000, no 24:00 and no infinity.
_MOMENTS = psycopg2.extensions.new_type(
    (1082, 1083, 1266, 1114, 1184, 1186), "MOMENTS", lambda value, cursor: value
)

_RUN = re.compile(r"^/\*M?!\d*\s*")
_NEAR = re.compile(r"near '(?P<words>.*)' at line (?P<line>\d+)", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^']*\.)?([^'.]+)'")


def client_of(address: Address, password: Secret | None) -> Client:
    """A connection to a database."""
    if address.kind == MYSQL:
        return MysqlClient(address, password)
    return PostgresClient(address, password)


class PostgresClient:
    """A connection to Postgres."""

    dialect = "postgres"

    def __init__(self, address: Address, password: Secret | None) -> None:
        self._connection = postgres.connected(address, password)
        psycopg2.extensions.register_type(_MOMENTS, self._connection)

    def run(self, statement: str, limit: int) -> Outcome:
        """Run one statement; the server keeps the rows of a question, of which only the first come here."""
        if not _only_asks(statement):
            return self._run(statement, limit)
        if self.in_transaction():
            return self._ask(statement, limit)
        with _refusing(), self._connection.cursor() as cursor:
            cursor.execute("BEGIN")
        try:
            return self._ask(statement, limit)
        finally:
            self._end()

    def _end(self) -> None:
        """End the transaction around a question; after a refusal that undoes it, and what is lost needs no end."""
        if not self._connection.closed:
            with _refusing(), self._connection.cursor() as cursor:
                cursor.execute("COMMIT")

    def _run(self, statement: str, limit: int) -> Outcome:
        with _refusing(), self._connection.cursor() as cursor:
            cursor.execute(statement)
            if cursor.description is None:
                return Outcome(cursor.statusmessage or "done", count=max(0, cursor.rowcount))
            names = tuple(column.name for column in cursor.description)
            rows = tuple(cursor.fetchmany(limit))
            return Outcome(cursor.statusmessage or "done", names, rows, cursor.rowcount)

    def _ask(self, statement: str, limit: int) -> Outcome:
        with _refusing(len(_DECLARE)), self._connection.cursor() as cursor:
            cursor.execute(sql.SQL(_DECLARE) + sql.SQL(statement))
            cursor.execute(sql.SQL("FETCH {} FROM headwater_shown").format(sql.Literal(limit)))
            names = tuple(column.name for column in cursor.description)
            rows = tuple(cursor.fetchall())
            # All of it is computed, as it would be without us: functions that do something do it for each row.
            cursor.execute("MOVE FORWARD ALL FROM headwater_shown")
            count = len(rows) + max(0, cursor.rowcount)
            cursor.execute("CLOSE headwater_shown")
            return Outcome(f"SELECT {count}", names, rows, count)

    def in_transaction(self) -> bool:
        """True if a transaction was begun and not ended."""
        status = self._connection.info.transaction_status
        return bool(status != psycopg2.extensions.TRANSACTION_STATUS_IDLE)

    def close(self) -> None:
        """Leave."""
        self._connection.close()


def _only_asks(statement: str) -> bool:
    tokens = sqlglot.tokenize(statement, read="postgres")
    words = [t.text.upper() for t in tokens if t.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)]
    first = next((word for word in words if word != "("), "")
    return first in _ASKS and _DOES.isdisjoint(words)


@contextmanager
def _refusing(ahead: int = 0) -> Iterator[None]:
    """Let Postgres' refusal be one of the statement, before which so many letters were put."""
    try:
        yield
    except psycopg2.Error as error:
        said = error.diag
        at = int(said.statement_position) - 1 - ahead if said.statement_position else None
        raise Refusal(
            said.message_primary or " ".join(str(error).split()),
            detail=said.message_detail or "",
            hint=said.message_hint or "",
            at=at if at is not None and at >= 0 else None,
        ) from error


class MysqlClient:
    """A connection to MySQL or MariaDB."""

    dialect = "mysql"

    def __init__(self, address: Address, password: Secret | None) -> None:
        self._connection = mysql.connected(address, password, autocommit=True)

    def run(self, statement: str, limit: int) -> Outcome:
        """Run one statement."""
        try:
            with self._connection.cursor(SSCursor) as cursor:
                changed = cursor.execute(statement)
                if cursor.description is None:
                    return Outcome(_done(statement, changed), count=changed)
                names = tuple(column[0] for column in cursor.description)
                rows = tuple(cursor.fetchmany(limit))
                count = len(rows) + sum(1 for _ in cursor)
            # A question may have begun a transaction: the server tells only with its next word.
            self._connection.ping(reconnect=False)
            return Outcome(_done(statement, count), names, rows, count)
        except pymysql.Error as error:
            said = str(error.args[-1])
            raise Refusal(
                said, detail=f"MySQL's code is {error.args[0]}.", at=_place(said, statement)
            ) from error

    def in_transaction(self) -> bool:
        """True if a transaction was begun and not ended."""
        return bool(self._connection.server_status & SERVER_STATUS_IN_TRANS)

    def close(self) -> None:
        """Leave."""
        self._connection.close()


def _done(statement: str, rows: int) -> str:
    """What was done, in the words that Postgres has for it: `UPDATE 3`."""
    verb = _RUN.sub("", statement).split(None, 1)[0].upper().rstrip(";")
    return f"{verb} {rows}" if verb in ("INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT") else verb


def _place(said: str, statement: str) -> int | None:
    """Where in a statement MySQL's complaint points to: the words it repeats, or the name it quotes."""
    near = _NEAR.search(said)
    if near is not None:
        lines = statement.split("\n")
        begin = sum(len(line) + 1 for line in lines[: int(near["line"]) - 1])
        found = statement.find(near["words"], begin)
        return found if found >= 0 else begin
    for name in _QUOTED.findall(said):
        whole = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", statement)
        if whole is not None:
            return whole.start()
    return None
