"""The endpoint's messages: types in texts and bytes, portals, TLS, and bytes that mean nothing.

Oracle: the Postgres behind, which is asked for the same values without any relation, byte by byte.
"""

from __future__ import annotations

import datetime
import logging
import random
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal

import pytest

from headwater.server.postgres.messages import (
    PROTOCOL,
    SSL_CODE,
    Body,
    Broken,
    Message,
    Wire,
    error_fields,
    texts,
)
from headwater.server.postgres.scram import Client, Prover, Unproved
from headwater.services.certificates import Certificates, make_certificates
from tests.server.postgres_raw import Raw, letters, values
from tests.server.postgres_world import World, postgres_world

pytestmark = pytest.mark.services

MOMENT = datetime.datetime(2026, 3, 29, 1, 59, 59, 123456)
EARLY = datetime.datetime(1815, 6, 18, 0, 0, 0, 500)

KINDS: list[tuple[str, str, list[object], list[str]]] = [
    # Spark's type, Postgres' type, values, and how Postgres is given them
    ("boolean", "boolean", [True, False, None], ["true", "false", "null"]),
    ("smallint", "smallint", [-32768, 7, None], ["-32768", "7", "null"]),
    ("int", "integer", [-(2**31), 7, None], ["-2147483648", "7", "null"]),
    ("bigint", "bigint", [2**63 - 1, -7, None], [str(2**63 - 1), "-7", "null"]),
    ("float", "real", [1.5, -0.1, 1e10], ["1.5", "-0.1", "1e10"]),
    ("double", "double precision", [0.1, float("nan"), float("-inf")], ["0.1", "'nan'", "'-inf'"]),
    ("double", "double precision", [1e300, -1234.5, 0.0], ["1e300", "-1234.5", "0"]),
    ("decimal(20,4)", "numeric(20,4)", [Decimal("-12345.6789"), Decimal(10**4), None], ["-12345.6789", "1e4", "null"]),
    ("decimal(38,10)", "numeric(38,10)", [Decimal(0), Decimal("0.0001"), Decimal(10**20)], ["0", "0.0001", "1e20"]),
    ("string", "text", ["", "ünï 'quoted' \\ 語", None], ["''", "'ünï ''quoted'' \\ 語'", "null"]),
    ("binary", "bytea", [b"", b"\0\xff", None], ["''", "'\\x00ff'", "null"]),
    ("date", "date", [MOMENT.date(), datetime.date(2, 1, 1), None], ["'2026-03-29'", "'0002-01-01'", "null"]),
    ("timestamp_ntz", "timestamp", [MOMENT, EARLY, None], [f"'{MOMENT}'", f"'{EARLY}'", "null"]),
    (
        "timestamp",
        "timestamptz",
        [MOMENT.replace(tzinfo=datetime.UTC), EARLY.replace(tzinfo=datetime.UTC), None],
        [f"'{MOMENT}+00'", f"'{EARLY}+00'", "null"],
    ),
    ("array<int>", "int[]", [[1, None, -3], [], None], ["'{1,NULL,-3}'", "'{}'", "null"]),
    (
        "array<string>",
        "text[]",
        [["a b", 'q"', "NULL", "", "{}"], [None], ["x"]],
        ["array['a b','q\"','NULL','','{}']", "'{NULL}'", "'{x}'"],
    ),
    ("map<string,int>", "jsonb", [[("k", 1), ("ü", None)], [], None], ["""'{"k": 1, "ü": null}'""", "'{}'", "null"]),
    (
        "struct<x:decimal(30,2),y:array<string>>",
        "jsonb",
        [{"x": Decimal("123456789012345678.10"), "y": ['"', None]}, None, None],
        ["""'{"x": 123456789012345678.10, "y": ["\\"", null]}'""", "null", "null"],
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Those of the endpoint."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[World]:
    """An endpoint that speaks TLS to who wants it."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates.server_certificate, certificates.server_key)
    with postgres_world(tmp_path_factory.mktemp("wire"), tls=tls) as made:
        yield made


@pytest.fixture()
def raw(world: World) -> Iterator[Raw]:
    """A client."""
    with closing(Raw(world)) as client:
        yield client


@pytest.mark.parametrize(("spark", "postgres", "given", "written"), KINDS)
def test_values_go_out_as_postgres_sends_them(
    world: World, raw: Raw, spark: str, postgres: str, given: list[object], written: list[str]
) -> None:
    world.reader.put("shop.kinds", {"id": "int", "v": spark}, list(enumerate(given)))
    same = " UNION ALL ".join(
        f"SELECT {at} AS n, CAST({one} AS {postgres}) AS v" for at, one in enumerate(written)
    )
    for form in (0, 1):
        ours = raw.rows("SELECT v FROM kinds ORDER BY id", form)
        assert ours == raw.rows(f"SELECT v FROM ({same}) AS same ORDER BY n", form), form
        assert len(ours) == 3


PARAMETERS = [
    ("int4", "id = $1", "2"),
    ("int8", "id = $1", "2"),
    ("text", "customer || 'x' = $1", "annx"),
    ("numeric", "total = $1", "4.50"),
    ("float8", "total < $1", "4.75"),
    ("numeric", "total::numeric(38,10) < $1", "1234567890123456789012345678.0000000001"),
    ("numeric", "-total / 1000 > $1", "-0.00451"),
    ("numeric", "total > $1", "-120000.5"),
    ("bool", "(id = 2) = $1", "t"),
    ("date", "date '2026-01-01' + id > $1", "2026-01-02"),
    ("timestamptz", "timestamptz '2026-01-02 00:00:00+00' > $1", "2026-01-01 23:00:00+00"),
    ("timestamp", "timestamp '2026-01-02 00:00:00' > $1", "2026-01-01 23:00:00.5"),
    ("int4[]", "id = ANY($1)", "{2,9}"),
    ("text[]", "customer = ANY($1)", '{ann,"b b"}'),
    ("bytea", "(SELECT b FROM bins) = $1", "\\x616e6e"),
    ("uuid", "$1 = '00000000-0000-0000-0000-00000000000a'", "00000000-0000-0000-0000-00000000000a"),
]


@pytest.mark.parametrize(("kind", "condition", "value"), PARAMETERS)
def test_parameters_come_in_as_texts_and_as_bytes(
    world: World, raw: Raw, kind: str, condition: str, value: str
) -> None:
    world.reader.put("shop.bins", {"b": "binary"}, [(b"ann",)])
    (oid,) = raw.rows(f"SELECT '{kind}'::regtype::oid", 0)[0]
    (binary,) = raw.rows(f"SELECT '{value}'::{kind}", 1)[0]
    assert oid is not None and binary is not None
    query = texts("", f"SELECT id FROM orders WHERE id = 2 AND {condition}")
    for form, sent in ((0, value.encode()), (1, binary)):
        parse = query + struct.pack("!hI", 1, int(oid))
        bind = texts("", "") + struct.pack("!hhhi", 1, form, 1, len(sent)) + sent + bytes(2)
        came = raw.ask(Message(b"P", parse), Message(b"B", bind), Message(b"E", b"\0" + bytes(4)))
        assert [values(one) for one in came if one.letter == b"D"] == [[b"2"]], came
    null = texts("", "") + struct.pack("!hhi", 0, 1, -1) + bytes(2)
    came = raw.ask(Message(b"P", parse), Message(b"B", null), Message(b"E", b"\0" + bytes(4)))
    assert letters(came) == "12CZ", came


def test_parameters_and_columns_of_a_statement_are_described(raw: Raw) -> None:
    parse = Message(b"P", texts("s", "SELECT total FROM orders WHERE id = $1 AND customer = $2") + b"\0\0")
    came = raw.ask(parse, Message(b"D", b"Ss\0"))
    assert letters(came) == "1tTZ"
    assert Body(came[1].body).numbers("I") == (23, 25)
    assert struct.pack("!Ihih", 1700, -1, (10 << 16 | 2) + 4, 0) in came[2].body


def test_rows_are_taken_some_at_a_time(raw: Raw) -> None:
    parse = Message(b"P", texts("", "SELECT id FROM orders ORDER BY id") + b"\0\0")
    bind = Message(b"B", texts("p", "") + bytes(6))
    some = Message(b"E", texts("p") + struct.pack("!i", 3))
    assert letters(raw.ask(parse, bind, some, some, Message(b"C", b"Pp\0"))) == "12DDDsDC3Z"
    assert letters(raw.ask(some)) == "EZ"


def test_after_an_error_messages_are_skipped_up_to_the_end_of_the_series(raw: Raw) -> None:
    wrong = Message(b"P", texts("", "SELECT id FROM orders, pg_class") + b"\0\0")
    came = raw.ask(wrong, Message(b"D", b"S\0"), Message(b"E", b"\0" + bytes(4)))
    assert letters(came) == "EZ" and came[-1].body == b"I"
    raw.wire.send(Message(b"Q", texts("BEGIN")))
    assert raw.until(b"Z")[-1].body == b"T"
    assert raw.ask(wrong)[-1].body == b"E"
    raw.wire.send(Message(b"Q", texts("SELECT id FROM orders")))
    assert error_fields(raw.until(b"Z")[0].body)["C"] == "25P02"
    raw.wire.send(Message(b"Q", texts("ROLLBACK")))
    assert raw.until(b"Z")[-1].body == b"I"


@pytest.mark.parametrize("text", ["", ";", "-- SELECT id FROM orders", "/* orders */ ; -- orders"])
def test_a_text_of_comments_alone_is_answered_as_empty(raw: Raw, text: str) -> None:
    raw.wire.send(Message(b"Q", texts(text)))
    assert letters(raw.until(b"Z")) == "IZ"
    bind, execute = Message(b"B", texts("", "") + bytes(6)), Message(b"E", b"\0" + bytes(4))
    assert letters(raw.ask(Message(b"P", texts("", text) + b"\0\0"), bind, execute)) == "12IZ"


def test_a_newer_protocol_is_told_what_is_spoken(world: World) -> None:
    with closing(Raw(world, PROTOCOL + 2)) as newer:
        assert newer.greeting[0] == Message(b"v", bytes(8))
        assert newer.rows("SELECT count(*) FROM orders", 0) == [[b"4"]]


def test_copying_to_the_server_and_calling_functions_are_refused(raw: Raw) -> None:
    raw.wire.send(Message(b"Q", texts("CREATE TEMP TABLE t (a int)")))
    assert letters(raw.until(b"Z")) == "EZ"
    assert letters(raw.ask(Message(b"F", bytes(10)))) == "EZ"
    raw.wire.send(Message(b"Q", texts("SET client_encoding = latin1; SELECT * FROM orders")))
    assert letters(raw.until(b"Z")) == "CTEZ"


def test_tls_is_spoken_with_who_wants_it(world: World, certificates: Certificates) -> None:
    trusted = str(certificates.authority)
    with closing(world.connect(sslmode="verify-full", sslrootcert=trusted, host="localhost")) as client:
        with client.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM orders")
            assert cursor.fetchone() == (4,)
        assert client.info.ssl_in_use
    early = Wire(socket.create_connection(("127.0.0.1", world.endpoint.port), 60))
    early.send_bytes(struct.pack("!ii", 8, SSL_CODE) + b"said before the handshake")
    with pytest.raises(Broken):
        early.take(2)
    early.close()


def test_a_wrong_password_is_told_only_at_the_end() -> None:
    for passwords, password, is_right in ((["a", "b"], "b", True), (["a"], "b", False), ([], "", False)):
        prover, client = Prover(passwords), Client(password)
        proof = client.proof(prover.challenge(client.first()))
        if is_right:
            client.check(prover.confirm(proof))
        else:
            with pytest.raises(Unproved):
                prover.confirm(proof)


def test_bytes_that_mean_nothing_harm_nobody(world: World, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(8)
    caplog.set_level(logging.WARNING)
    for _ in range(100):
        stranger = socket.create_connection(("127.0.0.1", world.endpoint.port), 60)
        stranger.sendall(chance.randbytes(chance.randrange(1, 60)))
        stranger.close()
    for _ in range(30):
        client = Raw(world)
        try:
            for _ in range(100):
                client.wire.send(noise(chance))
            client.ask()
        except Broken:
            pass  # It was hung up on.
        client.close()
    with closing(Raw(world)) as last:
        assert last.rows("SELECT count(*) FROM orders", 0) == [[b"4"]]
    assert [record.message for record in caplog.records if "mistake" in record.message] == []


def noise(chance: random.Random) -> Message:
    """A message that may or may not mean something."""
    letter = chance.choice([b"P", b"B", b"D", b"E", b"C", b"H", b"S", b"Q", b"F", b"d", b"c", b"f"])
    pieces = [
        lambda: chance.randbytes(chance.randrange(20)),
        lambda: texts("", "SELECT id FROM orders WHERE id = $1"),
        lambda: texts("", ""),
        lambda: texts(
            chance.choice(["BEGIN", "SELECT * FROM orders", "DECLARE c CURSOR FOR SELECT 1 FROM orders"])
        ),
        lambda: struct.pack("!h", chance.choice([0, 1, 2, -1, 30_000])),
        lambda: struct.pack("!i", chance.choice([0, 1, -1, -2, 1_000_000])),
        lambda: chance.choice([b"S\0", b"P\0"]),
    ]
    return Message(letter, b"".join(chance.choice(pieces)() for _ in range(chance.randrange(4))))
