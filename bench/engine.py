"""What a step of the engine costs beside a recompute of the same queries on the same rows, in one run on one machine.

    make bench-engine                              # TPC-H at scale 1
    make bench-engine ARGS="--scale 5"
    make bench-engine ARGS="--claims 1 4 16"       # the claims join over so many million rows
    make bench-engine ARGS="--keep"                # write the table into docs/benchmarks.md

TPC-H: all 22 queries are views of one pipeline. A refresh inserts 0.1 % of the orders with their lines, deletes as many
and updates 100 customers. After some refreshes to warm up, each view's own seconds are taken from the pipeline; then
plain Spark runs each query on plain Parquet files of the rows as they are, on all cores with adaptive planning, warmed
up too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bench import page
from headwater.runtime.facts import Listener, Silent
from headwater.runtime.open import Cluster, open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.sources.values import STORES, ValuesStore
from headwater.tables import slices
from tests.tpch.bags import bag_of, unequal
from tests.tpch.draft import Changes
from tests.tpch.queries import NAMES, query_texts, view_declarations
from tests.tpch.stream import refresh, stream
from tests.tpch.tables import KEYS, declarations, make_data, read_data

SHARE = 0.001
"""So many of the orders come in a refresh, and as many go."""

CUSTOMERS = 100

PLAIN = {
    # Spark's own way, in place of what we set for small steps; partitions for a machine of a few cores.
    "spark.sql.leafNodeDefaultParallelism": str(os.cpu_count()),
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.autoBroadcastJoinThreshold": "10m",
}

CLAIMS = """
SET 'pipeline.name' = 'claims';
CREATE TABLE members (id INT, company STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE claims (id INT, member_id INT, animal STRING, total DOUBLE, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
CREATE VIEW costs AS
SELECT m.company, c.animal, SUM(c.total) AS total, COUNT(*) AS claims
FROM claims c JOIN members m ON c.member_id = m.id GROUP BY m.company, c.animal;
"""


@dataclass(frozen=True)
class Measured:
    """What a query's step and its recompute took, in seconds."""

    name: str
    step: float
    recompute: float
    way: str
    unlike: tuple[str, ...] = ()
    """What the view and the recompute do not agree on after the last refresh."""

    @property
    def ratio(self) -> float:
        """How much of a recompute a step takes."""
        return self.step / self.recompute


def main() -> None:
    """Measure what is asked for, and print it as tables for people."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0, help="TPC-H's scale factor")
    parser.add_argument("--steps", type=int, default=5, help="refreshes that are measured")
    parser.add_argument("--warm", type=int, default=3, help="refreshes before that")
    parser.add_argument(
        "--claims", type=int, nargs="+", help="the claims join instead, over so many million rows"
    )
    parser.add_argument("--keep", action="store_true", help="write the table into docs/benchmarks.md")
    given = parser.parse_args()
    if given.claims:
        name, table = "claims", growth(given.claims, steps=given.steps, warm=given.warm)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = tpch(Path(folder), given.scale, steps=given.steps, warm=given.warm)
        name, table = f"tpch at scale {given.scale:g}", told(found, given.scale)
    print(table)
    if given.keep:
        asked = [word for word in sys.argv[1:] if word != "--keep"]
        page.keep(name, f'make bench-engine ARGS="{" ".join(asked)}"', table)


def tpch(folder: Path, scale: float, *, steps: int, warm: int) -> list[Measured]:
    """Each query's step and recompute."""
    make_data(folder, scale=scale)
    refreshes = prepared(folder, count=warm + steps)
    script = f"SET 'pipeline.name' = 'bench';\n{declarations()}\n{view_declarations(scale)}"
    pipeline = opened(script, "bench", folder / "state")
    try:
        STORES["bench"].append({name: mapped(folder / f"{name}.arrow") for name in KEYS})
        begin = time.perf_counter()
        pipeline.run_once()
        said("filled 22 views in", round(time.perf_counter() - begin), "s")
        taken: dict[str, list[float]] = {name: [] for name in NAMES}
        for number, changes in enumerate(refreshes):
            STORES["bench"].append(changes)
            before, begin = dict(pipeline.costs.last), time.perf_counter()
            pipeline.run_once()
            said(f"refresh {number + 1} took", round(time.perf_counter() - begin, 1), "s")
            costs = {n: cost for n, cost in pipeline.costs.last.items() if cost is not before.get(n)}
            for name in NAMES if number >= warm else ():
                # With what is kept inside of it: q15 is made of q15__part1, q15__part2 and so on.
                taken[name].append(sum(c.seconds for n, c in costs.items() if n.partition("__")[0] == name))
        ways = {name: pipeline.costs.last[name].way.value for name in NAMES}
        anew = recomputed(pipeline.engine.spark, folder, query_texts(scale))
        unlike = {name: tuple(differences(pipeline, name, anew[name].rows)) for name in NAMES}
    finally:
        pipeline.close()
    return [Measured(n, statistics.median(taken[n]), anew[n].seconds, ways[n], unlike[n]) for n in NAMES]


def differences(pipeline: Pipeline, name: str, wanted: pa.Table) -> list[str]:
    """What a view holds and its query does not give, and the other way round."""
    state = pipeline.states[name]
    return unequal(bag_of(wanted), bag_of(slices.whole(state, state.schema.names)))


def prepared(folder: Path, *, count: int) -> list[Changes]:
    """So many refreshes. What the tables hold before and after them is left in files, for memory belongs to Spark."""
    rows = read_data(folder)
    said("made the rows", len(rows["lineitem"]), "lines")
    for name, table in rows.items():
        with pa.ipc.new_file(str(folder / f"{name}.arrow"), table.schema) as file:
            file.write_table(table)
    edits = [refresh(rows, share=SHARE, customers=CUSTOMERS)] * count
    refreshes = []
    for step in stream(rows, 1, steps=edits, season=None):
        refreshes.append(step.changes)
        rows = step.rows
    for name, table in rows.items():
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 20)
    return refreshes


def mapped(path: Path) -> pa.Table:
    """A table as it lies in a file."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


@dataclass(frozen=True)
class Anew:
    """What a query gives when it is computed from nothing, and the seconds that takes."""

    rows: pa.Table
    seconds: float


def recomputed(spark: SparkSession, folder: Path, texts: Mapping[str, str]) -> dict[str, Anew]:
    """What plain Spark takes for each query, the middle of three after one to warm up, and what it finds."""
    plain = spark.newSession()
    for name, value in PLAIN.items():
        plain.conf.set(name, value)
    for name in KEYS:
        plain.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    found: dict[str, Anew] = {}
    for name, text in texts.items():
        taken = [timed(plain, text) for _ in range(4)]
        found[name] = Anew(plain.sql(text).toArrow(), statistics.median(taken[1:]))
        said("recomputed", name, "in", round(found[name].seconds, 2), "s")
    return found


def timed(spark: SparkSession, text: str) -> float:
    """Seconds to compute all rows of a query and drop them."""
    begin = time.perf_counter()
    spark.sql(text).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin


def told(found: Sequence[Measured], scale: float) -> str:
    """The table and what it comes to."""
    lines = [
        f"TPC-H at scale {scale:g}: seconds of a refresh of {SHARE:.1%} beside a recompute by Spark",
        "",
        "| query | step | recompute | ratio | way |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {m.name} | {m.step:.2f} | {m.recompute:.2f} | {m.ratio:.2f} | {m.way} |" for m in found]
    # A refresh leaves some queries alone; that they take no time is no merit.
    ratios = [m.ratio for m in found if m.step > 0]
    unlike = [f"{m.name}: {line}" for m in found for line in m.unlike]
    good = sum(ratio <= 1 / 3 for ratio in ratios)
    middle, largest = statistics.median(ratios), max(ratios)
    lines += [
        "",
        f"Of {len(ratios)} that change {good} take a third or less; median {middle:.2f}, largest {largest:.2f}.",
        "",
        "After the last refresh every view equals its recompute."
        if not unlike
        else "\n".join(["Unequal:", *unlike]),
    ]
    return "\n".join(lines)


def growth(millions: Sequence[int], *, steps: int, warm: int) -> str:
    """What a step of 1,000 changes takes as the claims grow, and how many jobs it is; a small table comes first."""
    lines = ["| claims | step | Spark jobs |", "|---|---|---|"]
    lines.append(_line("1,000, of which 10 change", *step_of(1_000, 10, steps=steps, warm=warm)))
    middles = []
    for count in millions:
        taken, jobs = step_of(count * 1_000_000, 1_000, steps=steps, warm=warm)
        middles.append(taken)
        lines.append(_line(f"{count} M", taken, jobs))
    return "\n".join(
        [
            *lines,
            "",
            f"From {millions[0]} M to {millions[-1]} M it grows to {middles[-1] / middles[0]:.2f} times.",
        ]
    )


def _line(name: str, taken: float, jobs: int) -> str:
    said(line := f"| {name} | {taken:.2f} s | {jobs} |")
    return line


def step_of(rows: int, changes: int, *, steps: int, warm: int) -> tuple[float, int]:
    """The seconds of a step of so many changes on so many claims, and the jobs that Spark runs for it."""
    folder = Path(tempfile.mkdtemp())
    pipeline = opened(CLAIMS, "claims", folder / "state")
    try:
        STORES["claims"].append({"members": members(rows // 10), "claims": claims(0, rows, rows // 10)})
        pipeline.run_once()
        taken, jobs = [], 0
        for number in range(warm + steps):
            STORES["claims"].append({"claims": claims(rows + changes * number, changes, rows // 10)})
            begun, begin = job_count(pipeline), time.perf_counter()
            pipeline.run_once()
            taken.append(time.perf_counter() - begin)
            jobs = max(jobs, job_count(pipeline) - begun) if number >= warm else 0
    finally:
        pipeline.close()
        shutil.rmtree(folder)
    return statistics.median(taken[warm:]), jobs


def members(count: int) -> pa.Table:
    """So many members of fifty companies."""
    ids = numbers(0, count)
    return pa.table({"id": ids, "company": texts("company", ids, 50)})


def claims(first: int, count: int, of: int) -> pa.Table:
    """So many claims of random members."""
    whose = pc.floor(pc.multiply(pc.random(count, initializer=first), of)).cast(pa.int32())
    return pa.table(
        {
            "id": numbers(first, count),
            "member_id": whose,
            "animal": texts("animal", whose, 30),
            "total": pc.round(pc.multiply(pc.random(count, initializer=first + 1), 1000.0), ndigits=2),
        }
    )


def numbers(first: int, count: int) -> pa.Array:
    """So many numbers from one on."""
    ones = pa.repeat(pa.scalar(1, pa.int64()), count)
    return pc.cumulative_sum(ones, start=first - 1).cast(pa.int32())


def texts(word: str, of: pa.Array, kinds: int) -> pa.Array:
    """One of some words for each number."""
    known = pa.array([f"{word} {n}" for n in range(kinds)])
    return known.take(pc.subtract(of, pc.multiply(pc.divide(of, kinds), kinds)))


def job_count(pipeline: Pipeline) -> int:
    """How many jobs Spark has begun."""
    return int(pipeline.engine.spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def opened(
    script: str, name: str, state: Path, listener: Listener | None = None, cluster: Cluster | None = None
) -> Pipeline:
    """A pipeline over a store of its own."""
    STORES[name] = ValuesStore()
    return open_pipeline(
        script, file=f"{name}.sql", state=state, listener=listener or Silent(), cluster=cluster
    )


def said(*words: object) -> None:
    """A line of progress."""
    print(*words, flush=True)


if __name__ == "__main__":
    main()
