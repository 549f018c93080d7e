"""The embedded Postgres: it starts, keeps its data, ends with its parent, and says why it does not start.

Oracle: the server itself, and the processes that are there.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import psycopg2
import pytest

from headwater.errors import ServiceError
from headwater.services.postgres import EmbeddedPostgres, psql_path, running_uri
from tests.postgres.world import Database, wait_for

pytestmark = pytest.mark.services


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder to which the server's own user can walk, also if pytest runs as root."""
    made = Path(mkdtemp(prefix="headwater-postgres-"))
    yield made / "deep" / "data folder"
    subprocess.run(["rm", "-rf", str(made)], check=True)


def test_data_outlives_a_restart(folder: Path) -> None:
    with EmbeddedPostgres(folder) as server:
        database = Database(server.uri)
        assert database.run("SELECT current_setting('wal_level')") == [("logical",)]
        assert database.run("SELECT current_setting('fsync')") == [("on",)]
        database.run("CREATE TABLE t AS SELECT 7 AS n")
        database.close()
        assert running_uri(folder) == server.uri
    assert running_uri(folder) is None
    with EmbeddedPostgres(folder) as server:
        database = Database(server.uri)
        assert database.run("SELECT n FROM t") == [(7,)]
        database.close()


def test_the_password_is_asked_for(folder: Path) -> None:
    with (
        EmbeddedPostgres(folder) as server,
        pytest.raises(psycopg2.OperationalError, match="password authentication failed"),
    ):
        psycopg2.connect(server.uri.replace("postgres:postgres@", "postgres:wrong@"))


def test_psql_comes_with_it(folder: Path) -> None:
    with EmbeddedPostgres(folder) as server:
        said = subprocess.run(
            [psql_path(), server.uri, "-Atc", "SELECT 1 + 1"], capture_output=True, text=True, check=True
        )
    assert said.stdout == "2\n"


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match=f"port {port} is in use") as raised:
            EmbeddedPostgres(folder, port)
    assert "choose another port" in raised.value.hint
    assert not folder.exists()


def test_a_folder_has_one_server(folder: Path) -> None:
    with EmbeddedPostgres(folder), pytest.raises(ServiceError, match="another embedded postgres runs"):
        EmbeddedPostgres(folder)


def test_a_setting_that_is_wrong_is_said(folder: Path) -> None:
    with pytest.raises(ServiceError, match="did not start") as raised:
        EmbeddedPostgres(folder, settings={"wal_level": "nonsense"})
    assert "nonsense" in raised.value.detail


def test_the_server_ends_with_its_parent_and_can_be_had_again(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from headwater.services.postgres import EmbeddedPostgres\n"
        f"server = EmbeddedPostgres(Path({str(folder)!r})); print(server.pid, flush=True); sys.stdin.read()"
    )
    house = str(Path(__file__).parent.parent.parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": house},
    )
    assert parent.stdout is not None and parent.stdin is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    # Started at once, while the other may still be shutting down.
    with EmbeddedPostgres(folder) as server:
        assert server.pid != pid
        database = Database(server.uri)
        assert database.run("SELECT 1") == [(1,)]
        database.close()
    wait_for(lambda: running_uri(folder) is None)
    parent.stdin.close()
    parent.stdout.close()
