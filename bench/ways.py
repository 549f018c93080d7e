"""How changes of the source come to a contender: from the database itself, or over Kafka in topics of its own."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA = "public"
READ: Mapping[str, str] = {
    "connector": "kafka", "scan.startup.mode": "earliest-offset", "format": "debezium-json",
}  # fmt: skip
"""What a script says of every table that is read from a topic."""


class Way(enum.Enum):
    """The ways there are."""

    LOG = "the log of the database"
    TOPICS = "Debezium and Kafka"


@dataclass(frozen=True)
class Topics:
    """Where a source is told: a topic of a broker for each table, filled by a connector of one worker."""

    broker: str
    worker: str
    prefix: str

    def of(self, table: str) -> str:
        """The topic of a table.

        >>> Topics("127.0.0.1:9092", "http://127.0.0.1:8083", "source_a").of("claims")
        'source_a.public.claims'
        """
        return f"{self.prefix}.{SCHEMA}.{table}"

    def options(self, table: str) -> dict[str, str]:
        """How a script declares a table that is read from its topic, the same for everyone who speaks SQL."""
        return {**READ, "topic": self.of(table), "properties.bootstrap.servers": self.broker}
