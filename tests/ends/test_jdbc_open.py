"""What is wrong is said when the sink is opened, and nothing is left behind. Oracle: the texts below."""

from __future__ import annotations

import pytest

from headwater.errors import HeadwaterError, OptionError, SinkError
from headwater.options import Secret, read_options
from headwater.services.postgres import EmbeddedPostgres
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.options import JdbcOptions, group_of
from tests.ends.postgres_world import Database, changes, schema, sink

pytestmark = pytest.mark.services

DECLARED = schema("id int, total int", "id")


def refusal(*tables: SinkTable) -> HeadwaterError:
    """The error of opening a sink over tables."""
    with pytest.raises(HeadwaterError) as caught, sink(*tables):
        pass
    return caught.value


def said(error: HeadwaterError) -> tuple[str, str, str]:
    """All of an error's text."""
    return error.message, error.detail, error.hint


def test_a_wrong_password_is_said_and_never_shown(database: Database) -> None:
    error = refusal(database.table("t", DECLARED, password="s3cr3t-wr0ng"))
    assert error.message.startswith("cannot connect to Postgres at 127.0.0.1:")
    assert 'password authentication failed for user "postgres"' in error.detail
    assert error.hint == "Check the options 'username' and 'password'."
    assert "s3cr3t-wr0ng" not in str(error.to_json())


def test_a_missing_password_says_so(database: Database) -> None:
    given = {"url": database.url(), "table-name": "t", "username": "postgres"}
    options = read_options(JdbcOptions, given, owner="x", place=None)
    assert refusal(SinkTable("t", DECLARED, options)).hint == "Add the option 'password'."


@pytest.mark.parametrize(
    ("url", "seen", "hint"),
    [
        (
            "jdbc:postgresql://127.0.0.1:1/db",
            "Connection refused",
            "Start the server, or check host",
        ),
        ("jdbc:postgresql://no.such.host.invalid/db", "translate host name", "Check the host in the option"),
    ],
)
def test_no_server_there(database: Database, url: str, seen: str, hint: str) -> None:
    error = refusal(database.table("t", DECLARED, url=url))
    assert seen in error.detail and error.hint.startswith(hint)


def test_a_missing_database(database: Database) -> None:
    url = database.url().rsplit("/", 1)[0] + "/nowhere"
    error = refusal(database.table("t", DECLARED, url=url))
    assert 'database "nowhere" does not exist' in error.detail
    assert error.hint.startswith("Check the name after the last slash")


def test_a_secret_url_is_never_shown(database: Database) -> None:
    url = Secret(database.url().rsplit("/", 1)[0] + "/hidden_db")
    error = refusal(database.table("t", DECLARED, url=url))
    assert "hidden_db" not in str(error.to_json()) and "127.0.0.1" not in str(error.to_json())


def test_a_missing_table_with_the_nearest_name(database: Database) -> None:
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    assert said(refusal(database.table("total", DECLARED))) == (
        "table 'public.total' of sink table 'total' does not exist",
        "The tables there are public.totals.",
        "Did you mean 'table-name' = 'public.totals'? Or let it be made: 'sink.create-table' = 'true'.",
    )
    assert database.run("SELECT * FROM pg_tables WHERE tablename = 'headwater_batches'") == []


def test_a_missing_column_with_the_nearest_name(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, totals int)")
    assert said(refusal(database.table("t", DECLARED))) == (
        "column 'total' of sink table 't' is not in table 'public.t'",
        "Its columns are id, totals.",
        "Did you mean 'totals'?",
    )


def test_a_column_that_must_have_a_value_and_gets_none(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, total int, owner text NOT NULL)")
    error = refusal(database.table("t", DECLARED))
    assert error.message == "column 'owner' of table 'public.t' must have a value and gets none"
    database.run("ALTER TABLE t ALTER owner SET DEFAULT 'me'")
    table = database.table("t", DECLARED)
    with sink(table) as to:
        to.write([changes(table, (1, 1, 2))], 1)
    assert database.run("SELECT * FROM t") == [(1, 2, "me")]


def test_a_column_postgres_makes_itself(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, total int GENERATED ALWAYS AS (id + 1) STORED)")
    error = refusal(database.table("t", DECLARED))
    assert error.message == "column 'total' of table 'public.t' is made by Postgres and cannot be written"


