"""The whole query computed from nothing on rows that lie there already: what it costs to keep nothing at all."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import duckdb

from bench.contender import Changes, Failed, Ground, Job
from bench.results import Figure
from bench.watch import cursor
from bench.ways import Way

TIMES = 3
WHAT = "recompute"


@dataclass(frozen=True)
class Recompute:
    """The middle of three after one to warm up, by each of three engines; each result is compared."""

    name: str = "recompute"

    def takes(self, job: Job, way: Way) -> bool:
        """It reads tables; how changes come is nothing to it."""
        return way is Way.LOG

    def settings(self, way: Way) -> Mapping[str, str]:
        """Whose memory the rows are in."""
        return {
            "Postgres": "its own tables, after VACUUM ANALYZE",
            "DuckDB": f"{version('duckdb')}, its own tables in memory",
            "Spark": f"{version('pyspark')}, local[*], cached tables",
            "each": f"the middle of {TIMES} after one to warm up",
        }

    def figures(self, job: Job, ground: Ground, changes: Changes) -> Iterator[Figure]:
        """Seconds of each."""

        def right(rows: list[tuple[object, ...]], who: str) -> None:
            if tuple(sorted(rows)) != tuple(changes.expected):
                raise Failed(f"the result of {who} is not right")

        with cursor(ground.uri(ground.source)) as source:
            source.execute("VACUUM ANALYZE")

            def by_postgres() -> list[tuple[object, ...]]:
                source.execute(job.anew())
                return list(source.fetchall())

            right(by_postgres(), "Postgres")
            yield Figure(changes.workload, WHAT, "Postgres", middle(by_postgres), "s")
            files = exported(job, ground, source)
        with duckdb.connect() as client:
            for name, path in files.items():
                client.execute(f"CREATE TABLE {name} AS FROM '{path}'")
            right(client.execute(job.anew()).fetchall(), "DuckDB")
            taken = middle(lambda: client.execute(job.anew()).fetchall())
            yield Figure(changes.workload, WHAT, "DuckDB", taken, "s")
        rows, taken = by_spark(job, ground, files)
        right(rows, "Spark")
        yield Figure(changes.workload, WHAT, "Spark", taken, "s")


def middle(work: Callable[[], object]) -> float:
    """The middle of some times."""
    found = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def exported(job: Job, ground: Ground, source: object) -> dict[str, Path]:
    """The tables as Parquet."""
    found = {}
    for table in job.tables:
        text, path = ground.folder / f"{table.name}.csv", ground.folder / f"{table.name}.parquet"
        with text.open("wb") as file:
            source.copy_expert(f"COPY {table.name} TO STDOUT (FORMAT csv)", file)  # type: ignore[attr-defined]
        columns = ", ".join(f"'{name}': '{kind}'" for name, (kind, _) in table.columns.items())
        with duckdb.connect() as client:
            read = f"read_csv('{text}', header = false, columns = {{{columns}}})"
            client.execute(f"COPY (FROM {read}) TO '{path}'")
        text.unlink()
        found[table.name] = path
    return found


def by_spark(job: Job, ground: Ground, files: Mapping[str, Path]) -> tuple[list[tuple[object, ...]], float]:
    """The result and the seconds, by Spark in a process of its own."""
    asked = {"files": {n: str(path) for n, path in files.items()}, "query": job.anew(), "times": TIMES}
    answer = ground.folder / "spark.json"
    made = subprocess.run(
        [sys.executable, "-m", "bench.peers.recompute_spark", json.dumps(asked), str(answer)],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise Failed(f"Spark ended: {made.stderr.strip()[-600:]}")
    told = json.loads(answer.read_text())
    return [tuple(row) for row in told["rows"]], statistics.median(told["seconds"])
