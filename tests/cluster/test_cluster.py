"""A pipeline on a real cluster: workers and drivers die, batches are large, and the answer is that of the query.

Oracle: the same query in Postgres, of which one table's rows are in a topic too; who is told what; and how much memory
the driver had at most.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.standalone import Standalone, Worker
from tests.pipeline.world import Bag, bag, become_equal, both, process, said, sink, source
from tests.postgres.world import Database, wait_for
from tests.stage.shared import Settings, SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(3600)]

ORDERS, CUSTOMERS = 120_000, 60_000
"""More than travels through the driver at once."""

SINK = "SELECT region, n, total FROM target"
QUERY = """SELECT region, COUNT(*), SUM(amount) FROM orders o JOIN customers c ON o.customer = c.id GROUP BY region"""
PATIENCE = 600.0

SMALL = ["--conf", "spark.driver.memory=512m", "--conf", "spark.executor.memory=900m"]

ROWS, GROUPS = 5_000_000, 200_000
PER_CUSTOMER = (
    "SELECT customer, COUNT(*) AS n, SUM(amount) AS total, MAX(note) AS note FROM orders GROUP BY customer"
)
WHOLE = "SELECT COUNT(*) AS groups, SUM(n) AS n, SUM(total) AS total, MAX(note) AS note FROM"

MOST_MEMORY = 350 << 20
"""Of the driver's Python, which has 140 MB without any rows; those of the batch would take more than 300 MB."""


class Shop:
    """Orders in Postgres, customers in Postgres and in a topic."""

    def __init__(self, database: Database, kafka: SharedKafka) -> None:
        self.database, self.kafka, self.topic = database, kafka, kafka.topic(partitions=4)
        database.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, amount numeric(10, 2))")
        database.run("ALTER TABLE orders REPLICA IDENTITY FULL")
        database.run(
            f"INSERT INTO orders SELECT n, n % {CUSTOMERS}, n % 97 FROM generate_series(1, {ORDERS}) n"
        )
        database.run("CREATE TABLE customers (id int PRIMARY KEY, region text)")
        database.run("CREATE TABLE target (region text PRIMARY KEY, n bigint, total numeric(20, 2))")
        self.regions(f"SELECT n, 'r' || n % 50 FROM generate_series(0, {CUSTOMERS - 1}) n")

    def regions(self, query: str) -> None:
        """Give customers a region, here and there."""
        rows = self.database.run(query)
        settings: Settings = {"queue.buffering.max.messages": CUSTOMERS, "linger.ms": "5"}
        self.kafka.write(
            self.topic,
            [(b'{"id": %d}' % n, json.dumps({"id": n, "region": region}).encode()) for n, region in rows],
            **settings,
        )
        change = "ON CONFLICT (id) DO UPDATE SET region = EXCLUDED.region"
        self.database.run(f"INSERT INTO customers {query} {change}")

    @property
    def script(self) -> str:
        columns = "(id INT, customer INT, amount DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)"
        target = "(region STRING, n BIGINT, total DECIMAL(20, 2), PRIMARY KEY (region) NOT ENFORCED)"
        topic = (
            "CREATE TABLE customers (id INT, region STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ("
            f"'connector' = 'upsert-kafka', 'topic' = '{self.topic}', 'key.format' = 'json',"
            f" 'value.format' = 'json', 'properties.bootstrap.servers' = '{self.kafka.address}');\n"
        )
        reads = source(self.database, "orders", columns) + topic
        return f"{reads}{sink(self.database, 'target', target)}INSERT INTO target {QUERY};"

    def settle(self) -> None:
        """Wait until the sink is the query."""
        become_equal(self.database, SINK, QUERY, seconds=PATIENCE)

    def while_executors_write(self, state: Path, die: Callable[[], None]) -> None:
        """Change many rows, and let somebody die while executors compute what that means."""
        self.database.run(f"UPDATE orders SET amount = amount + 1 WHERE id <= {ORDERS // 2}")
        deadline = time.monotonic() + PATIENCE
        # They write for a moment only.
        while not any(state.glob("work-t*/result-*/_temporary")):
            assert time.monotonic() < deadline, "executors never wrote"
            time.sleep(0.01)
        die()
        found, expected = both(self.database, SINK, QUERY)
        assert found != expected, "it was over before anybody died"


