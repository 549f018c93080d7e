"""Real MySQL and MariaDB. Oracle: the servers' own answers, before and after a crash."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pymysql
import pytest
from pymysql.cursors import Cursor

from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer


@pytest.fixture
def folder() -> Iterator[Path]:
    """Right below the temporary folder: a server of root runs as another user, who must be able to walk there."""
    made = Path(mkdtemp(prefix="headwater-mysql-"))
    yield made
    shutil.rmtree(made)


Kind = type[MysqlServer] | type[MariadbServer]


@contextmanager
def asking(server: MysqlServer | MariadbServer) -> Iterator[Cursor]:
    """A cursor on the server's own database."""
    login = {"user": server.user, "password": server.password, "database": "headwater"}
    with (
        pymysql.connect(host="127.0.0.1", port=server.port, autocommit=True, **login) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


@pytest.mark.services
# The first time MySQL is fetched, which is half a gigabyte.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", [MysqlServer, MariadbServer])
def test_it_writes_a_row_log_and_comes_back_with_its_data(kind: Kind, folder: Path) -> None:
    with kind(folder) as server:
        with asking(server) as cursor:
            cursor.execute("SELECT @@log_bin, @@binlog_format, @@binlog_row_image")
            assert cursor.fetchall() == ((1, "ROW", "FULL"),)
            cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
            cursor.execute("INSERT INTO t VALUES (7)")
        server.kill()
        server.start()
        with asking(server) as cursor:
            cursor.execute("SELECT id FROM t")
            assert cursor.fetchall() == ((7,),)


@pytest.mark.services
def test_nobody_is_let_in_without_a_password(folder: Path) -> None:
    with MariadbServer(folder) as server:
        for user in ("root", "", server.user):
            with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
                pymysql.connect(host="127.0.0.1", port=server.port, user=user, password="")
