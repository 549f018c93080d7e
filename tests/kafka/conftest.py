"""One real Postgres for all tests of this folder, a database of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.pipeline.world import made_database
from tests.postgres.world import Database


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs."""
    with temporary_postgres({"fsync": "off", "max_wal_size": "4GB"}) as running:
        yield running


@pytest.fixture
def database(postgres: EmbeddedPostgres) -> Iterator[Database]:
    """An empty database; slots that a test leaves behind are gone afterwards."""
    with made_database(postgres) as found:
        yield found