def test_a_type_that_does_not_fit(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, total date)")
    assert said(refusal(database.table("t", DECLARED))) == (
        "column 'total' of sink table 't' does not fit table 'public.t'",
        "It is int here and date there.",
        "Declare it as the table has it, or alter the table to integer.",
    )


def test_a_table_without_an_index_on_the_key(database: Database) -> None:
    database.run("CREATE TABLE t (id int, total int)")
    database.run("CREATE UNIQUE INDEX ON t (id) WHERE total > 0")
    database.run("CREATE UNIQUE INDEX ON t (id, total)")
    error = refusal(database.table("t", DECLARED))
    assert error.message == "table 'public.t' has no unique index on the key of sink table 't'"
    assert error.hint == 'Run CREATE UNIQUE INDEX ON "public"."t" ("id").'
    database.run(error.hint.removeprefix("Run ").removesuffix("."))
    with sink(database.table("t", DECLARED)):
        pass


def test_a_second_unique_index_and_rows_that_go_along(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, total int UNIQUE)")
    database.run("CREATE TABLE child (id int REFERENCES t ON DELETE CASCADE)")
    assert said(refusal(database.table("t", DECLARED))) == (
        "table 'public.t' of sink table 't' has a second unique index, and rows that go with its own",
        "Because of the index its rows are deleted and inserted anew when they change; child would lose rows by that.",
        "Remove the ON DELETE rule of the foreign key, or the index that is not the sink's key.",
    )
    database.run("ALTER TABLE child DROP CONSTRAINT child_id_fkey")
    with sink(database.table("t", DECLARED)):
        pass


def test_a_query_that_takes_rows_away_needs_a_key(database: Database) -> None:
    database.run("CREATE TABLE t (id int, total int)")
    assert said(refusal(database.table("t", schema("id int, total int")))) == (
        "sink table 't' needs a key",
        "Its query updates and deletes rows, and without a key no row could be found again.",
        "Declare PRIMARY KEY (...) NOT ENFORCED in its CREATE TABLE statement.",
    )


@pytest.fixture
def writer(database: Database, server: EmbeddedPostgres) -> str:
    """A user who may do nothing yet."""
    name = database.uri.rsplit("/", 1)[1] + "_writer"
    database.run(f"CREATE ROLE {name} LOGIN PASSWORD 'w'")
    return name


def test_missing_privileges_are_named_with_the_grant(database: Database, writer: str) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, total int)")
    table = database.table("t", DECLARED, username=writer, password="w")
    error = refusal(table)
    assert error.message == "the user of sink table 't' may not write table 'public.t'"
    assert error.detail == f"User {writer} lacks INSERT, UPDATE, DELETE, SELECT."
    assert error.hint == f"Run GRANT INSERT, UPDATE, DELETE, SELECT ON public.t TO {writer}."
    database.run(error.hint.removeprefix("Run ").removesuffix("."))
    error = refusal(table)
    assert error.message == "the table public.headwater_batches cannot be made"
    grant, make = error.hint.removesuffix(".").split("; or, as the owner, ")
    assert grant == f"Run GRANT CREATE ON SCHEMA public TO {writer}"
    made, granted = make.split("; ")
    database.run(made)
    assert refusal(table).hint == f"Run {granted}."
    database.run(granted)
    with sink(table) as to:
        to.write([changes(table, (1, 1, 2))], 1)
    assert database.run("SELECT * FROM t") == [(1, 2)]


def test_a_table_is_made_when_asked_for(database: Database) -> None:
    declared = schema(
        "id bigint, name string, price decimal(10,2), at timestamp, tags array<string>, m map<string,int>",
        "id",
    )
    table = database.table("made", declared, sink__create_table="true")
    with sink(table) as to:
        to.write([], 1)
    with sink(table):
        pass
    found = database.run(
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
        "WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum"
    )
    assert found == [
        ("id", "bigint", True),
        ("name", "text", False),
        ("price", "numeric(10,2)", False),
        ("at", "timestamp with time zone", False),
        ("tags", "text[]", False),
        ("m", "jsonb", False),
    ]


