"""What can be wrong with a jdbc table that is read: each is told with what to do, and nothing is shown that is secret.

Oracle: the texts below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwater.errors import HeadwaterError, OptionError, SourceError
from headwater.schema import Schema
from headwater.sources.base import SourceTable, Unreachable
from headwater.sources.jdbc.source import describe
from tests.ends.jdbc_world import declared, following, options
from tests.ends.postgres_world import Database, schema
from tests.stage.shared import closed_port

pytestmark = pytest.mark.services

ORDERS = schema("id int, name string")


@pytest.fixture
def shop(database: Database) -> Database:
    database.run(
        "CREATE TABLE orders (id int, name text); CREATE SCHEMA other; CREATE TABLE other.lines (a int)"
    )
    return database


def refusal(table: SourceTable, folder: Path) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught, following(folder, table):
        pass
    assert not list((folder / "log").glob("*.parquet"))
    return caught.value


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (
            {"password": "hunter2"},
            "cannot connect to Postgres",
            "Check the options 'username' and 'password'.",
        ),
        ({"username": "nobody"}, "cannot connect to Postgres", "'username'"),
        ({"table_name": "oders"}, "the schema 'public' has no table 'oders'", "Did you mean 'orders'?"),
        ({"table_name": "lines"}, "the schema 'public' has no table 'lines'", "'other.lines'"),
        ({"table_name": "othr.lines"}, "the database has no schema 'othr'", "Did you mean 'other'?"),
    ],
)
def test_what_the_server_refuses(
    shop: Database, tmp_path: Path, given: dict[str, Any], message: str, hint: str
) -> None:
    error = refusal(declared(shop, "orders", ORDERS, **given), tmp_path)
    assert message in error.message and hint in error.hint
    assert "hunter2" not in repr(error.to_json())


def test_a_database_that_is_not_there(shop: Database, tmp_path: Path) -> None:
    url = shop.url().rsplit("/", 1)[0] + "/nowhere"
    error = refusal(declared(shop, "orders", ORDERS, url=url), tmp_path)
    assert error.message.endswith("database 'nowhere'")
    assert error.hint == "Check the name after the last slash of the option 'url', or create the database."


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_a_server_that_is_not_there(shop: Database, tmp_path: Path, kind: str) -> None:
    with closed_port() as port:
        url = f"jdbc:{kind}://127.0.0.1:{port}/shop"
        error = refusal(declared(shop, "orders", ORDERS, url=url), tmp_path)
    assert isinstance(error, Unreachable)
    assert error.hint == "Start the server, or check host and port in the option 'url'."
    unknown = refusal(declared(shop, "orders", ORDERS, url=f"jdbc:{kind}://nowhere.invalid/shop"), tmp_path)
    assert unknown.hint == "Check the host in the option 'url'."


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        (schema("id int, nme string"), "table 'public.orders' has no column 'nme'", "Did you mean 'name'?"),
        (
            schema("name array<int>"),
            "column 'name' of table 'public.orders' cannot be read as array<int>",
            "Declare it as STRING.",
        ),
        (
            schema("id timestamp"),
            "column 'id' of table 'public.orders' cannot be read as timestamp",
            "Declare it as INT or STRING, and cast it in a view.",
        ),
    ],
)
def test_columns_that_do_not_fit(
    shop: Database, tmp_path: Path, columns: Schema, message: str, hint: str
) -> None:
    error = refusal(declared(shop, "orders", columns), tmp_path)
    assert (error.message, error.hint) == (message, hint)


def test_a_value_that_does_not_fit_is_shown(shop: Database, tmp_path: Path) -> None:
    shop.run("INSERT INTO orders VALUES (1, '12'), (2, 'many')")
    error = refusal(declared(shop, "orders", schema("name int")), tmp_path)
    assert error.message == "a value of column 'name' of table 'orders' does not fit its type int"
    assert "'many'" in error.detail


def test_a_table_that_may_not_be_read(shop: Database, tmp_path: Path) -> None:
    if not shop.run("SELECT 1 FROM pg_roles WHERE rolname = 'guest'"):
        shop.run("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    error = refusal(declared(shop, "orders", ORDERS, username="guest", password="guest"), tmp_path)
    assert error.message.startswith("Postgres does not let table 'public.orders' be read: permission denied")
    assert error.hint == "Grant SELECT on the table and USAGE on its schema to the user."


def test_two_users_of_one_database_are_refused(shop: Database, tmp_path: Path) -> None:
    tables = declared(shop, "orders", ORDERS), declared(shop, "other.lines", ORDERS, username="guest")
    with pytest.raises(OptionError) as caught, following(tmp_path, *tables):
        pass
    assert caught.value.message == "tables 'orders' and 'other.lines' come to one database in two ways"


def test_a_description_points_at_nothing_and_says_as_much(shop: Database) -> None:
    with pytest.raises(SourceError) as caught:
        describe(options(shop, "oders"))
    assert caught.value.hint == "Did you mean 'orders'?"
