"""What people hold at a bank, and each change of it as a row: the files, the trades and the questions of one demo."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.demo.claims import connected
from headwater.demo.looks import Look
from headwater.demo.package_files import connector_file, packaged, sql_file
from headwater.demo.session import DemoFolder
from headwater.demo.stage import Ports
from headwater.services.postgres import PostgresServer

NAME = "audit"
CONNECTOR = "sde-connector"
TOPIC = "bankserver1.bank.holding"
PIVOT_FILE, QUESTIONS_FILE = "holding-pivot.txt", "questions.sql"

EVERY_SECONDS = 1.0
NEWEST = 12
"""So many of the newest rows are shown."""

FIRST_HOLDING = 1000
USERS = range(1, 6)
STOCKS = ("VFIAX", "SP500", "VTSAX", "VBTLX", "VTI", "BND")
CROWDED = 40
"""Above so many holdings more are sold than bought, so that a demo left alone does not grow for ever."""

GIVEN = {
    "'given user id'": "'3'",
    "'given_user_id'": "'3'",
    "'given date 1'": "'yesterday'",
    "'given date 2'": "'tomorrow'",
}
"""Of whom and of when the questions are asked."""

ANSWERS = (
    "1 stocks that user 3 changed or sold",
    "2 quantities that user 3 changed",
    "3 sold most often, as it was asked",
    "3 sold most often, of stocks alone",
)
COUNT = "rows of holding_pivot"

PIVOT_DDL = """
CREATE TABLE IF NOT EXISTS public.holding_pivot (holding_id int, user_id int, change_field text, old_value text,
    new_value text, datetime_created timestamptz, datetime_updated timestamptz, datetime_deleted timestamptz,
    datetime_inserted timestamptz, crud_type text)
"""
_NEWEST = """
SELECT holding_id, user_id, change_field, old_value, new_value, crud_type,
    to_char(coalesce(datetime_created, datetime_updated), 'HH24:MI:SS') AS at
