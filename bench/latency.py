"""How long it takes from a commit in Postgres to the row in another database, stop by stop.

    make bench-latency                             # 2,000,000 claims, 300 transactions of one row
    make bench-latency ARGS="--claims 200000 --commits 50"
    make bench-latency ARGS="--keep"               # write the table into docs/benchmarks.md

A pipeline keeps the claims join and writes it into a table of another database (connector `jdbc`). Somebody changes one
claim, commits, and asks the other database again and again until it shows the change; then the next. The pipeline is
`headwater run`, a program of its own, that notes when a change comes by each point of its way (`HEADWATER_TRACE`).
"""

from __future__ import annotations

import argparse
import bisect
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2

from bench import page
from headwater.services.postgres import EmbeddedPostgres
from headwater.services.postgres_files import PASSWORD, USER

SOURCE = """
CREATE TABLE members (id INT PRIMARY KEY, company TEXT NOT NULL);
CREATE TABLE claims (id INT PRIMARY KEY, member_id INT NOT NULL, animal TEXT NOT NULL, status TEXT NOT NULL,
    total INT NOT NULL);
INSERT INTO members SELECT n, 'company ' || n %% 50 FROM generate_series(0, %(members)s - 1) n;
INSERT INTO claims SELECT n, (n * 7919::bigint) %% %(members)s, 'animal ' || n %% 30, 'OPEN', n %% 1000
FROM generate_series(0, %(claims)s - 1) n;
"""
TARGET = "CREATE TABLE costs (company TEXT, animal TEXT, total BIGINT, claims BIGINT, PRIMARY KEY (company, animal))"
SCRIPT = """
SET 'pipeline.name' = 'latency';
CREATE TABLE members (id INT, company STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({source}, 'table-name' = 'members');
CREATE TABLE claims (id INT, member_id INT, animal STRING, status STRING, total INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ({source}, 'table-name' = 'claims');
CREATE TABLE costs (company STRING, animal STRING, total BIGINT, claims BIGINT,
    PRIMARY KEY (company, animal) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://127.0.0.1:{port}/target', 'table-name' = 'costs',
        'username' = '{user}', 'password' = '{password}');
INSERT INTO costs
SELECT m.company, c.animal, SUM(c.total), COUNT(*)
FROM claims c JOIN members m ON c.member_id = m.id WHERE c.status <> 'DENIED' GROUP BY m.company, c.animal;
"""

ASK_SECONDS = 0.001
STOPS = {
    "capture": "from the commit to the whole transaction in our process",
    "log": "until it is typed, synced and readable",
    "read": "until the pipeline has noticed and read it",
    "plan": "to find the rows a statement needs, and all around Spark",
    "Spark": "statements, until their answers are here",
    "sink": "until the row is seen in the other database",
}


