"""Transactions over two topics, one of which is held back: no batch ever shows one half.

Oracle: transfers between two tables leave the total at zero; every batch that is committed is looked at.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg2
import pytest

from headwater.kafka.clients import topics
from headwater.runtime.pipeline import Pipeline
from headwater.services.postgres import EmbeddedPostgres
from tests.kafka.relayed import Relay, debezium_server
from tests.pipeline.world import Listening, made_database, pipeline, rows
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedConnect, SharedKafka, fresh

pytestmark = [pytest.mark.services, pytest.mark.jvm]

BATCHES = 5
"""So many batches are looked at while transfers go on."""


@pytest.fixture(scope="module")
def database(postgres: EmbeddedPostgres) -> Iterator[Database]:
    """One database for all tests: each reads all that the tests before it did, too."""
    with made_database(postgres) as found:
        yield found


@pytest.fixture(scope="module")
def server(connect: SharedConnect, database: Database) -> Iterator[str]:
    """A Debezium server over two tables, with the ends of transactions told."""
    for table in ("credits", "debits"):
        database.run(f"CREATE TABLE {table} (id int PRIMARY KEY, amount int NOT NULL)")
        database.run(f"INSERT INTO {table} SELECT n, 0 FROM generate_series(1, 5) n")
    with debezium_server(connect, database) as name:
        yield name


def script(kafka: SharedKafka, server: str, ends: str) -> str:
    made = ""
    for table in ("credits", "debits"):
        made += (
            f"CREATE TABLE {table} (id INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', "
            f"'topic' = '{server}.public.{table}', 'properties.bootstrap.servers' = '{kafka.address}', "
            f"'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json', 'transaction.topic' = '{ends}');\n"
        )
    for table in ("credits", "debits"):
        made += f"CREATE VIEW all_{table} AS SELECT SUM(amount) AS total FROM {table};\n"
    return made + (
        "CREATE VIEW total AS SELECT SUM(amount) AS total FROM "
        "(SELECT amount FROM credits UNION ALL SELECT -amount AS amount FROM debits) AS x;"
    )


def balances(running: Pipeline) -> list[int | None]:
    """The sum of each table as the pipeline has it."""
    return [next(iter(rows(running, f"all_{table}")), (None,))[0] for table in ("credits", "debits")]


def told(database: Database) -> list[int | None]:
    """The same as Postgres has it."""
    return [database.run(f"SELECT sum(amount) FROM {table}")[0][0] for table in ("credits", "debits")]


class Transfers(threading.Thread):
    """Transfers between the two tables, one transaction each."""

    def __init__(self, uri: str, seed: str) -> None:
        super().__init__()
        self._client, self._dice, self.done = psycopg2.connect(uri), random.Random(seed), threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.02):
            amount, one = self._dice.randint(1, 100), self._dice.randint(1, 5)
            with self._client, self._client.cursor() as cursor:
                cursor.execute("UPDATE credits SET amount = amount + %s WHERE id = %s", [amount, one])
                cursor.execute("UPDATE debits SET amount = amount + %s WHERE id = %s", [amount, 6 - one])
        self._client.close()


def has_batches(found: list[int | None]) -> bool:
    """True after some batches."""
    return len(found) >= BATCHES


def totals(
    running: Pipeline,
    database: Database,
    late: str,
    is_enough: Callable[[list[int | None]], bool] = has_batches,
) -> list[int | None]:
    """The total after every batch, while transfers go on, which is until it is enough, and until all are there."""
    busy, found = Transfers(database.uri, late), list[int | None]()
    busy.start()
    deadline = time.monotonic() + 240
    while not busy.done.is_set() or busy.is_alive() or balances(running) != told(database):
        assert time.monotonic() < deadline, f"{balances(running)} is not {told(database)}"
        if is_enough(found):
            busy.done.set()
        if running.step(wait=0.2) is not None:
            found += [total for (total,) in rows(running, "total")]
    return found


def test_ends_that_are_told_later_are_found_while_the_pipeline_runs(
    kafka: SharedKafka, server: str, database: Database, tmp_path: Path
) -> None:
    """The topic comes with the first transaction, and already of that one no half shows.

    Nobody has made a transaction before: this test comes first.
    """
    other = fresh("late").replace("-", "_")
    wanted = {f"{other}.public.credits", f"{other}.public.debits"}
    listening = Listening()
    with Relay(kafka, server, other, "credits"):
        wait_for(lambda: wanted <= set(topics({"bootstrap.servers": kafka.address}, 90)), seconds=180)
        with pipeline(script(kafka, other, f"{other}.transaction"), tmp_path, listening) as running:
            running.run_once()
            assert any("no topic" in subject for subject in listening.subjects("note"))
            found = totals(running, database, "later")
    assert set(found) <= {0, None}, f"half a transaction shows: {found}"
    assert any("end where its transactions do" in subject for subject in listening.subjects("note"))


@pytest.mark.parametrize("late", ["credits", "transaction"])
def test_a_topic_that_lags_never_lets_half_a_transaction_show(
    kafka: SharedKafka, server: str, database: Database, tmp_path: Path, late: str
) -> None:
    other = fresh("late").replace("-", "_")
    with Relay(kafka, server, other, late):
        wait_for_topics(kafka, database, other)
        listening = Listening()
        with pipeline(script(kafka, other, f"{other}.transaction"), tmp_path, listening) as running:
            found = totals(running, database, late)
    assert set(found) <= {0, None}, f"half a transaction shows: {found}"
    assert any("end where its transactions do" in subject for subject in listening.subjects("note"))


def test_without_the_ends_of_transactions_halves_do_show(
    kafka: SharedKafka, server: str, database: Database, tmp_path: Path
) -> None:
    other = fresh("late").replace("-", "_")
    with Relay(kafka, server, other, "credits"):
        wait_for_topics(kafka, database, other)
        with pipeline(script(kafka, other, "nobody.transaction"), tmp_path) as running:
            found = totals(running, database, "credits", lambda found: bool(set(found) - {0, None}))
    assert set(found) - {0, None}, "the other test could not fail"


def wait_for_topics(kafka: SharedKafka, database: Database, server: str) -> None:
    """Wait until all topics of a server are there; the one of transactions begins with the first."""
    database.run("UPDATE credits SET amount = amount")
    wanted = {f"{server}.public.credits", f"{server}.public.debits", f"{server}.transaction"}
    wait_for(lambda: wanted <= set(topics({"bootstrap.servers": kafka.address}, 90)), seconds=180)
