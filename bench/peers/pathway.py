"""Pathway, with its own reader of Debezium's events, and with a reader of Postgres' log in Python of our own.

Its native one of that log wants a licence key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import cache
from bench.contender import Ground, Job, Program
from bench.ways import Way
from headwater.services.postgres_files import PASSWORD, USER

VERSION = "0.33.0"
PROGRAMS = ("claims",)
"""The jobs that `pathway_program.py` knows; Pathway has no SQL for such queries."""

READERS: Mapping[Way, Mapping[str, str]] = {
    Way.LOG: {
        "reader": "pw.io.python over pgoutput with psycopg2, session_type upsert, a commit for each transaction"
        " (its native reader wants a licence key)",
        "autocommit_duration_ms": "20, and none within a transaction",
        "first rows": "COPY in the snapshot of the slot, a commit each 100,000 rows",
    },
    Way.TOPICS: {
        "reader": "pw.io.debezium, one for each topic",
        "autocommit_duration_ms": "20",
        "REPLICA IDENTITY": "FULL",
    },
}
HOIST = "org.apache.kafka.connect.transforms.HoistField"
PAYLOAD = {
    "transforms": "key,value",
    "transforms.key.type": f"{HOIST}$Key",
    "transforms.key.field": "payload",
    "transforms.value.type": f"{HOIST}$Value",
    "transforms.value.field": "payload",
}
"""Its reader looks for an event in a field of this name, where a schema would stand beside it."""


@dataclass(frozen=True)
class Pathway:
    """Its engine on two threads, its own writer of snapshots."""

    name: str = "pathway"

    def takes(self, job: Job, way: Way) -> bool:
        """There is a program for some jobs."""
        return job.name in PROGRAMS

    def settings(self, way: Way) -> Mapping[str, str]:
        """The reader and what is set."""
        return {
            "version": VERSION,
            **READERS[way],
            **(PAYLOAD if way is Way.TOPICS else {}),
            "writer": "pw.io.postgres.write, snapshot, max_batch_size 5,000",
            "PATHWAY_THREADS": "2",
        }

    def prepare(self, ground: Ground) -> None:
        """Fetch it; from topics it wants whole old rows."""
        python()
        if ground.topics is not None:
            ground.log_old_rows()

    def events(self) -> Mapping[str, str]:
        """An event is the payload of a message."""
        return PAYLOAD

    def start(self, job: Job, ground: Ground) -> Program:
        """Its program for the job."""
        asked = {
            "port": ground.server.port, "user": USER, "password": PASSWORD, "source": ground.source,
            "target": ground.target, "tables": [asdict(table) for table in job.tables], "into": job.target.name,
        }  # fmt: skip
        if (told := ground.topics) is not None:
            asked |= {
                "broker": told.broker,
                "topics": {table.name: told.of(table.name) for table in job.tables},
            }
        program = Program(ground.folder)
        script = Path(__file__).with_name("pathway_program.py")
        # -P: this folder has a module of the same name as the package.
        program.start(
            "pathway", [str(python()), "-P", str(script), json.dumps(asked)], {"PATHWAY_THREADS": "2"}
        )
        return program


def python() -> Path:
    """The Python that has it."""
    wanted = [f"pathway=={VERSION}", "psycopg2-binary"]
    return cache.environment(f"pathway-{VERSION}", wanted) / "bin" / "python"
