"""The bank over Debezium and Kafka, while one topic after the other comes late: the books are true whenever one looks.

Oracles: nothing is ever paid in or out, so that balances add up to 0; a transfer joined with itself is never alone; what
the transfers add up to, which come by one topic, is what the accounts hold, which come by another; and at the end the
bank's own database.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headwater.kafka.clients import topics
from headwater.runtime.pipeline import Pipeline
from headwater.services.postgres import EmbeddedPostgres
from tests.faults.bank import TABLES, TRUE_BALANCE, Books
from tests.kafka.relayed import Relay, debezium_server
from tests.pipeline.world import Listening, made_database, pipeline
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedConnect, SharedKafka, fresh

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

SINKS = {
    "credits": "account INT, credits BIGINT, PRIMARY KEY (account)",
    "debits": "account INT, debits BIGINT, PRIMARY KEY (account)",
    "balance": "account INT, balance BIGINT, PRIMARY KEY (account)",
    "total": "one INT, total BIGINT, PRIMARY KEY (one)",
    "pairs": "id INT, other INT, PRIMARY KEY (id)",
    "apart": "id INT, held BIGINT, balance BIGINT, PRIMARY KEY (id)",
}

VIEWS = """
CREATE VIEW credited AS SELECT taker AS account, SUM(amount) AS credits FROM transfers GROUP BY taker;
CREATE VIEW debited AS SELECT giver AS account, SUM(amount) AS debits FROM transfers GROUP BY giver;
CREATE VIEW balances AS
  SELECT COALESCE(c.account, d.account) AS account, COALESCE(credits, 0) - COALESCE(debits, 0) AS balance
  FROM credited c FULL JOIN debited d ON c.account = d.account;
INSERT INTO credits SELECT account, credits FROM credited;
INSERT INTO debits SELECT account, debits FROM debited;
INSERT INTO balance SELECT account, balance FROM balances;
INSERT INTO total SELECT 1, SUM(balance) FROM balances;
INSERT INTO pairs SELECT t.id, u.id FROM transfers t LEFT JOIN transfers u ON t.id = u.id AND t.amount = u.amount;
INSERT INTO apart SELECT a.id, a.held, b.balance FROM accounts a LEFT JOIN balances b ON a.id = b.account
  WHERE a.held <> COALESCE(b.balance, 0);
"""

AUDIT = """
SELECT (SELECT COALESCE(SUM(credits), 0) FROM credits) - (SELECT COALESCE(SUM(debits), 0) FROM debits),
       (SELECT COALESCE(SUM(balance), 0) FROM balance), (SELECT COALESCE(SUM(total), 0) FROM total),
       (SELECT COUNT(*) FROM pairs WHERE other IS NULL), (SELECT COUNT(*) FROM apart),
       (SELECT COUNT(*) FROM balance FULL JOIN credits USING (account) FULL JOIN debits USING (account)
        WHERE COALESCE(balance, 0) <> COALESCE(credits, 0) - COALESCE(debits, 0))
