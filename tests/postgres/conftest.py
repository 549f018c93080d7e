"""One real Postgres for all tests of this folder, and a database of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
from pyspark.sql import SparkSession

import headwater
from headwater.services.artifacts import fetch
from headwater.services.certificates import Certificates, make_certificates
from headwater.services.debian import library_folders
from headwater.services.java import java_home
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from headwater.services.postgres_files import Programs
from headwater.spark.session import open_session
from tests.postgres.followed import Followed, reader
from tests.postgres.guarded import Guarded, guarded_postgres
from tests.postgres.world import Database, World

_NUMBERS = itertools.count(1)

SETTINGS = {
    "fsync": "off",
    "max_wal_size": "4GB",
    "max_prepared_transactions": "10",
    # Nobody counts, cleans or locks a table in the middle of a test.
    "autovacuum": "off",
}


NEWEST, OLD = "pg18", "pg15"

ON_BOTH = frozenset(
    {
        "test_postgres_care_options",
        "test_postgres_labels",
        "test_postgres_letters",
        "test_postgres_letters_resume",
        "test_postgres_partitions",
        "test_postgres_resume",
        "test_postgres_schema",
        "test_postgres_stream",
        "test_postgres_streaming",
        "test_postgres_streaming_faults",
        "test_postgres_two_phase",
        "test_postgres_types",
    }
)
"""The files whose tests always run on an older server too: those where the versions differ in what they send or keep."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run some files on two servers, or all of them (`--old-postgres`, as `make faults` does)."""
    is_asked = bool(metafunc.config.getoption("--old-postgres"))
    is_both = is_asked or metafunc.module.__name__.rsplit(".", 1)[-1] in ON_BOTH
    if "server" in metafunc.fixturenames and is_both:
        metafunc.parametrize("server", [NEWEST, OLD], indirect=True, scope="session")


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs."""
    programs = debian_programs() if getattr(request, "param", NEWEST) == OLD else None
    with temporary_postgres(SETTINGS, programs) as running:
        yield running


def debian_programs() -> Programs:
    """Postgres 15 of Debian's package, fetched if it is not here yet."""
    tree = fetch("postgres-15")
    environ = {"LD_LIBRARY_PATH": ":".join(map(str, library_folders(tree)))}
    return Programs(tree / "usr" / "lib" / "postgresql" / "15" / "bin", environ)


@pytest.fixture
def database(server: EmbeddedPostgres) -> Iterator[Database]:
    """An empty database; slots that a test leaves behind are gone afterwards."""
    name = f"source_{next(_NUMBERS)}"
    admin = psycopg2.connect(server.uri)
    admin.autocommit = True
    with admin.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    found = Database(f"{server.uri.rsplit('/', 1)[0]}/{name}")
    yield found
    found.clean()
    found.close()
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")
    admin.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A folder and ears for a source."""
    return World(tmp_path / "state")


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """A session that knows the format."""
    session = open_session(java_home(), name="data source")
    headwater.register(session)
    return session


@pytest.fixture
def people(database: Database) -> Database:
    """A table that logs whole rows, with two of them."""
    database.run("CREATE TABLE people (id int PRIMARY KEY, name text)")
    database.run("ALTER TABLE people REPLICA IDENTITY FULL")
    database.run("INSERT INTO people VALUES (1, 'ann'), (2, 'bob')")
    return database


@pytest.fixture
def followed(spark: SparkSession, people: Database, tmp_path: Path) -> Iterator[Followed]:
    """A query over them that is stopped at the end."""
    made = Followed(reader(spark, people, "people", state=str(tmp_path / "state")), tmp_path / "checkpoint")
    yield made
    made.stop()


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a small table is cut into ranges, which several processes read."""
    monkeypatch.setattr("headwater.sources.postgres.first_rows.WORTH_PAGES", 1)
    monkeypatch.setattr("headwater.sources.postgres.ranges.FEWEST_PAGES", 2)


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """The certificates of that server and its client."""
    return make_certificates(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Those of another authority, for another host."""
    return make_certificates(tmp_path_factory.mktemp("other"), "subjectAltName=DNS:elsewhere.example")


@pytest.fixture(scope="session")
def guarded(own: Certificates) -> Iterator[Guarded]:
    """Debian's Postgres: the one that comes as a package is built without TLS."""
    with guarded_postgres(debian_programs(), own) as made:
        yield made


@pytest.fixture
def shop(guarded: Guarded) -> Iterator[Database]:
    """A table of that server, and nothing of it or of us afterwards."""
    made = guarded.database
    made.run("CREATE TABLE t (id int PRIMARY KEY, n int) WITH (fillfactor = 10)")
    made.run("ALTER TABLE t REPLICA IDENTITY FULL; INSERT INTO t SELECT i, 0 FROM generate_series(1, 10) i")
    yield made
    made.clean()
    made.run("DROP TABLE t")
    made.close()