def test_a_worker_and_then_the_driver_die_and_every_sink_is_the_query(
    database: Database, kafka: SharedKafka, cluster: Standalone, folder: Path
) -> None:
    shop, state = Shop(database, kafka), folder / "shared"
    (folder / "shop.sql").write_text(shop.script)
    words: list[str | Path] = ["run", folder / "shop.sql", "--master", cluster.master.url]
    words += ["--state", state.as_uri(), *SMALL]
    here, beside, there = (folder / name for name in ("here", "beside", "there"))
    for one in (here, beside, there):
        one.mkdir()
    with process(here, *words) as driver:
        shop.settle()
        with process(beside, *words) as second:
            assert second.wait(PATIENCE) == 1
            assert "another driver works on the state" in said(beside)
            assert f"process {driver.pid}" in said(beside) and "Traceback" not in said(beside)
        victim = next(worker for worker in cluster.workers if worker.executors)
        shop.while_executors_write(state, victim.kill_all)
        shop.settle()
        assert driver.poll() is None
        _replaced(cluster, victim)
        shop.while_executors_write(state, driver.kill)
        driver.wait()
    # Meanwhile nobody is there.
    shop.regions("SELECT id, 'moved' FROM customers WHERE id % 100 = 7")
    with process(there, *words) as driver:
        shop.settle()
        database.run("DELETE FROM orders WHERE id % 1000 = 1")
        shop.regions("SELECT id, 'again' FROM customers WHERE id % 1000 = 7")
        shop.settle()
        assert driver.poll() is None
    assert "the driver on" in said(there), "it did not wait for the lease of the one before"
    assert "snapshot of" not in said(there), "rows were read twice"


def _replaced(cluster: Standalone, victim: Worker) -> None:
    """The machine is back."""
    victim.start()
    wait_for(lambda: bool(victim.executors), seconds=PATIENCE)


def test_no_table_and_no_large_batch_goes_through_the_driver(
    database: Database, cluster: Standalone, folder: Path
) -> None:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, amount numeric(10, 2), note text)")
    rows = f"SELECT n, n % {GROUPS}, n % 97, md5(n::text) FROM generate_series(1, {ROWS}) n"
    database.run(f"INSERT INTO orders {rows}")
    database.run("ALTER TABLE orders REPLICA IDENTITY FULL")
    database.run("CREATE TABLE target (groups bigint PRIMARY KEY, n bigint, total numeric(20, 2), note text)")
    columns = "(id INT, customer INT, amount DECIMAL(10, 2), note STRING, PRIMARY KEY (id) NOT ENFORCED)"
    target = "(groups BIGINT, n BIGINT, total DECIMAL(20, 2), note STRING, PRIMARY KEY (groups) NOT ENFORCED)"
    text = source(database, "orders", columns) + sink(database, "target", target)
    text += f"CREATE VIEW per_customer AS {PER_CUSTOMER};\n"
    (folder / "large.sql").write_text(f"{text}INSERT INTO target {WHOLE} per_customer;")
    words: list[str | Path] = ["run", folder / "large.sql", "--master", cluster.master.url]
    words += ["--state", folder / "shared", *SMALL]
    query = f"{WHOLE} ({PER_CUSTOMER}) p"
    with process(folder, *words) as driver:
        _becomes(database, bag(database, query))
        database.run(f"UPDATE orders SET amount = amount + 1, note = note || 'z' WHERE id <= {ROWS // 20}")
        _becomes(database, bag(database, query))
        assert driver.poll() is None, said(folder)
        told = Path(f"/proc/{driver.pid}/status").read_text()
    (most,) = re.findall(r"VmHWM:\s+(\d+) kB", told)
    assert int(most) << 10 < MOST_MEMORY, f"the driver had {int(most) >> 10} MB"


def _becomes(database: Database, expected: Bag) -> None:
    """Wait for the sink alone: to ask the query again and again would take all the time there is."""
    wait_for(lambda: bag(database, "SELECT * FROM target") == expected, seconds=PATIENCE)