"""
"""What has to be nothing at every moment."""

BATCHES = 2
"""So many batches while one topic is late, then another one is."""

SECONDS = 180.0
"""Connect, Kafka and Spark may take long on a busy machine."""


@pytest.fixture
def books(postgres: EmbeddedPostgres) -> Iterator[Books]:
    """A bank with empty accounts, and empty books in another database."""
    with made_database(postgres) as source, made_database(postgres) as target:
        source.run(TABLES)
        for name, columns in SINKS.items():
            target.run(f"CREATE TABLE {name} ({columns})")
        yield Books(source, target, AUDIT)


def script(kafka: SharedKafka, server: str, target: Database, ends: str) -> str:
    """The pipeline from the topics of a server to the books."""
    source = (
        f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{kafka.address}', 'format' = 'debezium-json',"
        f" 'scan.startup.mode' = 'earliest-offset', 'transaction.topic' = '{ends}'"
    )
    url = f"jdbc:postgresql://127.0.0.1:{target.port}/{target.name}"
    sink = f"'connector' = 'jdbc', 'url' = '{url}', 'username' = 'postgres', 'password' = 'postgres'"
    made = (
        "CREATE TABLE accounts (id INT, held BIGINT, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ({source}, 'topic' = '{server}.public.accounts');\n"
        "CREATE TABLE transfers (id INT, giver INT, taker INT, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ({source}, 'topic' = '{server}.public.transfers');\n"
    )
    for name, columns in SINKS.items():
        made += f"CREATE TABLE {name} ({columns} NOT ENFORCED) WITH ({sink}, 'table-name' = '{name}');\n"
    return made + VIEWS


@contextmanager
def busy(books: Books) -> Iterator[None]:
    """Transactions all the while, a pause between them."""
    over, dice = threading.Event(), random.Random(8)

    def work() -> None:
        while not over.wait(0.1):
            books.transact(dice, most=10)

    working = threading.Thread(target=work)
    working.start()
    try:
        yield
    finally:
        over.set()
        working.join()


def step(running: Pipeline, listening: Listening, batches: int) -> None:
    """Turn the wheel for so many batches."""
    wanted, deadline = len(listening.batches) + batches, time.monotonic() + SECONDS
    while len(listening.batches) < wanted:
        assert time.monotonic() < deadline, f"{len(listening.batches)} of {wanted} batches"
        running.step(wait=0.2)


def step_until(running: Pipeline, is_so: Callable[[], bool]) -> None:
    """Turn the wheel until something is so."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be so"
        running.step(wait=0.2)


def become_equal(running: Pipeline, books: Books) -> None:
    """Turn the wheel until the books hold what the bank's own database says."""
    wanted = sorted((id, balance) for id, balance in books.source.run(TRUE_BALANCE) if balance)
    held = "SELECT account, balance FROM balance WHERE balance <> 0"
    step_until(running, lambda: sorted(books.target.run(held)) == wanted)


@contextmanager
def relayed(kafka: SharedKafka, connect: SharedConnect, books: Books) -> Iterator[tuple[Relay, str]]:
    """The bank's topics under another name, all of them there, and who hands them on."""
    other = fresh("late").replace("-", "_")
    wanted = {f"{other}.{name}" for name in ("public.accounts", "public.transfers", "transaction")}
    with debezium_server(connect, books.source) as server, Relay(kafka, server, other, "nothing") as relay:
        books.transact(random.Random(7), least=300)
        wait_for(lambda: wanted <= set(topics({"bootstrap.servers": kafka.address}, 90)), seconds=SECONDS)
        yield relay, other


def test_the_books_are_true_whichever_topic_is_late(
    kafka: SharedKafka, connect: SharedConnect, books: Books, tmp_path: Path
) -> None:
    listening = Listening()
    with relayed(kafka, connect, books) as (relay, server):
        text = script(kafka, server, books.target, f"{server}.transaction")
        with pipeline(text, tmp_path, listening) as running, books.auditor():
            with busy(books):
                for late in ("public.transfers", "public.accounts", "transaction"):
                    relay.late = late
                    step(running, listening, BATCHES)
            become_equal(running, books)
            wait_for(lambda: books.audits.total() > 50, seconds=SECONDS)
    assert set(books.audits) == {(0, 0, 0, 0, 0, 0)}, books.audits
    paired = books.target.run("SELECT id, other FROM pairs")
    assert sorted(id for id, _ in paired) == sorted(
        id for (id,) in books.source.run("SELECT id FROM transfers")
    )
    assert any("end where its transactions do" in subject for subject in listening.subjects("note"))


def test_an_auditor_sees_halves_where_no_ends_are_told(
    kafka: SharedKafka, connect: SharedConnect, books: Books, tmp_path: Path
) -> None:
    """The check can fail."""
    with relayed(kafka, connect, books) as (relay, server):
        relay.late = "public.transfers"
        text = script(kafka, server, books.target, "nobody.transaction")
        with pipeline(text, tmp_path) as running, books.auditor(), busy(books):
            step_until(running, lambda: any(audit[4] for audit in list(books.audits)))
