"""make fuzz: many random queries from a fresh seed; every failure is made small and kept as a story."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.random_queries.campaign import Campaign, run_campaign
from tests.random_queries.found import keep
from tests.random_queries.shrink import Case, shrunk
from tests.random_queries.trial import needed


def main() -> int:
    """Run, tell, and fail if something was found."""
    asked = argparse.ArgumentParser(prog="make fuzz ARGS=...", description=__doc__)
    asked.add_argument("--seed", default=str(secrets.randbelow(10**9)), help="what the queries are made from")
    asked.add_argument("--queries", type=int, default=2000, help="how many")
    asked.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes, each with its share"
    )
    given = asked.parse_args()
    return (
        shared(given.seed, given.queries, given.workers)
        if given.workers > 1
        else alone(given.seed, given.queries)
    )


def shared(seed: str, queries: int, workers: int) -> int:
    """A process for each share, with a seed that is made from the whole's."""
    shares = [queries // workers + (number < queries % workers) for number in range(workers)]
    alone_here = (sys.executable, "-m", "tests.random_queries.fuzz", "--workers", "1")
    running = [
        subprocess.Popen([*alone_here, "--seed", f"{seed}.{number}", "--queries", str(share)])
        for number, share in enumerate(shares)
        if share
    ]
    codes = [process.wait() for process in running]
    print(
        f"seed {seed}: {queries} queries by {len(codes)} processes, {sum(map(bool, codes))} of which found something"
    )
    return max(codes)


def alone(seed: str, queries: int) -> int:
    """All of them here."""
    began = time.monotonic()

    def look(found: Campaign) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {found.told().splitlines()[0]}", flush=True)
        while len(kept) < len(found.failures):
            failure, trial = found.failures[len(kept)]
            case = Case(tuple(needed(failure.view, trial.views)), trial.history)
            print(f"{failure.view.name}: {failure.what}\n{failure.view.sql}", flush=True)
            kept.append(keep(shrunk(case, failure, trial.oracle, trial.folder), failure))
            print(f"kept as {kept[-1]}", flush=True)

    kept: list[Path] = []
    with tempfile.TemporaryDirectory() as folder:
        found = run_campaign(seed, queries, folder=Path(folder), look=look)
    print(found.told())
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
