"""Questions to a cluster that a running reader does not answer: where partitions begin and end, which topics they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from headwater.kafka.clients import admin
from headwater.sources.kafka.lane import Place, opened, removed

ASK_SECONDS = 10.0

ID_SECONDS = 5.0
"""How long a running reader is held up by the question which topics it reads."""

PROBE_SECONDS = 0.5
"""How long a broker that was away may take to show that it is back."""

NO_ID = "A"
"""What the id of a topic consists of that has none: zeros, as base64."""


@dataclass
class Asking:
    """A consumer for each way to reach a cluster; it only answers questions."""

    _clients: dict[frozenset[tuple[str, str]], Consumer] = field(default_factory=dict)
    _admins: dict[frozenset[tuple[str, str]], AdminClient] = field(default_factory=dict)

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

    def ids(self, properties: Mapping[str, str], topics: Iterable[str]) -> dict[str, str]:
        """The id of each topic; brokers that are too old to give any give none."""
        known = frozenset(properties.items())
        if known not in self._admins:
            self._admins[known] = admin(properties)
        asked = self._admins[known].describe_topics(TopicCollection(list(topics)), request_timeout=ID_SECONDS)
        found = {name: str(answer.result().topic_id or "") for name, answer in asked.items()}
        return {name: text for name, text in found.items() if text.strip(NO_ID)}

    def is_answered(self, properties: Mapping[str, str]) -> bool:
        """True if a broker answers at this moment."""
        try:
            self.client(properties).list_topics(timeout=PROBE_SECONDS)
        except KafkaException:
            return False
        return True

    def close(self) -> None:
        """Leave the cluster."""
        for client in self._clients.values():
            client.close()
        self._clients, self._admins = {}, {}


def marks(client: Consumer, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
    """The first place of each partition and the one after its last."""
    return {
        (topic, number): client.get_watermark_offsets(TopicPartition(topic, number), timeout=ASK_SECONDS)
        for topic, number in places
    }
