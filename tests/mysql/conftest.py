"""A database of its own for each test, on MySQL and on MariaDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mysql.world import Database, World
from tests.stage.shared import SharedMysql


@pytest.fixture(params=["mysql", "mariadb"])
def server(request: pytest.FixtureRequest) -> SharedMysql:
    """Each server in turn."""
    found: SharedMysql = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def database(server: SharedMysql) -> Iterator[Database]:
    """An empty database of a server."""
    made = Database(server)
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Where a source lives."""
    return World(tmp_path / "source")
