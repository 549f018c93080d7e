"""Headwater itself: `headwater run` on a script, as anybody would start it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from bench.contender import Ground, Job, Program
from bench.ways import READ, Way
from headwater import __version__
from headwater.services.artifacts import fetch
from headwater.services.postgres_files import PASSWORD, USER


@dataclass(frozen=True)
class Headwater:
    """Nothing is set: what is measured is what everybody gets."""

    name: str = "headwater"

    def takes(self, job: Job, way: Way) -> bool:
        """Whatever there is."""
        return True

    def settings(self, way: Way) -> Mapping[str, str]:
        """No setting differs; where rows come from topics they say in which format."""
        return {"version": __version__, **(READ if way is Way.TOPICS else {})}

    def prepare(self, ground: Ground) -> None:
        """Fetch what Spark needs to read topics."""
        if ground.topics is not None:
            fetch("spark-kafka")

    def events(self) -> Mapping[str, str]:
        """It reads them as they are."""
        return {}

    def start(self, job: Job, ground: Ground) -> Program:
        """The program, on a script of its own."""
        (ground.folder / "job.sql").write_text(script(job, ground))
        program = Program(ground.folder)
        state = str(ground.folder / "state")
        program.start("headwater", [sys.executable, "-m", "headwater", "run", "job.sql", "--state", state])
        return program


def script(job: Job, ground: Ground) -> str:
    """The job as a script."""
    server = ground.server
    sink = {
        "connector": "jdbc", "url": f"jdbc:postgresql://127.0.0.1:{server.port}/{ground.target}",
        "table-name": job.target.name, "username": USER, "password": PASSWORD,
    }  # fmt: skip
    statements = [
        f"SET 'pipeline.name' = '{job.name}'",
        *(table.declared(source(table.name, ground)) for table in job.tables),
        job.target.declared(sink),
        *job.statements(),
    ]
    return ";\n".join(statements) + ";\n"


def source(table: str, ground: Ground) -> Mapping[str, str]:
    """Where a table is read."""
    if ground.topics is not None:
        return ground.topics.options(table)
    return {
        "connector": "postgres-cdc", "hostname": "127.0.0.1", "port": str(ground.server.port), "username": USER,
        "password": PASSWORD, "database-name": ground.source, "table-name": table,
    }  # fmt: skip
