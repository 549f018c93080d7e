"""Questions to a cluster that a running reader does not answer: where partitions begin and end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, TopicPartition

from headwater.sources.kafka.lane import Place, opened, removed

ASK_SECONDS = 10.0


@dataclass
class Asking:
    """A consumer for each way to reach a cluster; it only answers questions."""

    _clients: dict[frozenset[tuple[str, str]], Consumer] = field(default_factory=dict)

    def client(self, properties: Mapping[str, str]) -> Consumer:
        """The consumer for some properties."""
        known = frozenset(properties.items())
        if known not in self._clients:
            self._clients[known] = opened(properties)
        return self._clients[known]

    def ends(self, properties: Mapping[str, str], places: Iterable[Place]) -> dict[Place, int]:
        """The place after the last message of each partition."""
        return {place: high for place, (_, high) in marks(self.client(properties), places).items()}

    def begins(self, properties: Mapping[str, str], places: Iterable[Place]) -> dict[Place, int]:
        """The first message each partition still has."""
        return {place: low for place, (low, _) in marks(self.client(properties), places).items()}

    def check(self, properties: Mapping[str, str], places: Mapping[Place, int]) -> None:
        """See that reading can go on from some places: not removed, and not beyond the end."""
        for place, (low, high) in marks(self.client(properties), places).items():
            if not low <= places[place] <= high:
                raise removed(place, places[place])

    def close(self) -> None:
        """Leave the cluster."""
        for client in self._clients.values():
            client.close()
        self._clients = {}


def marks(client: Consumer, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
    """The first place of each partition and the one after its last."""
    return {
        (topic, number): client.get_watermark_offsets(TopicPartition(topic, number), timeout=ASK_SECONDS)
        for topic, number in places
    }
