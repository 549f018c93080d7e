"""How much people who look on slow down the steps of a pipeline.

    make bench-console                             # 50 live connections, three rounds of 20 seconds without and with them
    make bench-console ARGS="--viewers 200 --rounds 5"
    make bench-console ARGS="--keep"               # write the table into docs/benchmarks.md

`headwater serve` runs a pipeline over rows that are made up. In turns nobody looks, and many do: each follows a view as
the console does, and each tenth also asks for the overview once a second. What the steps took is the server's own word.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urllib3

from bench import page

SCRIPT = """
CREATE TABLE claims (id BIGINT, animal INT, cost INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'datagen', 'rows-per-second' = '50', 'fields.id.kind' = 'sequence',
  'fields.animal.min' = '1', 'fields.animal.max' = '30', 'fields.cost.min' = '1', 'fields.cost.max' = '900'
);
CREATE VIEW costs AS SELECT animal, COUNT(*) AS claims, SUM(cost) AS cost FROM claims GROUP BY animal;
"""

POOL = urllib3.PoolManager(maxsize=8, timeout=urllib3.Timeout(connect=10.0, read=60.0))


def ask(method: str, url: str, body: object = None) -> Any:
    """What the server answers."""
    answer = POOL.request(method, url, json=body) if body is not None else POOL.request(method, url)
    assert answer.status < 300, answer.data
    return answer.json()


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """A server with a pipeline that runs; its address."""
    command = [sys.executable, "-m", "headwater", "serve", "--port", "0", "--state", f"{folder}/state"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    try:
        ask("POST", f"{url}/applications", {"name": "claims"})
        ask("POST", f"{url}/applications/claims/versions", {"statement": SCRIPT})
        ask("POST", f"{url}/applications/claims/deployments", {"version_id": "1"})
        while (ask("GET", f"{url}/pipelines/claims")["batch_id"] or 0) < 5:
            time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait()


@contextmanager
def viewers(url: str, count: int) -> Iterator[None]:
    """So many people look on inside the block."""
    over = threading.Event()

    def look(number: int) -> None:
        pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=30.0, read=60.0))
        answer = pool.request("GET", f"{url}/views/claims.costs/changes", preload_content=False)
        asked = 0.0
        for _ in answer.stream(4096):
            if over.is_set():
                break
            if number % 10 == 0 and time.monotonic() - asked > 1.0:
                pool.request("GET", f"{url}/pipelines")
                asked = time.monotonic()
        answer.close()

    threads = [threading.Thread(target=look, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(10.0)


def steps(url: str, seconds: float) -> list[float]:
    """What the steps of the next seconds take."""
    seen: dict[int, float] = {}
    first = ask("GET", f"{url}/pipelines/claims")["batch_id"]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(min(5.0, seconds))
        for batch in ask("GET", f"{url}/pipelines/claims/batches?limit=100")["batches"]:
            work = sum(took for stop, took in batch["seconds"].items() if stop != "read")
            seen[batch["batch_id"]] = work
    return [took for batch, took in seen.items() if batch > first]


def main() -> None:
    """Measure in turns, and print both medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--keep", action="store_true", help="write the table into docs/benchmarks.md")
    given = parser.parse_args()
    alone: list[float] = []
    watched: list[float] = []
    with tempfile.TemporaryDirectory() as folder, serving(folder) as url:
        steps(url, given.seconds)
        for _ in range(given.rounds):
            alone += steps(url, given.seconds)
            with viewers(url, given.viewers):
                watched += steps(url, given.seconds)
    table = told(given.viewers, alone, watched)
    print(table)
    if given.keep:
        asked = " ".join(word for word in sys.argv[1:] if word != "--keep")
        page.keep("console", f'make bench-console ARGS="{asked}"' if asked else "make bench-console", table)


def told(viewers: int, alone: list[float], watched: list[float]) -> str:
    """Both medians and what they are to each other."""
    before, after = statistics.median(alone), statistics.median(watched)
    rows = [f"| nobody looks on | {before:.3f} s | {len(alone)} |"]
    rows.append(f"| {viewers} look on | {after:.3f} s | {len(watched)} |")
    head = ["| | a step, median | steps |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", f"A step takes {after / before:.2f} times as long."])


if __name__ == "__main__":
    main()
