"""What is wrong is said in one message, with a detail or a hint, and leaves nothing behind.

Oracle: the exit code, the words, and what the server has afterwards.
"""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.pipeline.world import START_SECONDS, Ran, command, made_database, pipeline, process, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COLUMNS = "(id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
COUNT = "SELECT COUNT(*) AS n FROM orders;"
PASSWORD = "a-password-nobody-may-see"
LACKING = {
    "nothing": "LOGIN",
    "reader": "LOGIN REPLICATION",
    "owner": "LOGIN REPLICATION",
    "stranger": "LOGIN REPLICATION",
}


@pytest.fixture(scope="module")
def shop(server: EmbeddedPostgres) -> Iterator[Database]:
    """A database with a table, and roles each of which lacks one thing."""
    with made_database(server) as database:
        database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int)")
        database.run("INSERT INTO orders VALUES (1, 'ann', 10), (2, 'bob', 20)")
        database.run("CREATE TABLE target (customer text PRIMARY KEY, total bigint)")
        database.run("CREATE TABLE bare (id int, note text)")
        database.run(
            "CREATE TABLE made (id int, customer text, amount int, twice int GENERATED ALWAYS AS (2) STORED)"
        )
        database.run("ALTER TABLE made REPLICA IDENTITY FULL")
        database.run("CREATE VIEW orders_view AS SELECT * FROM orders")
        for role, attributes in LACKING.items():
            database.run(f"CREATE ROLE {role} {attributes} PASSWORD '{PASSWORD}'")
        database.run("GRANT SELECT ON orders TO owner, stranger")
        database.run(f"GRANT CREATE ON DATABASE {database.name} TO stranger")
        yield database
        database.run("DROP OWNED BY owner, stranger, reader, nothing")
        database.run("DROP ROLE owner, stranger, reader, nothing")


def refused(ran: Ran, *pieces: str, code: int = 1) -> None:
    """The command ended in order, said what is wrong and what to do, and showed no password."""
    assert ran.code == code, ran
    assert ran.err.count("error: ") == 1, ran.err
    assert "detail: " in ran.err or "hint: " in ran.err, ran.err
    for piece in pieces:
        assert piece in ran.err, ran.err
    assert "Traceback" not in ran.err
    assert PASSWORD not in ran.out + ran.err


def run(text: str, folder: Path) -> Ran:
    """Run a script once."""
    file = folder / "shop.sql"
    file.write_text(text)
    return command("run", file, "--once", "--state", folder / "state")


Wrong = tuple[dict[str, str], str, str]


def as_role(role: str, message: str, hint: str) -> Wrong:
    """Who comes is wrong."""
    return {"username": role, "password": PASSWORD}, message, hint


WRONG_OPTIONS: dict[str, Wrong] = {
    "password": as_role(
        "postgres", "does not accept the password of 'postgres'", "'username' and 'password'"
    ),
    "host": ({"hostname": "nowhere.invalid"}, "the host 'nowhere.invalid' is not known", "'hostname'"),
    "closed port": ({"port": "1"}, "postgres at 127.0.0.1:1 does not answer", "'hostname' and 'port'"),
    "database": ({"database_name": "nope"}, "has no database 'nope'", "'database-name'"),
    "role": as_role("nope", "'nope'", "'username'"),
    "table": ({"table_name": "ordres"}, "the schema 'public' has no table 'ordres'", "'orders'"),
    "schema": ({"schema_name": "nope"}, "nope", "hint: "),
    "generated": ({"table_name": "made"}, "'public.made' has a generated column", "REPLICA IDENTITY DEFAULT"),
    "view": ({"table_name": "orders_view"}, "'public.orders_view' is a view", "hint: "),
    "no replication": as_role("nothing", "role 'nothing' may not read the log", "REPLICATION"),
    "no select": as_role("reader", "role 'reader' may not read table", "GRANT SELECT"),
    "no create": as_role("owner", "role 'owner' may not make a publication", "GRANT CREATE"),
    "not owner": as_role("stranger", "role 'stranger' may not publish", "As the owner"),
    "option": ({"databse_name": "x"}, "has no option 'databse-name'", "'database-name'"),
    "slot": ({"slot__name": "Not A Slot"}, "'slot.name'", "not_a_slot"),
    "mode": ({"scan__startup__mode": "committed-offset"}, "there is no replication slot", "hint: "),
}


ASKED_FIRST = ("password", "host", "database", "table", "schema")
"""What is wrong already when a table without a column list asks the server for its columns."""


@pytest.mark.parametrize(
    ("wrong", "columns"),
    [*((wrong, COLUMNS) for wrong in WRONG_OPTIONS), *((wrong, "") for wrong in ASKED_FIRST)],
    ids=[*WRONG_OPTIONS, *(f"{wrong}, unlisted" for wrong in ASKED_FIRST)],
)
def test_a_wrong_option_of_a_source_is_refused(
    shop: Database, folder: Path, wrong: str, columns: str
) -> None:
    options, *pieces = WRONG_OPTIONS[wrong]
    text = source(shop, "orders", columns, name="orders", **options) + COUNT
    refused(run(text, folder), "shop.sql:", *pieces)
    assert shop.slots() == [] and shop.publications() == []


WRONG_TEXTS = {
    "statement": ("SELEC id FROM orders;", "shop.sql:10:1", "^^^^^"),
    "column": ("SELECT id, custmer FROM orders;", 'column "custmer" does not exist', "customer"),
    "table": ("SELECT id FROM ordres;", '"ordres" does not exist', "orders"),
    "function": ("SELECT summ(amount) FROM orders;", "function SUMM does not exist", "^^^^"),
    "types": ("SELECT amount + ARRAY(1) AS a FROM orders;", "the types do not fit", "CAST"),
    "open quote": ("SELECT 'ann FROM orders;", "shop.sql:10:8", "^"),
}


