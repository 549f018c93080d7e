"""A shop on MySQL or MariaDB, its star schema in Postgres, and a pipeline between them that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2
import pymysql

from headwater.demo import classicmodels as shop
from headwater.demo.package_files import packaged
from headwater.sinks.jdbc.server import BATCHES
from tests.pipeline.world import process
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedKafka, SharedMysql

QUERIES = {
    "fact_orders": "SELECT orderNumber, productCode, customerNumber, orderDate, requiredDate, shippedDate, status,"
    " comments, orderLineNumber, quantityOrdered, priceEach FROM orders JOIN orderdetails USING (orderNumber)",
    "dim_customers": "SELECT * FROM customers",
    "dim_products": "SELECT p.*, l.textDescription FROM products p JOIN productlines l USING (productLine)",
}
"""What each table of the star is, asked of the shop's own database."""

Bag = Counter[tuple[Any, ...]]


@dataclass
class Star:
    """Both databases, the pipeline, and a reader who looks at the star all the while."""

    folder: Path
    source: SharedMysql
    target: Database
    text: str
    closing: ExitStack = field(default_factory=ExitStack)
    running: subprocess.Popen[bytes] | None = None
    orphans: list[int] = field(default_factory=list)
    """What the reader saw of lines without their customer or product."""

    def connect(self) -> Any:
        """A client of the shop."""
        return pymysql.connect(
            host="127.0.0.1",
            port=self.source.port,
            user=self.source.user,
            password=self.source.password,
            charset="utf8mb4",
        )

    def start(self) -> None:
        """Run the pipeline as a program of its own, anew or where it was."""
        script = self.folder / "star.sql"
        script.write_text(self.text)
        words = ("run", script, "--state", self.folder / "state")
        self.running = self.closing.enter_context(process(self.folder, *words))

    def kill(self, victim: str) -> None:
        """Kill the pipeline or its capture with -9; the pipeline is started again, the capture comes by itself."""
        assert self.running is not None and self.running.poll() is None, self.said()
        if victim == "capture":
            for pid in children(self.running.pid, "mysql.capture"):
                os.kill(pid, signal.SIGKILL)
            return
        self.running.kill()
        self.running.wait()
        self.start()

    def said(self) -> str:
        """What the pipeline said last."""
        return "\n".join((self.folder / name).read_text()[-2000:] for name in ("out", "err"))

    def move_on(self, before: int, *, seconds: float = 300.0) -> None:
        """Wait until the star has a batch more than before."""

        def moved() -> bool:
            assert self.running is not None and self.running.poll() is None, self.said()
            return self.batch() > before

        wait_for(moved, seconds=seconds)

    def batch(self) -> int:
        """The last batch that is in the star."""
        client = psycopg2.connect(self.target.uri)
        try:
            with client, client.cursor() as cursor:
                cursor.execute(f"SELECT max(batch_id) FROM {BATCHES}")
                return int(cursor.fetchone()[0])
        finally:
            client.close()

    def become_equal(self, *, seconds: float = 300.0) -> None:
        """Wait until every table of the star holds what its query gives."""
        with self.connect() as client, client.cursor() as cursor:
            cursor.execute(f"USE {shop.DATABASE}")
            wanted: dict[str, Bag] = {}
            for table, query in QUERIES.items():
                cursor.execute(query)
                wanted[table] = Counter(cursor.fetchall())
        found: dict[str, Bag] = {}

        def equal() -> bool:
            found.update(self._stars())
            return found == wanted

        try:
            wait_for(equal, seconds=seconds)
        except AssertionError:
            wrong = {t: (found[t] - wanted[t], wanted[t] - found[t]) for t in wanted if found[t] != wanted[t]}
            raise AssertionError(f"too much and too little: {str(wrong)[:1500]}\n{self.said()}") from None

    def _stars(self) -> dict[str, Bag]:
        client = psycopg2.connect(self.target.uri)
        try:
            with client, client.cursor() as cursor:
                found = {}
                for table in QUERIES:
                    cursor.execute(f"SELECT * FROM {shop.TARGET_SCHEMA}.{table}")
                    found[table] = Counter(cursor.fetchall())
                return found
        finally:
            client.close()

    @contextmanager
    def reader(self) -> Iterator[None]:
        """Somebody who asks again and again for lines of orders that stand alone."""
        over = threading.Event()

        def look() -> None:
            client = psycopg2.connect(self.target.uri)
            client.autocommit = True
            with client.cursor() as cursor:
                while not over.wait(0.03):
                    cursor.execute(shop.ORPHANS)
                    self.orphans.append(int(cursor.fetchone()[0]))
            client.close()

        thread = threading.Thread(target=look, name="reader")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def children(parent: int, word: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command, status = (
                (entry / "cmdline").read_bytes().decode(errors="replace"),
                (entry / "status").read_text(),
            )
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"\nPPid:\t{parent}\n" in status and word in command:
            found.append(int(entry.name))
    return found


@contextmanager
def star(folder: Path, source: SharedMysql, target: Database) -> Iterator[Star]:
    """The shop with its first rows, an empty star, and no pipeline yet."""
    with ExitStack() as closing:
        found = Star(folder, source, target, direct(source, target), closing)
        with found.connect() as client:
            assert shop.make_tables(client)
        target.run(shop.TARGET_DDL)
        yield found
    with found.connect() as client, client.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {shop.DATABASE}")


def direct(source: SharedMysql, target: Database) -> str:
    """The pipeline of the package from the server's own log, with the addresses of a test."""
    tables = packaged("star_tables.sql")
    tables = tables.replace("'hostname' = 'mysql'", "'hostname' = '127.0.0.1'")
    tables = tables.replace("'port' = '3306'", f"'port' = '{source.port}'")
    tables = tables.replace("'username' = 'root'", f"'username' = '{source.user}'")
    tables = tables.replace("'password' = 'debezium'", f"'password' = '{source.password}'")
    return tables + into(target)


def through(kafka: SharedKafka, prefix: str, target: Database) -> str:
    """The pipeline of the package from topics of Debezium."""
    tables = packaged("star_tables_kafka.sql").replace("'kafka:9092'", f"'{kafka.address}'")
    return tables.replace("'shop.", f"'{prefix}.") + into(target)


def into(target: Database) -> str:
    """The star of the package in a database of a test."""
    text = packaged("star.sql").replace(
        "//postgres:5432/postgres", f"//127.0.0.1:{target.port}/{target.name}"
    )
    return text.replace("postgresuser", "postgres").replace("adminpwrd", "postgres")


def connector(server: str, source: SharedMysql, kafka: SharedKafka, prefix: str) -> str:
    """The connector of the package for a server, as JSON."""
    said = json.loads(packaged("register-mysql.json"))
    said["name"] = prefix
    own = {
        "database.hostname": "127.0.0.1",
        "database.port": str(source.port),
        "database.user": source.user,
        "database.password": source.password,
        "topic.prefix": prefix,
        "schema.history.internal.kafka.bootstrap.servers": kafka.address,
        "schema.history.internal.kafka.topic": f"{prefix}.history",
        "poll.interval.ms": "20",
    }
    if server == "mariadb":
        own["connector.class"] = "io.debezium.connector.mariadb.MariaDbConnector"
    said["config"] |= own
    return json.dumps(said)
