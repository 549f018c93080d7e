"""The endpoint over pipelines that run: queries of Postgres computed by Spark, at one cut in a transaction.

Oracle: the Postgres behind the endpoint, which computes the same query over the same rows as VALUES; and transfers, each
of which adds up to nothing.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count

import psycopg2
import psycopg2.errors
import pytest

from headwater.server.postgres.endpoint import Door, Endpoint
from headwater.server.reader import Reader
from tests.postgres.world import wait_for
from tests.server.postgres_queries import QUERIES
from tests.server.postgres_world import World as Asked
from tests.server.reading_world import BANK, World, made_world

pytestmark = [pytest.mark.jvm, pytest.mark.services]

THINGS = """
CREATE TABLE things (
  id INT, big BIGINT, name STRING, price DECIMAL(10, 2), weight DOUBLE, day DATE, at TIMESTAMP_LTZ(6),
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'values', 'name' = '{store}');
CREATE VIEW named AS SELECT name, COUNT(*) AS things FROM things GROUP BY name;
"""

ROWS = [
    (1, 7, "ann", "10.50", 2.5, "2026-01-31", "2026-01-31 23:59:59.25+00"),
    (2, -7, "Ann", "-0.75", -3.5, "2026-02-28", "2026-03-29 00:30:00+00"),
    (3, 2**40, None, "1999.99", 1e9, "1970-01-01", "1969-12-31 23:59:58.5+00"),
    (4, 0, "b_ü%", None, None, None, None),
]

KINDS = ("int", "bigint", "text", "numeric(10,2)", "float8", "date", "timestamptz")
NAMES = ("id", "big", "name", "price", "weight", "day", "at")


def values_of_postgres() -> str:
    """The same rows, without any relation."""
    cells = [
        ", ".join(
            "NULL" if v is None else f"CAST('{v}' AS {kind})" for v, kind in zip(row, KINDS, strict=True)
        )
        for row in ROWS
    ]
    return f"(VALUES {', '.join(f'({row})' for row in cells)}) AS t({', '.join(NAMES)})"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Pipelines that turn."""
    with made_world(tmp_path_factory.mktemp("world")) as made:
        shop = made.deploy("shop", THINGS)
        made.deploy("bank", BANK)
        shop.store.append({"things": [("+", thing(*row)) for row in ROWS]})
        shop.catch_up()
        yield made


@pytest.fixture(scope="module")
def asked(world: World) -> Iterator[Asked]:
    """The endpoint over them."""
    endpoint = Endpoint(Reader(world), Door(), note=world.folder / "postgres")
    yield Asked(endpoint, None)  # type: ignore[arg-type]  # nothing is in memory here
    endpoint.close()


@pytest.fixture()
def client(asked: Asked) -> Iterator[psycopg2.extensions.connection]:
    """A client."""
    with closing(asked.connect()) as connected:
        connected.autocommit = True
        yield connected


def thing(id: int, *rest: object) -> dict[str, object]:
    """A row as it is handed in."""
    big, name, price, weight, day, at = rest
    return {
        "id": id,
        "big": big,
        "name": name,
        "price": None if price is None else Decimal(str(price)),
        "weight": weight,
        "day": None if day is None else datetime.fromisoformat(str(day)).date(),
        "at": None if at is None else datetime.fromisoformat(str(at)).astimezone(UTC),
    }


def rows(client: psycopg2.extensions.connection, query: str) -> list[tuple[object, ...]]:
    """What a query gives."""
    with client.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


