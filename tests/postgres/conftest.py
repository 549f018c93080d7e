"""One real Postgres for all tests of this folder, and a database of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.postgres.world import Database, World

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs."""
    with temporary_postgres({"fsync": "off", "max_wal_size": "4GB"}) as running:
        yield running


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
