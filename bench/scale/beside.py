"""What stands around a step, measured: a sink of one connection, a record on the disk; and captures, from the page."""

from __future__ import annotations

import multiprocessing
import re
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psycopg2

from bench import page
from bench.engine import opened
from bench.scale.grid import claims
from headwater.runtime.facts import BatchDone
from headwater.services.postgres import temporary_postgres
from headwater.services.postgres_files import PASSWORD, USER
from headwater.sources.base import Report
from headwater.sources.values import STORES
from headwater.storage.chain import create

NAME = "sunk"
TARGET = "CREATE TABLE target (id INT PRIMARY KEY, member_id INT, animal TEXT, total BIGINT)"
SCRIPT = f"""
SET 'pipeline.name' = '{NAME}';
CREATE TABLE claims (id INT, member_id INT, animal STRING, total BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
CREATE TABLE target (id INT, member_id INT, animal STRING, total BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://127.0.0.1:{{port}}/postgres', 'table-name' = 'target',
      'username' = '{USER}', 'password' = '{PASSWORD}');
INSERT INTO target SELECT id, member_id, animal, total FROM claims;
"""
ROWS = 50_000
TIMES = 5


@dataclass
class Ear:
    """Keeps what each write to the sinks took."""

    sinks: list[float] = field(default_factory=list)

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Keep it."""
        self.sinks.append(done.seconds["sinks"])


def sunk() -> tuple[float, float]:
    """Rows a second into a table of Postgres, and the seconds of a write of one row."""
    apart = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=apart) as worker:
        return worker.submit(_sunk).result()


def _sunk() -> tuple[float, float]:
    with temporary_postgres() as server, tempfile.TemporaryDirectory() as folder:
        client = psycopg2.connect(server.uri)
        client.autocommit = True
        client.cursor().execute(TARGET)
        ear = Ear()
        pipeline = opened(SCRIPT.format(port=server.port), NAME, Path(folder) / "state", ear)
        try:
            taken = {}
            for count in (1, ROWS):
                ear.sinks.clear()
                for number in range(TIMES + 1):
                    first = 10 * ROWS * (count > 1) + count * number
                    STORES[NAME].append({"claims": claims(first, count, ROWS)})
                    pipeline.run_once()
                taken[count] = statistics.median(ear.sinks[1:])
        finally:
            pipeline.close()
    return ROWS / (taken[ROWS] - taken[1]), taken[1]


def synced() -> float:
    """Seconds until a small record is durable on the disk of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for number in range(200):
            begin = time.perf_counter()
            create(Path(folder) / str(number), b"x" * 500)
            taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def captured(text: str | None = None) -> float:
    """Changes a second that one process captures, as `make bench-capture` wrote it on the page of benchmarks."""
    found = re.search(r"\| changes \| headwater \| [\d.]+ \| ([\d,]+) \|", text or page.PAGE.read_text())
    assert found is not None, "make bench-capture has not been kept"
    return float(found[1].replace(",", ""))
