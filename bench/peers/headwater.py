"""Headwater itself: `headwater run` on a script, as anybody would start it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from bench.contender import Ground, Job, Program
from headwater import __version__
from headwater.services.postgres_files import PASSWORD, USER


@dataclass(frozen=True)
class Headwater:
    """Nothing is set: what is measured is what everybody gets."""

    name: str = "headwater"

    def settings(self) -> Mapping[str, str]:
        """No setting differs."""
        return {"version": __version__}

    def prepare(self, ground: Ground) -> None:
        """Nothing."""

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
    source = {
        "connector": "postgres-cdc", "hostname": "127.0.0.1", "port": str(server.port), "username": USER,
        "password": PASSWORD, "database-name": ground.source,
    }  # fmt: skip
    sink = {
        "connector": "jdbc", "url": f"jdbc:postgresql://127.0.0.1:{server.port}/{ground.target}",
        "table-name": job.target.name, "username": USER, "password": PASSWORD,
    }  # fmt: skip
    statements = [
        f"SET 'pipeline.name' = '{job.name}'",
        *(table.declared({**source, "table-name": table.name}) for table in job.tables),
        job.target.declared(sink),
        *job.statements(),
    ]
    return ";\n".join(statements) + ";\n"
