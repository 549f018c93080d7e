"""`headwater serve --pg-port` as people start it.

Oracle: the token of its file, which is the password, and no other; nothing is left of a server that was killed.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tests.server.serving import Served

pytestmark = pytest.mark.jvm


def test_a_token_is_the_password_and_a_killed_server_leaves_nothing(tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    (tmp_path / "tokens").write_text(f"admin:{token}\n")
    served = Served(tmp_path / "server", "--pg-port", "0", "--token-file", str(tmp_path / "tokens"))
    served.start()
    address = {"host": "127.0.0.1", "user": "headwater", "dbname": "headwater"}
    client = psycopg2.connect(**address, port=served.postgres_port, password=token)
    with closing(client), client.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop'")
        assert cursor.fetchone() == (0,)
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(**address, port=served.postgres_port, password="wrong")
    left = Path((tmp_path / "server" / "postgres").read_text())
    assert left.is_dir()
    served.kill()
    served.start()
    with closing(psycopg2.connect(**address, port=served.postgres_port, password=token)):
        assert not left.exists()
    served.stop()
    assert not (tmp_path / "server" / "postgres").exists()
