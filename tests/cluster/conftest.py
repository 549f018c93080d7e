"""One cluster and one Postgres for all tests of this folder, a database and a folder of its own for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.cluster.standalone import Standalone, standalone
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


@pytest.fixture(scope="session")
def cluster() -> Iterator[Standalone]:
    """A master and two workers."""
    with tempfile.TemporaryDirectory(prefix="headwater-spark-") as made, standalone(Path(made)) as started:
        yield started


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all processes share, and other users may enter."""
    with tempfile.TemporaryDirectory(prefix="headwater-cluster-") as made:
        yield Path(made)
