"""A server that lets nobody in without TLS, and some only with a certificate of theirs.

Oracle: what the server itself says of each connection, in its log and its views.
"""

from __future__ import annotations

from collections import Counter

import pytest

from headwater.errors import HeadwaterError
from headwater.jdbc_url import read_url
from headwater.options import Secret
from headwater.services.certificates import Certificates
from headwater.sources.jdbc.postgres import PostgresMoment, connected
from headwater.sources.postgres.catalog import describe
from tests.ends.postgres_world import Database as SinkDatabase
from tests.ends.postgres_world import changes, sink
from tests.faults.line import Line
from tests.postgres.guarded import (
    CLIENT,
    IS_ENCRYPTED,
    Guarded,
    as_java_has_it,
    checked,
    is_encrypted,
    locked,
    shown,
)
from tests.postgres.world import Database, World, bag, read_now, schema, wait_for

pytestmark = pytest.mark.services


def test_every_connection_of_a_capture_is_encrypted_and_known_by_its_certificate(
    shop: Database, guarded: Guarded, own: Certificates, world: World
) -> None:
    # A row a page, and so many pages that several processes read them.
    shop.run("ALTER TABLE t ADD pad text")
    shop.run("INSERT INTO t SELECT i, 0, repeat('x', 500) FROM generate_series(11, 6000) i")
    before = len(guarded.connections())
    how = {**checked(own), **shown(own, locked(own, "sesame")), "sslpassword": "sesame"}
    with world.source(shop.table("t", "id int, n int", "id", **how)) as source:
        shop.run("UPDATE t SET n = id WHERE id <= 3")
        said = read_now(source)
        running = (
            "SELECT count(*) >= 2, bool_and(s.ssl) FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid)"
            " WHERE a.application_name = 'headwater test'"
        )
        # The stream and the watch, which comes in its own time.
        wait_for(lambda: shop.run(running)[0][0] is True)
        assert shop.run(running)[0][1], "each is encrypted"
    assert bag(said, "t") == Counter(shop.run("SELECT id, n FROM t"))
    lines = guarded.connections()[before:]
    # To begin, for the slot, for its first rows, two readers at least, the watch, the first message, the stream.
    assert len(lines) >= 8
    assert all(f"user={CLIENT} " in line and "SSL enabled" in line for line in lines)


def test_a_password_over_tls(shop: Database, own: Certificates, world: World) -> None:
    with world.source(shop.table("t", "id int, n int", "id", **checked(own))) as source:
        said = read_now(source)
    assert bag(said, "t") == Counter(shop.run("SELECT id, n FROM t"))
    hashes = shop.run("SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'")
    assert hashes[0][0].startswith("SCRAM-SHA-256$")


@pytest.mark.parametrize("mode", ["allow", "prefer", "require", "verify-ca", "verify-full"])
def test_each_mode_is_encrypted_where_nothing_else_is_let_in(
    shop: Database, own: Certificates, mode: str
) -> None:
    checks = checked(own, mode) if mode.startswith("verify") else {"sslmode": mode}
    assert is_encrypted(shop.options("t", **checks))


def test_who_may_come_either_way_comes_as_the_mode_says(shop: Database) -> None:
    plain = {"username": "plain", "password": "plain"}
    assert not is_encrypted(shop.options("t", **plain, sslmode="disable"))
    assert not is_encrypted(shop.options("t", **plain, sslmode="allow"))
    assert is_encrypted(shop.options("t", **plain)), "it is encrypted if the server can"


def test_the_names_of_debezium_mean_the_same(shop: Database, own: Certificates) -> None:
    given = {**checked(own), **shown(own, as_java_has_it(own))}
    given |= {f"debezium__database__{name}": given.pop(name) for name in list(given) if name != "username"}
    assert describe(shop.options("t", **given)).names == ("id", "n")


@pytest.mark.parametrize("bytes_through", [0, 1, 1_500, 3_000, 6_000])
def test_a_line_that_breaks_is_tried_again(
    shop: Database, own: Certificates, world: World, bytes_through: int
) -> None:
    with Line(int(shop.port or 0)) as line:
        table = shop.table("t", "id int, n int", "id", **checked(own), port=str(line.port))
        line.short = [bytes_through] * 3
        with world.source(table) as source:
            assert not line.short
            line.cut()
            shop.run("INSERT INTO t VALUES (11, 11)")
            said = read_now(source)
    assert bag(said, "t") == Counter(shop.run("SELECT id, n FROM t"))


def test_a_jdbc_url_says_the_same(shop: Database, own: Certificates, other: Certificates) -> None:
    certificate = f"&sslcert={own.client_certificate}&sslkey={own.client_key}"
    sinks = SinkDatabase(shop.uri)

    def url(certificates: Certificates) -> str:
        return sinks.url(f"?ssl=true&sslrootcert={certificates.authority}{certificate}")

    made = connected(read_url(url(own), user=CLIENT), Secret("unused"))
    with made.cursor() as cursor:
        cursor.execute(IS_ENCRYPTED)
        assert cursor.fetchone() == (True,)
    made.close()
    target = sinks.table("t", schema("id int, n int", "id"), url=url(own), username=CLIENT)
    with sink(target) as opened:
        opened.write([changes(target, (+1, 77, 7))], 1)
    assert shop.run("SELECT n FROM t WHERE id = 77") == [(7,)]
    with pytest.raises(HeadwaterError) as read:
        PostgresMoment(read_url(url(other), user=CLIENT), None)
    wrong = sinks.table("t", schema("id int, n int", "id"), url=url(other), username=CLIENT)
    with pytest.raises(HeadwaterError) as written, sink(wrong):
        pass
    for error in (read.value, written.value):
        assert "certificate verify failed" in error.detail
        assert error.hint.startswith("Set 'sslrootcert'")
