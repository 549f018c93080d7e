"""One real Postgres for all tests of this folder, a database and a folder of its own for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.pipeline.world import made_database
from tests.postgres.world import Database


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs."""
    with temporary_postgres({"fsync": "off", "max_wal_size": "4GB"}) as running:
        yield running


@pytest.fixture
def database(server: EmbeddedPostgres) -> Iterator[Database]:
    """An empty database; slots that a test leaves behind are gone afterwards."""
    with made_database(server) as found:
        yield found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for state and scripts that other users may enter."""
    with tempfile.TemporaryDirectory(prefix="headwater-pipeline-") as made:
        yield Path(made)