def test_a_failed_open_leaves_nothing_behind(database: Database) -> None:
    made = database.table("made", DECLARED, sink__create_table="true")
    missing = database.table("missing", DECLARED)
    assert refusal(made, missing).message.startswith("table 'public.missing'")
    assert database.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []


def test_current_schema_says_where_tables_and_batches_are(database: Database) -> None:
    database.run("CREATE SCHEMA shop")
    url = database.url("?currentSchema=shop&sslmode=disable&reWriteBatchedInserts=true")
    table = database.table("t", DECLARED, url=url, sink__create_table="true")
    with sink(table) as to:
        to.write([changes(table, (1, 1, 2))], 1)
    assert database.run("SELECT * FROM shop.t") == [(1, 2)]
    assert database.run("SELECT * FROM shop.headwater_batches") == [("p", 1)]
    other = database.table("shop.t", DECLARED)
    with sink(other) as to:
        to.write([changes(other, (-1, 1, 2))], 1)
    assert database.run("SELECT * FROM shop.t") == []


def test_one_database_has_one_user_and_one_schema(database: Database) -> None:
    one, two = database.table("a", DECLARED), database.table("b", DECLARED, username="other")
    error = refusal(one, two)
    assert isinstance(error, OptionError)
    assert error.message == "sink tables 'a' and 'b' come to one database in two ways"


def test_a_standby_is_refused(database: Database) -> None:
    name = database.uri.rsplit("/", 1)[1]
    database.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    error = refusal(database.table("t", DECLARED))
    assert isinstance(error, SinkError)
    assert error.message == "the database only allows reading"


def options(url: str, **more: str) -> JdbcOptions:
    given = {"url": url, "table-name": "t", **more}
    return read_options(JdbcOptions, given, owner="connector 'jdbc'", place=None)


def test_tables_of_one_database_are_one_group() -> None:
    assert group_of(options("jdbc:postgresql://localhost:5432/db")) == "jdbc-localhost:5432/db"
    assert group_of(options("jdbc:postgresql://127.0.0.1/db?sslmode=require")) == "jdbc-localhost:5432/db"
    assert group_of(options("jdbc:postgresql://127.0.0.1/other")) == "jdbc-localhost:5432/other"
    assert group_of(options("jdbc:mysql://127.0.0.1/db")) == "jdbc-localhost:3306/db"
    assert group_of(options("jdbc:mariadb://localhost/db?sslMode=DISABLED")) == "jdbc-localhost:3306/db"
    secret = Secret("jdbc:postgresql://h/secretdb")
    assert "secretdb" not in group_of(options(secret))


@pytest.mark.parametrize(
    ("url", "message", "detail"),
    [
        (
            "jdbc:oracle://h/db",
            "option 'url' does not take the value 'jdbc:oracle://h/db'",
            "Only urls",
        ),
        ("jdbc:postgresql://h", "option 'url' does not take the value", "It names a host and one database"),
        ("jdbc:postgresql://h:x/db", "option 'url' does not take the value", "A port is a number"),
        ("jdbc:postgresql://h/db?password=x1y2", "option 'url' must not hold a password", "A url is shown"),
        (
            "jdbc:postgresql://h/db?sslpassword=x1y2",
            "option 'url' must not hold a password",
            "A url is shown",
        ),
        ("jdbc:postgresql://h/db?sslmode=on", "'sslmode' does not take the value 'on'", "It takes disable, "),
        (
            "jdbc:postgresql://h/db?sslrootcert=a.pem",
            "'sslrootcert' needs a mode that checks the server",
            "Without one, a connection that is not encrypted",
        ),
        ("jdbc:postgresql://me:x1y2@h/db", "option 'url' does not take the value '***'", "It names a host"),
        (
            "jdbc:postgresql://h/db?curentSchema=s",
            "option 'url' has a parameter that is not understood: curentSchema",
            "The parameters are ApplicationName",
        ),
    ],
)
def test_a_wrong_url_is_an_option_error(url: str, message: str, detail: str) -> None:
    with pytest.raises(OptionError) as caught:
        group_of(options(url))
    assert caught.value.message.startswith(message)
    assert caught.value.detail.startswith(detail)
    assert "x1y2" not in str(caught.value.to_json())
