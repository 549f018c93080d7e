"""The claims database: made once, then changed by real transactions for as long as someone watches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import psycopg2
from psycopg2.extras import execute_values

from headwater.demo import claims_data as data
from headwater.errors import SourceError

EVERY_SECONDS = 0.5

MOST_AT_ONCE = 3
"""The rows one transaction changes at most."""

CROWDED = data.CLAIMS * 6 // 5
"""Above so many claims more go than come, so that a demo left alone does not grow for ever."""


def claims_sql(uri: str, *more: str) -> str:
    """The demo's pipeline, and `more` files of it, with the host and port of the database at `uri`."""
    text = "\n".join(_packaged(name) for name in ("claims.sql", *more))
    place = urlsplit(uri)
    text = text.replace("'hostname' = 'postgres'", f"'hostname' = '{place.hostname or 'localhost'}'")
    return text.replace("'port' = '5432'", f"'port' = '{place.port or 5432}'")


def claims_dashboard() -> str:
    """The demo's dashboard, as its file has it."""
    return _packaged("claims_dashboard.json")


def make_tables(uri: str) -> bool:
    """Make the tables and their first rows where there are none; True if rows were made."""
    with connected(uri) as connection, connection, connection.cursor() as cursor:
        cursor.execute(data.DDL)
        cursor.execute("SELECT EXISTS (SELECT FROM claims.members)")
        if cursor.fetchone()[0]:
            return False
        execute_values(cursor, data.INSERT_MEMBERS, list(data.first_members()), page_size=data.MEMBERS)
        execute_values(cursor, data.INSERT_CLAIMS, list(data.first_claims()), page_size=data.CLAIMS)
        return True


class Office:
    """Where claims come in, move on and go; it remembers how many there are and who is insured."""

    def __init__(self, connection: Any, *, moves: int = 5) -> None:
        """Of about a hundred changes, `moves` are members who change their company."""
        self._connection = connection
        self._moves = moves
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT count(*), coalesce(max(claim_id), 0) FROM claims.accident_claims")
            self._claims, last = cursor.fetchone()
            cursor.execute("SELECT id FROM claims.members ORDER BY id")
            self._members = [row[0] for row in cursor.fetchall()]
        # A demo that goes on does not repeat itself, yet equal databases see equal changes.
        self._dice = random.Random(last)

    def work(self, most: int) -> int:
        """One transaction that changes at most so many rows; returns how many."""
        count = min(self._dice.choice((1, 1, 1, 2, 3)), most)
        with self._connection, self._connection.cursor() as cursor:
            for _ in range(count):
                self._change_one(cursor)
        return count

    def _change_one(self, cursor: Any) -> None:
        crowded = self._claims > CROWDED
        acts: dict[Callable[[Any], None], int] = {
            self._come: 25 if crowded else 45,
            self._move_on: 25,
            self._correct: 10,
            self._go: 35 if crowded else 15,
            self._change_company: self._moves,
        }
        self._dice.choices(list(acts), list(acts.values()))[0](cursor)
        if cursor.rowcount == 0:
            # The tables were emptied by someone else: then a claim comes.
            self._come(cursor)

    def _come(self, cursor: Any) -> None:
        row = data.claim(self._dice, self._members, status="INITIAL")
        execute_values(cursor, data.INSERT_CLAIMS, [row])
        self._claims += 1

    def _move_on(self, cursor: Any) -> None:
        status = self._dice.choices(data.STATUSES[1:], (50, 30, 20))[0]
        cursor.execute(data.SET_STATUS, {"status": status, "luck": self._dice.random()})

    def _correct(self, cursor: Any) -> None:
        total = float(data.total(self._dice))
        cursor.execute(data.SET_TOTAL, {"total": total, "luck": self._dice.random()})

    def _go(self, cursor: Any) -> None:
        cursor.execute(data.DELETE_CLAIM, {"luck": self._dice.random()})
        self._claims -= cursor.rowcount

    def _change_company(self, cursor: Any) -> None:
        company = self._dice.choice(data.COMPANIES)
        member = self._dice.choice(self._members) if self._members else None
        cursor.execute(data.SET_COMPANY, {"company": company, "member": member})


@contextmanager
def connected(uri: str) -> Iterator[Any]:
    """A connection that is closed at the end; what Postgres says becomes an error of ours."""
    try:
        connection = psycopg2.connect(uri, connect_timeout=10, application_name="headwater demo")
    except psycopg2.Error as refused:
        raise SourceError(
            "cannot connect to the demo's database",
            detail=_said(refused),
            hint="Give the address as --uri postgresql://USER:PASSWORD@HOST:PORT/DATABASE.",
        ) from refused
    try:
        yield connection
    except psycopg2.Error as failed:
        raise SourceError("the demo's database refused a change", detail=_said(failed)) from failed
    finally:
        connection.close()


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _packaged(name: str) -> str:
    return resources.files("headwater.demo").joinpath(name).read_text(encoding="utf-8")
