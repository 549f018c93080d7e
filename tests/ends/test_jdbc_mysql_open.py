"""What is wrong with a table of MySQL or MariaDB is said when the sink is opened. Oracle: the texts below."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.sinks.base import SinkTable
from tests.ends.mysql_world import MysqlDatabase
from tests.ends.postgres_world import changes, schema, sink
from tests.ends.test_jdbc_open import refusal

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

DECLARED = schema("id int, total int", "id")


def test_no_way_in(maria: MysqlDatabase) -> None:
    error = refusal(maria.table("t", DECLARED, password="s3cr3t-wr0ng"))
    assert error.message.startswith("cannot connect to MySQL at 127.0.0.1:")
    assert error.detail.startswith("Access denied for user")
    assert error.hint == "Check the options 'username' and 'password'."
    assert "s3cr3t-wr0ng" not in str(error.to_json())
    url = maria.url().rsplit("/", 1)[0] + "/nowhere"
    error = refusal(maria.table("t", DECLARED, url=url))
    assert error.detail.startswith("Unknown database 'nowhere'")
    error = refusal(maria.table("t", DECLARED, url="jdbc:mariadb://127.0.0.1:1/db"))
    assert error.hint.startswith("Start the server, or check host")


def test_a_table_that_is_no_target(maria: MysqlDatabase) -> None:
    name = maria.name
    maria.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    error = refusal(maria.table("total", DECLARED))
    assert error.message == f"table '{name}.total' of sink table 'total' does not exist"
    assert error.hint.startswith(f"Did you mean 'table-name' = '{name}.totals'? Or let it be made")
    maria.run("CREATE TABLE old (id int PRIMARY KEY, total int) ENGINE = MyISAM")
    error = refusal(maria.table("old", DECLARED))
    assert error.message == f"table '{name}.old' of sink table 'old' is kept by the engine MyISAM"
    maria.run(error.hint.removeprefix("Run ").removesuffix("."))
    maria.run("CREATE VIEW seen AS SELECT * FROM totals")
    assert refusal(maria.table("seen", DECLARED)).message.endswith("of sink table 'seen' is a view")
    maria.run("CREATE TABLE keyless (id int, total int, UNIQUE (id, total))")
    error = refusal(maria.table("keyless", DECLARED))
    assert error.message == f"table '{name}.keyless' has no unique index on the key of sink table 'keyless'"
    maria.run(error.hint.removeprefix("Run ").removesuffix("."))
    with sink(maria.table("old", DECLARED), maria.table("keyless", DECLARED)):
        pass
    assert refusal(maria.table("totals", schema("id int, total int"))).message.endswith("needs a key")
    error = refusal(maria.table("totals", schema("total float, id int", "total")))
    assert error.hint == "Cast it in the query to DOUBLE or DECIMAL, and declare it so."


def test_columns_that_do_not_fit(maria: MysqlDatabase) -> None:
    for number, (make, message) in enumerate(
        (
            ("totals int", "column 'total' of sink table 't0' is not in table"),
            ("total int, owner text NOT NULL", "column 'owner' of table"),
            ("total int AS (id + 1)", "column 'total' of table"),
            ("total date", "column 'total' of sink table 't3' does not fit table"),
        )
    ):
        maria.run(f"CREATE TABLE t{number} (id int PRIMARY KEY, {make})")
        assert refusal(maria.table(f"t{number}", DECLARED)).message.startswith(message)


def test_a_second_unique_index_and_rows_that_go_along(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE t (id int PRIMARY KEY, total int UNIQUE)")
    maria.run("CREATE TABLE child (id int, FOREIGN KEY (id) REFERENCES t (id) ON DELETE CASCADE)")
    error = refusal(maria.table("t", DECLARED))
    assert error.message.endswith("has a second unique index, and rows that go with its own")
    assert f"{maria.name}.child would lose rows" in error.detail
    maria.run("ALTER TABLE t DROP INDEX total")
    table = maria.table("t", DECLARED)
    with sink(table) as to:
        to.write([changes(table, (1, 1, 1))], 1)
        maria.run("INSERT INTO child VALUES (1)")
        to.write([changes(table, (-1, 1, 1), (1, 1, 2))], 2)
    assert maria.run("SELECT * FROM child") == [(1,)]


@pytest.fixture
def writer(maria: MysqlDatabase) -> Iterator[str]:
    """A user who may do nothing yet but see one table."""
    name = f"{maria.name}_w"[-32:]
    maria.run(f"CREATE USER '{name}'@'%' IDENTIFIED BY 'w'")
    yield name
    maria.run(f"DROP USER '{name}'@'%'")


def test_missing_rights_are_named_with_the_grant(maria: MysqlDatabase, writer: str) -> None:
    maria.run("CREATE TABLE t (id int PRIMARY KEY, total int)")
    maria.run(f"GRANT SELECT ON {maria.name}.t TO '{writer}'@'%'")
    table = maria.table("t", DECLARED, username=writer, password="w")
    error = refusal(table)
    assert error.message == f"the user of sink table 't' may not write table '{maria.name}.t'"
    assert error.hint == f"Run GRANT INSERT, UPDATE, DELETE ON {maria.name}.t TO '{writer}'@'%'."
    maria.run(error.hint.removeprefix("Run ").removesuffix("."))
    error = refusal(table)
    assert error.message == f"the table {maria.name}.headwater_batches cannot be made"
    _, make = error.hint.removesuffix(".").split("; or, as the owner, ")
    made, granted = make.split("; ")
    maria.run(made)
    maria.run(granted)
    with sink(table) as to:
        to.write([changes(table, (1, 1, 2))], 1)
        assert to.last_batch() == 1
    assert maria.run("SELECT * FROM t") == [(1, 2)]


def made(maria: MysqlDatabase, name: str) -> list[tuple[object, ...]]:
    return maria.run(
        "SELECT column_name, lower(column_type), is_nullable FROM information_schema.columns"
        f" WHERE table_schema = '{maria.name}' AND table_name = '{name}' ORDER BY ordinal_position"
    )


def test_a_table_is_made_when_asked_for(maria: MysqlDatabase) -> None:
    declared = schema(
        "name string, day date, price decimal(10,2), at timestamp, local timestamp_ntz, text string, raw binary,"
        " ok boolean, tags array<string>",
        *("name", "day"),
    )
    table = maria.table("made", declared, url=maria.url(name="mariadb"), sink__create_table="true")
    with sink(table) as to:
        to.write([changes(table, *anns())], 1)
    with sink(table):
        pass
    assert made(maria, "made")[:8] == [
        ("name", "varchar(255)", "NO"),
        ("day", "date", "NO"),
        ("price", "decimal(10,2)", "YES"),
        ("at", "timestamp(6)", "YES"),
        ("local", "datetime(6)", "YES"),
        ("text", "longtext", "YES"),
        ("raw", "longblob", "YES"),
        ("ok", "tinyint(1)", "YES"),
    ]
    assert maria.run("SELECT count(*) FROM made") == [(3,)]


def anns() -> list[tuple[object, ...]]:
    """Rows whose keys differ in case, and in a space at the end."""
    return [(1, name, 19000, *[None] * 7) for name in ("Ann", "ann", "ann ")]


def test_nothing_is_made_if_another_table_is_wrong(maria: MysqlDatabase) -> None:
    first = maria.table("first", DECLARED, sink__create_table="true")
    assert refusal(first, maria.table("missing", DECLARED)).message.endswith("does not exist")
    assert maria.run("SHOW TABLES") == []


def test_a_table_of_another_database_moves_along(maria: MysqlDatabase) -> None:
    other = MysqlDatabase(maria.server)
    tables: list[SinkTable] = []
    for database in (maria, other):
        database.run("CREATE TABLE t (id int PRIMARY KEY, total int)")
        tables.append(maria.table(f"{database.name}.t", DECLARED))
    with sink(*tables) as to:
        to.write([changes(table, (1, 1, 2)) for table in tables], 1)
    assert other.run("SELECT * FROM t") == maria.run("SELECT * FROM t") == [(1, 2)]
    assert other.run("SHOW TABLES") == [("t",)]
    other.close()