FROM holding_pivot ORDER BY datetime_inserted DESC, holding_id DESC, change_field LIMIT %s
"""
_LISTENS = "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE confirmed_flush_lsn IS NOT NULL)"
_ONE = """(SELECT holding_id FROM bank.holding ORDER BY holding_id
    OFFSET floor(%(luck)s * (SELECT count(*) FROM bank.holding)) LIMIT 1)"""
_BUY = "INSERT INTO bank.holding VALUES (%(holding)s, %(user)s, %(stock)s, %(quantity)s, now(), now())"
_SELL = f"DELETE FROM bank.holding WHERE holding_id = {_ONE}"
_SET_STOCK = (
    f"UPDATE bank.holding SET holding_stock = %(stock)s, datatime_updated = now() WHERE holding_id = {_ONE}"
)
_SET_QUANTITY = (
    "UPDATE bank.holding SET holding_quantity = %(quantity)s, datatime_updated = now()"
    f" WHERE holding_id = {_ONE}"
)


def variant(*, through_kafka: bool) -> str:
    """How the demo was begun, in words."""
    return f"{'through' if through_kafka else 'without'} Kafka"


def make_tables(uri: str) -> bool:
    """Make the bank and an empty table for the answers where there are none; True if a row was made."""
    with connected(uri) as connection, connection, connection.cursor() as cursor:
        cursor.execute(PIVOT_DDL)
        cursor.execute("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'bank')")
        if cursor.fetchone()[0]:
            return False
        cursor.execute(packaged("audit_setup.sql"))
        return True


class Trader:
    """Trades as it is written, then as it comes; begins once somebody listens: what was before is no history."""

    def __init__(self, connection: Any) -> None:
        # Each statement is a transaction, as it is when people type them.
        connection.autocommit = True
        self._connection = connection
        with connection.cursor() as cursor:
            cursor.execute("SELECT coalesce(max(holding_id), 0) FROM bank.holding")
            (last,) = cursor.fetchone()
        self._written = statements("audit_trades.sql") if last == FIRST_HOLDING else []
        self._last, self._dice, self._listens = max(last, FIRST_HOLDING + 1000), random.Random(last), False

    def work(self, most: int) -> int:
        """One trade; none while nobody listens."""
        with self._connection.cursor() as cursor:
            if not self._is_heard(cursor):
                return 0
            if self._written:
                cursor.execute(self._written.pop(0))
                return 1
            self._trade(cursor)
        return 1

    def _is_heard(self, cursor: Any) -> bool:
        if not self._listens:
            cursor.execute(_LISTENS)
            (self._listens,) = cursor.fetchone()
        return self._listens

    def _trade(self, cursor: Any) -> None:
        cursor.execute("SELECT count(*) FROM bank.holding")
        crowded = cursor.fetchone()[0] > CROWDED
        kinds = {_BUY: 20 if crowded else 40, _SET_QUANTITY: 25, _SET_STOCK: 15, _SELL: 40 if crowded else 20}
        statement = self._dice.choices(list(kinds), list(kinds.values()))[0]
        self._last += 1
        said = {
            "holding": self._last,
            "user": self._dice.choice(USERS),
            "stock": self._dice.choice(STOCKS),
            "quantity": self._dice.randint(1, 100),
            "luck": self._dice.random(),
        }
        cursor.execute(statement, said)
        if cursor.rowcount == 0:
            # Somebody else sold everything: then something is bought.
            cursor.execute(_BUY, said)


def statements(name: str) -> list[str]:
    """The statements of a file of the package, each with the remarks before it."""
    return [part.strip() for part in packaged(name).split(";") if part.strip()]


def questions() -> list[str]:
    """The questions, asked of a user and of some days."""
    return [_given(query) for query in statements("audit_questions.sql")]


def _given(text: str) -> str:
    for old, new in GIVEN.items():
        text = text.replace(old, new)
    return text


def looker() -> Callable[[Any], Look]:
    """A function that asks the questions and sees the newest rows."""
    asked = dict(zip(ANSWERS, questions(), strict=True))

    def look(cursor: Any) -> Look:
        facts = {COUNT: _one(cursor, "SELECT count(*) FROM holding_pivot")}
        facts |= {name: _one(cursor, query) for name, query in asked.items()}
        cursor.execute(_NEWEST, [NEWEST])
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        return Look(facts, {facts[COUNT] - number: row for number, row in enumerate(rows)})

    return look


def _one(cursor: Any, query: str) -> Any:
    cursor.execute(query)
    found = cursor.fetchone()
    return None if found is None else found[0]


@dataclass(frozen=True)
class Files:
    """What one demo runs, written where people can read it and edit a copy."""

    pipeline: Path
    connector: Path | None


def write_files(folder: DemoFolder, ports: Ports, *, through_kafka: bool) -> Files:
    """Write the demo's files with the addresses and users it has."""
    (folder.path / QUESTIONS_FILE).write_text(_given(packaged("audit_questions.sql")), encoding="utf-8")
    user, password = PostgresServer.user, PostgresServer.password
    path = str((folder.path / PIVOT_FILE).absolute()).replace("'", "''")
    more = {
        "/data_engineer'": "/postgres'",
        "'database-name' = 'data_engineer'": "'database-name' = 'postgres'",
        "'username' = 'data_engineer'": f"'username' = '{user}'",
        "'password' = 'password'": f"'password' = '{password}'",
        f"'path' = '{PIVOT_FILE}'": f"'path' = '{path}'",
    }
    pipeline = folder.path / "audit.sql"
    table = "audit_table_kafka.sql" if through_kafka else "audit_table.sql"
    texts = [sql_file(name, ports, more=more) for name in (table, "audit.sql")]
    pipeline.write_text("\n".join(texts), encoding="utf-8")
    if not through_kafka:
        return Files(pipeline, None)
    connector = folder.path / "register-holding.json"
    options = {"database.user": user, "database.password": password, "database.dbname": "postgres"}
    connector.write_text(connector_file("register-holding.json", ports, more=options), encoding="utf-8")
    return Files(pipeline, connector)


def commands(folder: DemoFolder, ports: Ports, *, through_kafka: bool) -> Sequence[str]:
    """What to type in another terminal to look inside."""
    kafka = [
        f"curl {ports.worker}/connectors/{CONNECTOR}/status",
        f"headwater tail {TOPIC} --bootstrap {ports.broker}",
    ]
    return [
        *(kafka if through_kafka else []),
        f"tail -f {folder.path / PIVOT_FILE}",
        f"headwater demo psql {NAME}{folder.flag} < {folder.path / QUESTIONS_FILE}",
        f"headwater demo psql {NAME}{folder.flag} -c \"UPDATE holding SET holding_stock = 'SP500' WHERE user_id = 3\"",
    ]
