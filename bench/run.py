"""How long a step takes, beside a recompute of the same query on the same machine in the same run.

    make bench-step            # 200,000 claims, 20,000 members
    make bench-step ARGS="--claims 2000000 --members 100000"

The rows come from the in-memory source, so that what is measured is the step alone: no database, no network.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.sources.base import Report
from headwater.sources.values import ValuesStore, store

SCRIPT = """
SET 'pipeline.name' = 'bench';
CREATE TABLE members (id INT, company STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE claims (id INT, member_id INT, animal STRING, status STRING, total DOUBLE, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
CREATE VIEW costs AS
SELECT m.company, c.animal, SUM(c.total) AS total, COUNT(*) AS claims
FROM claims c JOIN members m ON c.member_id = m.id WHERE c.status <> 'DENIED' GROUP BY m.company, c.animal;
"""
COMPANIES = [f"company {n}" for n in range(50)]
ANIMALS = [f"animal {n}" for n in range(30)]


class Quiet:
    """Keeps the last batch."""

    last: BatchDone

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Keep it."""
        self.last = done


def main() -> None:
    """Load, warm up, measure, compare, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--claims", type=int, default=200_000)
    parser.add_argument("--members", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=15)
    given = parser.parse_args()
    dice, listener, rows = random.Random(1), Quiet(), store("bench")
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        pipeline = open_pipeline(SCRIPT, file="bench.sql", state=Path(folder), listener=listener)
        print(f"compile and start         {time.perf_counter() - begin:8.3f} s")
        load(rows, given.claims, given.members)
        begin = time.perf_counter()
        pipeline.run_once()
        print(f"first load                {time.perf_counter() - begin:8.3f} s  {given.claims:,} claims")
        recomputed = recompute(pipeline)
        print(f"recompute by Spark        {recomputed:8.3f} s")
        next_id = given.claims
        for count in (1, 1_000):
            taken: list[float] = []
            stops: list[dict[str, float]] = []
            for _ in range(given.steps):
                insert(rows, dice, range(next_id, next_id + count), given.members)
                next_id += count
                begin = time.perf_counter()
                pipeline.run_once()
                taken.append(time.perf_counter() - begin)
                stops.append(dict(listener.last.seconds))
            middle = statistics.median(taken)
            where = ", ".join(f"{s} {statistics.median(x[s] for x in stops):.3f}" for s in stops[0])
            print(
                f"step of {count:>5} changes     {middle:8.3f} s  {middle / recomputed:.2f} of a recompute  ({where})"
            )
        pipeline.close()


def load(rows: ValuesStore, claims: int, members: int) -> None:
    """The first rows of both tables, as one transaction."""
    dice = random.Random(0)
    people = pa.table(
        {
            "id": pa.array(range(members), pa.int32()),
            "company": [dice.choice(COMPANIES) for _ in range(members)],
        }
    )
    rows.append({"members": people, "claims": made(dice, range(claims), members)})


def insert(rows: ValuesStore, dice: random.Random, ids: range, members: int) -> None:
    """New claims, as one transaction."""
    rows.append({"claims": made(dice, ids, members)})


def made(dice: random.Random, ids: range, members: int) -> pa.Table:
    """Claims with the given ids."""
    return pa.table(
        {
            "id": pa.array(ids, pa.int32()),
            "member_id": pa.array([dice.randrange(members) for _ in ids], pa.int32()),
            "animal": [dice.choice(ANIMALS) for _ in ids],
            "status": [dice.choice(["INITIAL", "IN REVIEW", "REIMBURSED", "DENIED"]) for _ in ids],
            "total": [round(dice.random() * 1000, 2) for _ in ids],
        }
    )


def recompute(pipeline: Pipeline) -> float:
    """The view's own query run from nothing on the same State, the best of three."""
    result = pipeline.program.results["costs"]
    taken = []
    for _ in range(3):
        begin = time.perf_counter()
        frame = pipeline.engine.query(
            result.query_text, {name: pipeline.states[name] for name in result.reads}
        )
        frame.toArrow()
        taken.append(time.perf_counter() - begin)
    return min(taken)


if __name__ == "__main__":
    main()
