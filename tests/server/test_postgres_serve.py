"""The Postgres endpoint as `headwater serve --pg-port` opens it. Oracle: the tokens of its files, and no other word."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing

import psycopg2
import pytest

from headwater.cli.serve import postgres
from headwater.options import Secret
from headwater.server.access import Access
from headwater.server.server import Server

pytestmark = pytest.mark.services


def test_a_token_that_may_write_or_read_is_the_password_and_nothing_else(server: Server) -> None:
    access = Access({"ann": Secret("writes-0123456789")}, {"bob": Secret("reads-0123456789")})
    given = Namespace(host="127.0.0.1", pg_port=0, certificate=None, key=None)
    with postgres(given, server, access=access) as endpoint:
        assert endpoint is not None
        address = {"host": "127.0.0.1", "user": "headwater", "dbname": "headwater"}
        for token in ("writes-0123456789", "reads-0123456789"):
            client = psycopg2.connect(**address, port=endpoint.port, password=token)
            with closing(client), client.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop'")
                assert cursor.fetchone() == (0,)
        for wrong in ("wrong-0123456789", "***"):
            with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
                psycopg2.connect(**address, port=endpoint.port, password=wrong)
