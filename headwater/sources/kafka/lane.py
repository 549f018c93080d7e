"""One consumer over the partitions of some tables, and its messages as columns."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, TopicPartition

from headwater.errors import SourceError
from headwater.kafka.clients import Heard, consumer
from headwater.kafka.problems import is_away, problem_as, trouble
from headwater.log.events import Span, message_schema

Place = tuple[str, int]
"""A topic and the number of a partition."""

AT_ONCE = 5_000
"""So many messages are asked of the client at once."""


@dataclass
class Lane:
    """A consumer that is told where to read; it commits nothing by itself."""

    properties: Mapping[str, str]
    next: dict[Place, int] = field(default_factory=dict)
    """The place after what was read, for each partition."""
    _heard: Heard = field(default_factory=Heard)
    _consumer: Consumer | None = None

    def assign(self, places: Mapping[Place, int]) -> None:
        """Read from these places on; what was fetched before is forgotten."""
        self.next = dict(places)
        self.client.assign([TopicPartition(topic, number, at) for (topic, number), at in places.items()])

    @property
    def client(self) -> Consumer:
        """The consumer, made when it is first needed."""
        if self._consumer is None:
            self._consumer = opened(self.properties, error_cb=self._heard)
        return self._consumer

    def poll(self, count: int, wait: float) -> list[Any]:
        """Up to `count` messages, waiting at most `wait` seconds for the first."""
        messages = []
        for message in self._next(min(count, AT_ONCE), wait):
            place = (message.topic(), message.partition())
            problem = message.error()
            if problem is None:
                self.next[place] = message.offset() + 1
                messages.append(message)
            elif problem.code() == KafkaError._PARTITION_EOF:
                # The end may lie behind the last message: marks of transactions take places too.
                self.next[place] = max(self.next[place], message.offset())
            elif not is_away(problem):
                raise self.refusal(problem, place)
        return messages

    def _next(self, count: int, wait: float) -> list[Any]:
        # Asked for many at once, the client waits until it has as many: so ask for one, then for what is there.
        first = self.client.poll(wait) if wait else None
        rest = self.client.consume(num_messages=count, timeout=0)
        return rest if first is None else [first, *rest]

    def trouble(self) -> str | None:
        """Why nothing comes, if the broker was heard to be away just now."""
        heard, self._heard.errors = self._heard.errors, []
        return trouble(heard[-1], self.properties).message if heard else None

    def commit(self, places: Mapping[Place, int]) -> None:
        """Tell the consumer group how far it is, without waiting for the answer."""
        self.client.commit(
            offsets=[TopicPartition(topic, number, at) for (topic, number), at in places.items()],
            asynchronous=True,
        )

    def refusal(self, problem: KafkaError, place: Place) -> SourceError:
        """The error for a partition that cannot be read on."""
        if problem.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            return removed(place, self.next[place])
        found = problem_as(SourceError, problem, self.properties, subject=f"topic '{place[0]}'")
        assert isinstance(found, SourceError)
        return found

    def close(self) -> None:
        """Leave the cluster."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


def opened(properties: Mapping[str, str], **extra: Any) -> Consumer:
    """A consumer that reads where it is told and says when it is at an end."""
    asked = {"isolation_level": properties.get("isolation.level", "read_committed")}
    return consumer(
        {name: text for name, text in properties.items() if name not in _OURS},
        enable_auto_commit=False,
        enable_partition_eof=True,
        auto_offset_reset="error",
        **asked,
        **extra,
    )


_OURS = ("auto.offset.reset", "enable.auto.commit", "isolation.level")
"""Properties that say what we decide ourselves, or that mean something else to librdkafka."""


def removed(place: Place, wanted: int) -> SourceError:
    """The error for messages that the broker no longer has."""
    topic, number = place
    return SourceError(
        f"topic '{topic}' no longer has what was not read yet",
        detail=f"Partition {number} was read up to {wanted}; the broker has nothing from there on. "
        "Its retention removed it, or the topic was made anew.",
        hint="Remove the state with headwater drop and start again from what is there, and give the topic a longer "
        "retention.",
    )


def as_columns(messages: Sequence[Any]) -> pa.Table:
    """Messages as the columns of `message_schema`."""
    kinds, moments = (
        zip(*(message.timestamp() for message in messages), strict=True) if messages else ((), ())
    )
    columns = {
        "topic": [message.topic() for message in messages],
        "partition": [message.partition() for message in messages],
        "offset": [message.offset() for message in messages],
        # The client says 0 for no time at all; Spark counts from the producer's own time.
        "timestamp": [moment * 1000 if kind else None for kind, moment in zip(kinds, moments, strict=True)],
        "timestampType": [kind - 1 for kind in kinds],
        "key": [message.key() for message in messages],
        "value": [message.value() for message in messages],
        "headers": [_headers(message.headers()) for message in messages],
    }
    schema = message_schema()
    return pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def _headers(headers: list[tuple[str, bytes | None]] | None) -> list[dict[str, object]] | None:
    return [{"key": key, "value": value} for key, value in headers] if headers else None


def read_spans(properties: Mapping[str, str], spans: Iterable[Span], *, wait: float) -> pa.Table | None:
    """Every message of some spans, read anew; None if they did not all come within `wait` seconds."""
    left = {(span.topic, span.partition): span for span in spans if span.end > span.begin}
    lane = Lane(properties)
    pieces = [as_columns([])]
    until = time.monotonic() + wait
    try:
        lane.assign({place: span.begin for place, span in left.items()})
        while any(lane.next[place] < span.end for place, span in left.items()):
            if time.monotonic() > until:
                return None
            found = [m for m in lane.poll(AT_ONCE, 0.1) if m.offset() < left[m.topic(), m.partition()].end]
            pieces.append(as_columns(found))
    finally:
        lane.close()
    return pa.concat_tables(pieces).combine_chunks()
