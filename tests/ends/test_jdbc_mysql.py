"""Tables of a real MySQL, found through its catalog and read whole.

Oracle: the server's own answers, and the values that were put in.
"""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pymysql
import pytest

from headwater.errors import HeadwaterError
from headwater.services.mysql import MysqlServer
from headwater.sources.base import SourceTable
from tests.ends.jdbc_world import following
from tests.operators.on_paper import compile_on_paper

# The first time MySQL is fetched, which is half a gigabyte.
pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

KINDS = {
    "a": ("tinyint(1)", "boolean", True, "1"),
    "b": ("tinyint unsigned", "smallint", 255, "255"),
    "c": ("int", "int", -7, "-7"),
    "d": ("bigint unsigned", "decimal(20,0)", Decimal(2**64 - 1), str(2**64 - 1)),
    "e": ("decimal(10,2)", "decimal(10,2)", Decimal("12.50"), "12.5"),
    "f": ("decimal(60,2)", "string", "12.50", "12.5"),
    "g": ("float", "float", 16777216.0, "16777216"),
    "h": ("double", "double", 0.1, "0.1"),
    "i": ("varchar(20)", "string", "Straße, ☃", "'Straße, ☃'"),
    "j": ("json", "string", '{"a": 1}', "'{\"a\": 1}'"),
    "k": ("enum('x','y')", "string", "y", "'y'"),
    "l": ("blob", "binary", b"\x00\xff", "x'00ff'"),
    "m": ("bit(1)", "boolean", True, "b'1'"),
    "n": ("bit(9)", "binary", b"\x01\x00", "b'100000000'"),
    "o": ("date", "date", datetime.date(2024, 2, 29), "'2024-02-29'"),
    "p": (
        "datetime(6)",
        "timestamp_ntz",
        datetime.datetime(2024, 1, 1, 12, 0, 0, 5),
        "'2024-01-01 12:00:00.000005'",
    ),
    "q": (
        "timestamp",
        "timestamp",
        datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC),
        "'2024-01-01 14:00:00'",
    ),
    "r": ("time", "string", "12:34:56", "'12:34:56'"),
    "s": ("year", "int", 2024, "2024"),
    "t": ("text", "string", "", "''"),
}
"""Each column: its type in MySQL, what it is here, the value that is read, and how it is put in."""


@pytest.fixture(scope="module")
def server() -> Iterator[MysqlServer]:
    """Right below the temporary folder: a server of root runs as another user, who must be able to walk there."""
    folder = Path(mkdtemp(prefix="headwater-mysql-"))
    try:
        with MysqlServer(folder, settings={"innodb-flush-log-at-trx-commit": "0"}) as running:
            run(running, "CREATE DATABASE shop", database="headwater")
            columns = ", ".join(f"{name} {kind}" for name, (kind, *_) in KINDS.items())
            values = ", ".join(value for *_, value in KINDS.values())
            run(running, f"CREATE TABLE kinds (id INT, part INT, {columns}, PRIMARY KEY (part, id))")
            run(running, f"SET time_zone = '+02:00'; INSERT INTO kinds VALUES (1, 2, {values})")
            run(running, "INSERT INTO kinds (id, part) VALUES (2, 2)")
            run(running, "CREATE TABLE orders (id INT PRIMARY KEY, customer VARCHAR(9), at POINT)")
            run(running, "INSERT INTO orders (id, customer) VALUES (1, 'ann'), (2, NULL), (3, 'cleo')")
            run(running, "CREATE VIEW named AS SELECT id, customer FROM orders")
            yield running
    finally:
        shutil.rmtree(folder)


def run(server: MysqlServer, script: str, *, database: str = "shop") -> list[tuple[Any, ...]]:
    """Run statements in one session, and give the rows of the last."""
    login = {"user": server.user, "password": server.password, "database": database}
    with (
        pymysql.connect(host="127.0.0.1", port=server.port, autocommit=True, **login) as connection,
        connection.cursor() as cursor,
    ):
        for statement in script.split("; "):
            cursor.execute(statement)
        return list(cursor.fetchall())


def catalog(server: MysqlServer, **given: str) -> str:
    options = {
        "type": "jdbc",
        "base-url": f"jdbc:mysql://127.0.0.1:{server.port}",
        "default-database": "shop",
        "username": server.user,
        "password": server.password,
    }
    options |= {key.replace("_", "-"): value for key, value in given.items()}
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
    return f"CREATE CATALOG my WITH ({listed});"


def table_of(script: str) -> SourceTable:
    """The one table that a script reads."""
    (node,) = compile_on_paper(script).tables.values()
    return replace(node.table, anew=True)


def test_a_table_of_the_catalog_is_read_with_all_its_types(server: MysqlServer, tmp_path: Path) -> None:
    table = table_of(catalog(server) + "SELECT * FROM my.shop.kinds")
    found = {column.name: column.type for column in table.schema if column.name in KINDS}
    assert found == {name: kind for name, (_, kind, *_) in KINDS.items()}
    assert table.schema.key == ("part", "id") and table.name == "my.shop.kinds"
    with following(tmp_path, table) as follower:
        follower.catch_up()
    whole = (1, 2, *(value for _, _, value, _ in KINDS.values()))
    assert follower.state[table.name] == Counter([whole, (2, 2, *[None] * len(KINDS))])


def test_a_table_is_read_again_and_a_view_too(server: MysqlServer, tmp_path: Path) -> None:
    script = (
        catalog(server)
        + "CREATE TABLE names WITH ('scan.refresh-interval' = '1 h') LIKE my.shop.named; SELECT * FROM names;"
    )
    with following(tmp_path, table_of(script)) as follower:
        for change in (
            "SELECT 1",
            "UPDATE orders SET customer = 'bob' WHERE id = 2",
            "DELETE FROM orders WHERE id = 1",
            "INSERT INTO orders (id, customer) SELECT id + 10, customer FROM orders",
        ):
            run(server, change)
            follower.catch_up()
            follower.commit()
            assert follower.state["names"] == Counter(run(server, "SELECT id, customer FROM orders")), change


def test_names_of_the_catalog_and_what_is_wrong_with_them(server: MysqlServer) -> None:
    said = compile_on_paper(
        catalog(server) + "SHOW DATABASES FROM my; USE CATALOG my; SHOW TABLES; DESCRIBE named;"
    )
    assert set(said.answers[0].split("\n")) >= {"shop", "headwater"}
    assert said.answers[1:] == ("kinds\nnamed\norders", "id        int\ncustomer  string")
    for text, message, hint in (
        ("SELECT * FROM my.shop.oders", "the database 'shop' has no table 'oders'", "Did you mean 'orders'?"),
        ("SELECT * FROM my.shp.orders", 'catalog "my" has no database "shp"', 'Did you mean "shop"?'),
        (
            "SELECT * FROM my.shop.orders",
            "column 'at' of table 'shop.orders' is point, which cannot be read",
            "List the columns in the CREATE TABLE, and leave this one out, or read a view of the database that"
            " casts it to text.",
        ),
    ):
        with pytest.raises(HeadwaterError) as caught:
            compile_on_paper(catalog(server) + text)
        assert (caught.value.message, caught.value.hint) == (message, hint)
        assert caught.value.place is not None
    with pytest.raises(HeadwaterError) as caught:
        compile_on_paper(catalog(server, password="hunter2") + "SELECT * FROM my.shop.orders")
    assert caught.value.hint == "Check the options 'username' and 'password'."
    assert "hunter2" not in repr(caught.value.to_json())