def main() -> None:
    """Fill, warm up, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", type=int, default=2_000_000)
    parser.add_argument("--members", type=int, default=100_000)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--warm", type=int, default=100, help="so many commits before those that count")
    parser.add_argument("--keep", action="store_true", help="write the table into docs/benchmarks.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, EmbeddedPostgres(Path(name) / "postgres") as server:
        found = measured(server, Path(name), given)
    table = told(found)
    print(table)
    if given.keep:
        asked = " ".join(word for word in sys.argv[1:] if word != "--keep")
        page.keep("latency", f'make bench-latency ARGS="{asked}"' if asked else "make bench-latency", table)


def measured(server: EmbeddedPostgres, folder: Path, given: argparse.Namespace) -> list[dict[str, float]]:
    """The seconds of each stop, for each commit that counts."""
    source = connected(server.uri)
    source.execute("CREATE DATABASE target")
    source.execute(SOURCE, {"claims": given.claims, "members": given.members})
    source.execute("VACUUM ANALYZE")
    target = connected(server.uri.rsplit("/", 1)[0] + "/target")
    target.execute(TARGET)
    trace = folder / "trace"
    with running(server, folder, trace) as check:
        source.execute(
            "SELECT count(DISTINCT (company, animal)) FROM claims JOIN members ON members.id = member_id"
        )
        groups = int(source.fetchone()[0])
        while asked(target, "SELECT count(*) FROM costs") < groups:
            check()
            time.sleep(0.1)
        dice = random.Random(1)
        moments = [
            commit(source, target, dice.randrange(given.claims), check)
            for _ in range(given.warm + given.commits)
        ]
    points = [
        (float(at), point)
        for at, _, point in (line.partition(" ") for line in trace.read_text().splitlines())
    ]
    return [stops(begin, end, points) for begin, end in moments[given.warm :]]


def connected(uri: str) -> Any:
    """A cursor that commits every statement."""
    client = psycopg2.connect(uri)
    client.autocommit = True
    return client.cursor()


def asked(cursor: Any, question: str, *values: object) -> int:
    """One number."""
    cursor.execute(question, values)
    return int(cursor.fetchone()[0])


@contextmanager
def running(server: EmbeddedPostgres, folder: Path, trace: Path) -> Iterator[Callable[[], None]]:
    """The pipeline, as a program of its own; and how to see that it runs."""
    login = f"'hostname' = '127.0.0.1', 'port' = '{server.port}', 'username' = '{USER}', 'password' = '{PASSWORD}'"
    source = f"'connector' = 'postgres-cdc', {login}, 'database-name' = 'postgres'"
    script = folder / "latency.sql"
    script.write_text(SCRIPT.format(source=source, port=server.port, user=USER, password=PASSWORD))
    with (folder / "said").open("wb") as said:
        program = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "headwater",
                "run",
                str(script),
                "--state",
                str(folder / "state"),
            ],
            stdout=said,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "HEADWATER_TRACE": str(trace)},
        )

        def check() -> None:
            assert program.poll() is None, (folder / "said").read_text()

        try:
            yield check
            check()
        finally:
            program.terminate()
            program.wait(60)


def commit(source: Any, target: Any, claim: int, check: Callable[[], None]) -> tuple[float, float]:
    """Make one claim dearer; when that was committed, and when the other database showed it."""
    source.execute(
        "SELECT company, animal FROM claims c JOIN members m ON m.id = member_id WHERE c.id = %s", [claim]
    )
    group = source.fetchone()
    shown = "SELECT total FROM costs WHERE company = %s AND animal = %s"
    before = asked(target, shown, *group)
    begin = time.time()
    source.execute("UPDATE claims SET total = total + 1 WHERE id = %s", [claim])
    while asked(target, shown, *group) == before:
        check()
        assert time.time() < begin + 60, "the change did not come within a minute"
        time.sleep(ASK_SECONDS)
    return begin, time.time()


def stops(begin: float, end: float, points: list[tuple[float, str]]) -> dict[str, float]:
    """What each stop took of the time between two moments."""
    within = points[bisect.bisect_left(points, (begin, "")) : bisect.bisect_right(points, (end, "~"))]
    first: dict[str, float] = {}
    in_spark, since = 0.0, begin
    for at, point in within:
        first.setdefault(point, at)
        if point == "spark asked":
            since = at
        elif point == "spark answered" and "batch planned" not in first:
            in_spark += at - since
    received, appended = first["log received"], first["log appended"]
    read, planned = first["batch read"], first["batch planned"]
    return {
        "capture": received - begin,
        "log": appended - received,
        "read": read - appended,
        "plan": planned - read - in_spark,
        "Spark": in_spark,
        "sink": end - planned,
        "all": end - begin,
    }


def told(found: list[dict[str, float]]) -> str:
    """The middle and the slow end of each stop, in milliseconds."""
    lines = ["| stop | p50 | p95 | |", "|---|---|---|---|"]
    for stop in [*STOPS, "all"]:
        took = [1000 * each[stop] for each in found]
        cuts = statistics.quantiles(took, n=20)
        what = STOPS.get(stop, f"from commit to the row, {len(found)} commits")
        lines.append(f"| {stop} | {statistics.median(took):.1f} ms | {cuts[-1]:.1f} ms | {what} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
