"""What a source refuses before it makes anything: message, detail and hint, and nothing left behind.

Oracle: the texts, by hand, and the server's own list of slots and publications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from headwater.errors import HeadwaterError, Place, SourceError
from headwater.log.store import LogWriter
from headwater.services.postgres import temporary_postgres
from headwater.sources.base import SourceTable
from headwater.sources.postgres.begin import begin
from headwater.sources.postgres.catalog import describe
from headwater.sources.postgres.config import config_of
from tests.postgres.world import Database, World

pytestmark = pytest.mark.services


def refused(world: World, *tables: SourceTable) -> HeadwaterError:
    """The error of a beginning that must fail; without the process around it, which only passes it on."""
    log = LogWriter(world.context.folder, notation="lsn")
    try:
        with pytest.raises(SourceError) as raised:
            begin(config_of(tables, world.context, after=None), log, lambda *_: None)
    finally:
        log.close()
    assert raised.value.detail and raised.value.hint
    said = " ".join([raised.value.message, raised.value.detail, raised.value.hint])
    assert "sesame" not in said, "a password is shown"
    return raised.value


@pytest.fixture
def table(database: Database) -> Iterator[Callable[..., SourceTable]]:
    """A table that is fine; each test breaks one thing about it."""
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, total numeric(10,2))")

    def declared(columns: str = "id int, customer string", **options: str) -> SourceTable:
        return database.table("orders", columns, "id", **options)

    yield declared
    assert database.slots() == [] and database.publications() == [], (
        "a start that failed left something behind"
    )


Declared = Callable[..., SourceTable]


def test_a_wrong_port(world: World, table: Declared) -> None:
    error = refused(world, table(port="1", password="sesame"))
    assert error.message == "postgres at 127.0.0.1:1 does not answer"
    assert "'port'" in error.hint


def test_a_wrong_host(world: World, table: Declared) -> None:
    error = refused(world, table(hostname="nowhere.invalid"))
    assert error.message == "the host 'nowhere.invalid' is not known"


def test_a_wrong_password(world: World, table: Declared, database: Database) -> None:
    with pytest.raises(SourceError) as raised, world.source(table(password="sesame")):
        pass
    error = raised.value
    assert "sesame" not in error.message + error.detail + error.hint
    assert (
        error.message == f"postgres at 127.0.0.1:{database.port} does not accept the password of 'postgres'"
    )
    assert error.hint == "Check the options 'username' and 'password'."


def test_a_wrong_database(world: World, table: Declared, database: Database) -> None:
    error = refused(world, table(database_name="nope"))
    assert error.message == f"postgres at 127.0.0.1:{database.port} has no database 'nope'"


def test_a_wrong_schema(world: World, table: Declared, database: Database) -> None:
    database.run("CREATE SCHEMA claims")
    error = refused(world, table(schema_name="claim"))
    assert error.message == "the database has no schema 'claim'"
    assert error.hint == "Did you mean 'claims'?"


def test_a_wrong_table(world: World, table: Declared, database: Database) -> None:
    error = refused(world, table(table_name="order"))
    assert error.message == "the schema 'public' has no table 'order'"
    assert error.hint == "Did you mean 'orders'?"
    with pytest.raises(SourceError, match="the schema 'public' has no table 'order'"):
        describe(database.options("order"))


def test_a_table_in_another_schema(world: World, table: Declared, database: Database) -> None:
    database.run("CREATE SCHEMA claims; CREATE TABLE claims.members (id int)")
    assert refused(world, table(table_name="members")).hint == (
        "There is one in schema 'claims': set 'schema-name' = 'claims'."
    )


def test_a_wrong_column_is_shown_at_its_place(world: World, table: Declared) -> None:
    place = Place("file.sql", 3, 1)
    error = refused(world, replace(table("id int, costumer string"), place=place))
    assert error.message == "table 'public.orders' has no column 'costumer'"
    assert error.hint == "Did you mean 'customer'?"
    assert error.place == place


def test_a_type_that_cannot_be_read(world: World, table: Declared) -> None:
    error = refused(world, table("id int, total date"))
    assert error.message == "column 'total' of table 'public.orders' cannot be read as date"
    assert error.detail == "At the server it is decimal(10,2)."


def test_a_generated_column(world: World, table: Declared, database: Database) -> None:
    database.run("ALTER TABLE orders ADD twice numeric GENERATED ALWAYS AS (total * 2) STORED")
    error = refused(world, table("id int, twice decimal(38,18)"))
    assert error.message == "column 'twice' of table 'public.orders' is generated"
    assert "twice" not in describe(database.options("orders")).names


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("CREATE VIEW v AS SELECT * FROM orders", "a view"),
        ("CREATE MATERIALIZED VIEW v AS SELECT * FROM orders", "a materialized view"),
    ],
)
def test_a_view(world: World, table: Declared, database: Database, statement: str, kind: str) -> None:
    database.run(statement)
    assert refused(world, table(table_name="v")).message == f"'public.v' is {kind}"


def test_an_unlogged_table(world: World, table: Declared, database: Database) -> None:
    database.run("ALTER TABLE orders SET UNLOGGED")
    assert refused(world, table()).message == "table 'public.orders' is unlogged"
    database.run("CREATE TABLE parts (id bigint PRIMARY KEY) PARTITION BY LIST (id)")
    database.run("CREATE UNLOGGED TABLE part PARTITION OF parts DEFAULT")
    database.run("CREATE FOREIGN DATA WRAPPER nobody; CREATE SERVER elsewhere FOREIGN DATA WRAPPER nobody")
    database.run(
        "CREATE TABLE whole (id bigint) PARTITION BY LIST (id); ALTER TABLE whole REPLICA IDENTITY FULL"
    )
    database.run("CREATE FOREIGN TABLE far PARTITION OF whole DEFAULT SERVER elsewhere")
    error = refused(world, database.table("whole", "id bigint"))
    assert (error.message, error.hint) == (
        "partition 'public.far' is a foreign table",
        'ALTER TABLE "public"."whole" DETACH PARTITION "public"."far";',
    )
    error = refused(world, database.table("parts", "id bigint", "id"))
    assert (error.message, error.hint) == (
        "partition 'public.part' is unlogged",
        'ALTER TABLE "public"."part" SET LOGGED;',
    )


@pytest.mark.parametrize(
    "change",
    ["ALTER TABLE orders DROP CONSTRAINT orders_pkey", "ALTER TABLE orders REPLICA IDENTITY NOTHING"],
)
def test_a_table_without_a_replica_identity(
    world: World, table: Declared, database: Database, change: str
) -> None:
    database.run(change)
    error = refused(world, table())
    assert error.message == "table 'public.orders' has no replica identity"
    assert error.hint == 'ALTER TABLE "public"."orders" REPLICA IDENTITY FULL;'


def test_a_partition_without_a_replica_identity(world: World, table: Declared, database: Database) -> None:
    database.run("CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id)")
    database.run("CREATE TABLE p1 PARTITION OF p DEFAULT; ALTER TABLE p1 REPLICA IDENTITY NOTHING")
    error = refused(world, table("id int", table_name="p"))
    assert error.message == "table 'public.p' has no replica identity"
    assert "'p1'" in error.detail


def test_a_key_that_is_not_the_identity(world: World, database: Database, table: Declared) -> None:
    error = refused(world, replace(table(), schema=replace(table().schema, key=())))
    assert error.message == "table 'orders' must be declared with the key (id)"
    assert "PRIMARY KEY (id) NOT ENFORCED" in error.hint


@pytest.fixture
def clerk(database: Database) -> Iterator[dict[str, str]]:
    """The options of a role that may do nothing yet."""
    database.run("CREATE ROLE clerk LOGIN PASSWORD 'sesame'")
    yield {"username": "clerk", "password": "sesame"}
    database.run("DROP OWNED BY clerk; DROP ROLE clerk")


def test_privileges_are_asked_for_one_by_one(
    world: World, table: Declared, database: Database, clerk: dict[str, str]
) -> None:
    error = refused(world, table(**clerk))
    assert error.message == "role 'clerk' may not read the log"
    assert error.hint == 'As a superuser: ALTER ROLE "clerk" REPLICATION;'
    database.run("ALTER ROLE clerk REPLICATION")

    error = refused(world, table(**clerk))
    assert error.message == "role 'clerk' may not read table 'public.orders'"
    assert error.hint == 'As the owner: GRANT SELECT ON "public"."orders" TO "clerk";'
    database.run("GRANT SELECT ON orders TO clerk; ALTER TABLE orders ENABLE ROW LEVEL SECURITY")

    assert "row security hides rows" in refused(world, table(**clerk)).message
    database.run("ALTER TABLE orders DISABLE ROW LEVEL SECURITY")

    error = refused(world, table(**clerk))
    assert error.message == "role 'clerk' may not make a publication"
    assert "CREATE PUBLICATION" in error.hint
    database.run(f"GRANT CREATE ON DATABASE {database.name} TO clerk")

    error = refused(world, table(**clerk))
    assert error.message == "role 'clerk' may not publish table 'public.orders'"
    database.run(error.hint.removeprefix("As the owner: "))
    with world.source(table(**clerk)):
        assert len(database.slots()) == 1
    database.clean()


def test_a_publication_that_hides_something(world: World, table: Declared, database: Database) -> None:
    named = table(debezium__publication__name="theirs")
    for made, message in [
        ("FOR TABLE orders WITH (publish = 'insert')", "does not publish every kind of change"),
        ("FOR TABLE orders WHERE (id > 1)", "publishes only a part of table 'public.orders'"),
        ("FOR TABLE orders (id)", "publishes only a part of table 'public.orders'"),
    ]:
        database.run(f"CREATE PUBLICATION theirs {made}")
        assert message in refused(world, named).message
        database.run("DROP PUBLICATION theirs")


def test_no_free_slot(world: World) -> None:
    with temporary_postgres({"max_replication_slots": "1", "fsync": "off"}) as server:
        database = Database(server.uri)
        database.run("CREATE TABLE t (id int PRIMARY KEY)")
        database.run("SELECT pg_create_physical_replication_slot('taken')")
        error = refused(world, database.table("t", "id int", "id"))
        assert error.message == "the server has no free replication slot"
        assert "1 of 1 are taken" in error.detail
        database.close()


def test_a_log_that_is_not_logical(world: World) -> None:
    with temporary_postgres({"wal_level": "replica", "fsync": "off"}) as server:
        database = Database(server.uri)
        database.run("CREATE TABLE t (id int PRIMARY KEY)")
        error = refused(world, database.table("t", "id int", "id"))
        assert error.message == "the server does not write its log in logical form"
        assert "wal_level = 'logical'" in error.hint
        database.close()


def test_a_start_that_fails_takes_back_only_what_it_made(
    world: World, database: Database, table: Declared
) -> None:
    database.run("CREATE TABLE bad (id int PRIMARY KEY, x float8); INSERT INTO bad VALUES (1, 1e300)")
    fine, bad = table(), database.table("bad", "id int, x float", "id")
    with world.source(fine) as source:
        position = source.read(None, 10, wait=60.0)
    assert position is not None
    published = database.run("SELECT tablename FROM pg_publication_tables")
    with pytest.raises(SourceError, match="does not fit"), world.source(fine, bad, after=position.position):
        pass
    assert database.run("SELECT tablename FROM pg_publication_tables") == published == [("orders",)]
    assert len(database.slots()) == 1
    with world.source(fine, after=position.position):
        pass
    database.clean()