@pytest.mark.parametrize("query", QUERIES)
def test_spark_computes_what_postgres_does(client: psycopg2.extensions.connection, query: str) -> None:
    assert rows(client, query) == rows(client, query.replace("things AS t", values_of_postgres()))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT ON (name) id FROM things",
        "SELECT array_agg(id ORDER BY id DESC) FROM things",
        "SELECT regexp_replace(name, 'n', 'm') FROM things",
        "SELECT log(id) FROM things",
        "SELECT extract(isodow FROM at) FROM things",
        "SELECT to_char(at, 'Day') FROM things",
        "SELECT name::char(2) FROM things",
        "SELECT id FROM things ORDER BY name FETCH FIRST 1 ROW WITH TIES",
        "SELECT age(at) FROM things",
        "SELECT name::bytea FROM things",
        "SELECT weight::text FROM things",
        "SELECT name || at FROM things",
        "SELECT at::timestamp(0) FROM things",
    ],
)
def test_what_the_two_may_mean_differently_is_refused(
    client: psycopg2.extensions.connection, query: str
) -> None:
    with pytest.raises(
        psycopg2.errors.FeatureNotSupported, match=r"not supported here|cannot be made a text here"
    ):
        rows(client, query)


def test_what_spark_cannot_compute_is_an_error_of_the_query(client: psycopg2.extensions.connection) -> None:
    with pytest.raises(psycopg2.errors.SyntaxErrorOrAccessRuleViolation) as refused:
        rows(client, "SELECT name::int FROM things")
    assert "cannot be cast" in str(refused.value.diag.message_detail) and refused.value.diag.message_hint
    assert rows(client, "SELECT things FROM named WHERE name = 'ann'") == [(1,)]


def test_a_query_that_is_cancelled_ends_in_spark_too(asked: Asked) -> None:
    many = ", ".join(f"things AS t{number}" for number in range(18))
    psql = asked.open_psql(f"SELECT count(*) FROM {many} WHERE t0.id + t17.id > 0")
    wait_for(
        lambda: any(one.name.startswith("headwater reader") for one in threading.enumerate()), seconds=120
    )
    psql.send_signal(signal.SIGINT)
    assert "canceling statement due to user request" in psql.communicate(timeout=120)[1]


def test_two_queries_in_one_transaction_see_one_cut_while_the_pipeline_goes_on(
    world: World, asked: Asked
) -> None:
    bank, over = world.deployed["bank"], threading.Event()
    transfer(world, 0)
    bank.catch_up()

    def go_on() -> None:
        for number in count(1):
            if over.is_set():
                return
            transfer(world, number)
            bank.catch_up()

    def has_gone_on() -> bool:
        seen.add(look(asked))
        return len(seen) > 1

    going = threading.Thread(target=go_on)
    going.start()
    try:
        seen = {look(asked) for _ in range(4)} | {look_with_psql(asked)}
        # On a busy machine nothing may have gone on meanwhile.
        wait_for(has_gone_on, seconds=120)
    finally:
        over.set()
        going.join()
    assert all(total == 0 for total, _ in seen)


def look(asked: Asked) -> tuple[int, int]:
    """The sum and the number of entries, which four queries of one transaction agree on."""
    with closing(asked.connect()) as client:
        first = rows(client, "SELECT total, entries FROM bank.totals")
        again = rows(client, "SELECT sum(amount), count(*) FROM entries")
        parts = rows(client, "SELECT (SELECT sum(total) FROM credits) + (SELECT sum(total) FROM debits)")
        assert first == again == rows(client, "SELECT total, entries FROM bank.totals")
        assert parts == [(first[0][0],)]
        return int(str(first[0][0])), int(str(first[0][1]))


def look_with_psql(asked: Asked) -> tuple[int, int]:
    """The same, asked by psql."""
    questions = ("SELECT total, entries FROM bank.totals", "SELECT sum(amount), count(*) FROM entries")
    said = asked.psql("BEGIN", *questions, *questions, "COMMIT")
    answers = re.findall(r"^(-?\d+)\|(\d+)$", said, re.MULTILINE)
    assert len(answers) == 4 and len({*answers}) == 1, said
    return int(answers[0][0]), int(answers[0][1])


def transfer(world: World, number: int) -> None:
    """Two entries that add up to nothing, in one transaction."""
    entries = [(2 * number, "a", number + 1), (2 * number + 1, "b", -number - 1)]
    told = [("+", {"id": i, "account": a, "amount": n}) for i, a, n in entries]
    world.deployed["bank"].store.append({"entries": told})
