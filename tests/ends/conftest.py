"""One real Postgres for all tests of this folder, and a database of its own for each test."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from headwater.services.postgres import EmbeddedPostgres
from tests.ends.mysql_world import MysqlDatabase
from tests.ends.postgres_world import Database

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs.

    Its folder is not pytest's: as root the server runs as another user, and a second pytest shuts that one out.
    """
    folder = Path(tempfile.mkdtemp(prefix="headwater-"))
    try:
        with EmbeddedPostgres(folder, settings={"fsync": "off"}) as running:
            yield running
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def database(server: EmbeddedPostgres) -> Iterator[Database]:
    """An empty database."""
    name = f"sink_{next(_NUMBERS)}"
    admin = psycopg2.connect(server.uri)
    admin.autocommit = True
    with admin.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    admin.close()
    found = Database(f"{server.uri.rsplit('/', 1)[0]}/{name}")
    yield found
    found.close()


@pytest.fixture(params=["mysql", "mariadb"])
def maria(request: pytest.FixtureRequest) -> Iterator[MysqlDatabase]:
    """An empty database of MySQL, and then of MariaDB."""
    found = MysqlDatabase(request.getfixturevalue(request.param))
    yield found
    found.close()
