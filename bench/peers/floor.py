"""The floor: Postgres' own programs, which only hand rows out. Nobody who reads from it is much faster."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.contender import Changes, Ground, Job
from bench.results import Figure
from bench.watch import cursor
from bench.ways import Way
from headwater.services.postgres_files import program

SLOT = "floor"


@dataclass(frozen=True)
class Floor:
    """`COPY` for first rows, `pg_recvlogical` for changes; neither knows what the rows mean."""

    name: str = "floor"

    def takes(self, job: Job, way: Way) -> bool:
        """It reads tables and logs."""
        return way is Way.LOG

    def settings(self, way: Way) -> Mapping[str, str]:
        """How both are called."""
        return {"COPY": "TO '/dev/null'", "pg_recvlogical": "pgoutput, -f /dev/null"}

    def figures(self, job: Job, ground: Ground, changes: Changes) -> Iterator[Figure]:
        """Seconds for all tables, changes a second."""
        with cursor(ground.uri(ground.source)) as source:
            begin = time.perf_counter()
            for table in job.tables:
                source.execute(f"COPY {table.name} TO '/dev/null'")
            yield Figure(changes.workload, "first load", "COPY", time.perf_counter() - begin, "s")
            if not changes.count:
                return
            source.execute("CREATE PUBLICATION floor FOR ALL TABLES")
            source.execute(f"SELECT pg_create_logical_replication_slot('{SLOT}', 'pgoutput')")
            changes.make()
            source.execute("SELECT pg_current_wal_lsn()::text")
            end = source.fetchone()[0]
        begin = time.perf_counter()
        received(ground.uri(ground.source), end)
        rate = changes.count / (time.perf_counter() - begin)
        yield Figure(changes.workload, "backlog", "pg_recvlogical", rate, "changes/s")


def received(uri: str, end: str) -> None:
    """Let Postgres' own program read the log up to a place."""
    command = [
        str(program("pg_recvlogical")), "-d", uri, "--slot", SLOT, "--start", "--endpos", end, "-f", "/dev/null",
        "-o", "proto_version=1", "-o", "publication_names=floor", "--no-loop",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
