"""Debezium's embedded engine: it hands every event to a function that counts it, and keeps no result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.contender import Changes, Ground, Job
from bench.postgres import DEBEZIUM, Debezium, debezium
from bench.results import Figure


@dataclass(frozen=True)
class Engine:
    """In a Python and a JVM of its own, with a heap of a gigabyte and large batches."""

    name: str = "debezium"

    def settings(self) -> Mapping[str, str]:
        """What differs from how it comes."""
        return {
            "version": DEBEZIUM,
            "max.batch.size": "8192",
            "max.queue.size": "65536",
            "poll.interval.ms": "10",
            "snapshot.fetch.size": "10000",
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