@pytest.mark.parametrize("wrong", WRONG_TEXTS)
def test_wrong_sql_is_refused_with_its_place_underlined(shop: Database, folder: Path, wrong: str) -> None:
    text, *pieces = WRONG_TEXTS[wrong]
    refused(run(source(shop, "orders", COLUMNS) + text, folder), "--> ", "^", *pieces)
    assert shop.slots() == [] and shop.publications() == []


TOTALS = "(customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"
INSERT = "INSERT INTO target SELECT customer, SUM(amount) FROM orders GROUP BY customer;"
WRONG_SINKS = {
    "password": ({"password": PASSWORD}, TOTALS, "cannot connect to Postgres", "'username' and 'password'"),
    "table": ({"table_name": "nope"}, TOTALS, "nope", "hint: "),
    "column": ({}, "(client STRING, total BIGINT, PRIMARY KEY (client) NOT ENFORCED)", "'client'", "hint: "),
    "key": ({}, "(customer STRING, total BIGINT)", "needs a key", "PRIMARY KEY"),
}


@pytest.mark.parametrize("wrong", WRONG_SINKS)
def test_a_wrong_sink_leaves_no_slot_at_the_source(shop: Database, folder: Path, wrong: str) -> None:
    options, columns, *pieces = WRONG_SINKS[wrong]
    text = source(shop, "orders", COLUMNS) + sink(shop, "target", columns, **options) + INSERT
    refused(run(text, folder), *pieces)
    assert shop.slots() == [] and shop.publications() == []


def test_a_second_source_that_fails_takes_the_first_one_back(shop: Database, folder: Path) -> None:
    text = source(shop, "orders", COLUMNS)
    text += source(shop, "bare", "(id INT, note STRING)", hostname="localhost", name="other")
    text += "SELECT COUNT(*) AS n FROM orders; SELECT COUNT(*) AS n FROM other;"
    refused(run(text, folder), "table 'public.bare' has no replica identity", "REPLICA IDENTITY FULL")
    assert shop.slots() == [] and shop.publications() == []
    shop.run("ALTER TABLE bare REPLICA IDENTITY FULL")
    assert run(text, folder).code == 0, "the same state, once the table is right"
    assert command("drop", "--state", folder / "state").code == 0
    shop.run("ALTER TABLE bare REPLICA IDENTITY DEFAULT")


def test_a_server_without_a_logical_log_is_refused(folder: Path) -> None:
    with temporary_postgres({"fsync": "off", "wal_level": "replica"}) as plain:
        database = Database(plain.uri)
        database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int)")
        ran = run(source(database, "orders", COLUMNS) + COUNT, folder)
        refused(
            ran,
            "does not write its log in logical form",
            "detail: Its wal_level is 'replica'",
            "ALTER SYSTEM",
        )
        assert database.publications() == []
        database.close()


def test_values_that_cannot_be_computed_are_told_and_an_edited_query_goes_on(
    shop: Database, folder: Path
) -> None:
    text = (
        source(shop, "orders", COLUMNS)
        + "CREATE VIEW v AS SELECT id, 100 / (amount - 10) AS share FROM orders;"
    )
    refused(run(text, folder), '"v" cannot be computed', "Division by zero", "NULLIF")
    assert run(text.replace("(amount - 10)", "NULLIF(amount - 10, 0)"), folder).code == 0
    assert command("drop", "--state", folder / "state").code == 0


def test_a_state_that_cannot_be_used_is_refused(shop: Database, folder: Path) -> None:
    text, state = source(shop, "orders", COLUMNS) + COUNT, folder / "state"
    assert run(text, folder).code == 0
    record = state / "progress.db"
    saved = record.read_bytes()

    record.write_bytes(b"this is no database" * 100)
    refused(run(text, folder), f'the saved state in "{state}" cannot be read', "hint: ")
    refused(command("verify", "--state", state), "cannot be read")
    refused(command("drop", "--state", state), "cannot be read")

    record.write_bytes(saved)
    with sqlite3.connect(record) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    connection.close()
    refused(run(text, folder), "the saved state has format 99", "newer version")

    record.write_bytes(saved)
    with pipeline(text, folder, file="shop.sql"):
        refused(run(text, folder), f'the state in "{state}" is in use by another process', "--state")
        refused(command("verify", "--state", state), "is in use by another process")
    refused(command("verify", "--state", folder / "nothing"), "there is no saved state", "--state")
    assert not (folder / "nothing").exists()
    assert run(text, folder).code == 0, "the state is as good as before"
    assert command("drop", "--state", state).code == 0
    assert shop.slots() == [] and shop.publications() == []


def test_a_wrong_command_line_is_told_with_code_2(folder: Path) -> None:
    refused(command("run", folder / "nothing.sql"), "cannot read", "No such file", code=2)
    (folder / "latin.sql").write_bytes("SELECT 'é'".encode("latin-1"))
    refused(command("run", folder / "latin.sql"), "is not UTF-8 text", code=2)
    refused(command("explain", folder / "a.sql", "-e", "SELECT 1"), "not both", code=2)
    with process(folder, "run", "--stat", "x") as ended:
        assert ended.wait(START_SECONDS) == 2


def test_a_port_in_use_is_told_before_anything_is_made(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = command("demo", "claims", "--plain", "--port", str(port), "--state", folder / "demo")
        refused(ran, f"port {port} is in use", "hint: ")
    assert not (folder / "demo" / "postgres" / "data").exists()
