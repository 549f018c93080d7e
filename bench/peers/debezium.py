"""Debezium's embedded engine: it hands every event to a function that counts it, and keeps no result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.contender import Changes, Ground, Job
from bench.postgres import DEBEZIUM, Debezium, debezium
from bench.relay import LARGE
from bench.results import Figure
from bench.ways import Way


@dataclass(frozen=True)
class Engine:
    """In a Python and a JVM of its own, with a heap of a gigabyte and large batches."""

    name: str = "debezium"

    def takes(self, job: Job, way: Way) -> bool:
        """It reads logs."""
        return way is Way.LOG

    def settings(self, way: Way) -> Mapping[str, str]:
        """What differs from how it comes."""
        return {
            "version": DEBEZIUM,
            **LARGE,
            "heap": "1 GB",
            "time": "from the start of the engine in a JVM that runs already",
        }

    def figures(self, job: Job, ground: Ground, changes: Changes) -> Iterator[Figure]:
        """First rows, then the changes, which are made while it is down."""
        tables = ",".join(f"public.{table.name}" for table in job.tables)
        engine = Debezium(debezium(), ground.server, ground.folder, ground.source, tables)
        yield Figure(changes.workload, "first load", self.name, engine.first(changes.rows), "s")
        if changes.count:
            changes.make()
            rate = changes.count / engine.changes(changes.count)
            yield Figure(changes.workload, "backlog", self.name, rate, "changes/s")
