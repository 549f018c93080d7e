"""What others would see of a demo: the messages of its topics, the documents of its index, followed by threads.

    with Feed(follow_topics(broker, ["orders"], hear)), Feed(follow_index(url, "costs", hear)):
        ...

Nothing here reads the pipeline: what is shown is what any client of the broker or of the index is told.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import urllib3
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from urllib3.exceptions import HTTPError

from headwater.demo.background import Background
from headwater.errors import SourceError
from headwater.kafka.clients import consumer, topics, watermarks
from headwater.kafka.problems import is_away, problem_as

POLL_SECONDS = 0.2
ASK_SECONDS = 0.4
"""The index is asked so often."""

MOST_MESSAGES = 500
MOST_DOCUMENTS = 1000

Documents = Mapping[str, Mapping[str, Any]]
"""The documents of an index by their ids."""


@dataclass(frozen=True)
class Said:
    """One message of a topic."""

    topic: str
    key: bytes | None
    value: bytes | None


class Feed(Background):
    """A thread that pulls at an iterator until it is stopped; the iterator yields at least a few times a second."""

    def __init__(self, pulled: Iterator[None]) -> None:
        super().__init__("demo feed")
        self._pulled = pulled

    def work(self) -> None:
        """Pull until it is stopped."""
        for _ in self._pulled:
            if self._ended.is_set():
                return


def follow_topics(
    broker: str, names: Sequence[str], hear: Callable[[list[Said]], None], *, last: int | None = None
) -> Iterator[None]:
    """Hear every committed message of some topics, some at a time: the last few and what comes, or all of them."""
    properties = {"bootstrap.servers": broker}
    try:
        reader = consumer(properties, enable_auto_commit=False, isolation_level="read_committed")
        with closing(reader):
            reader.assign(_places(reader, names, topics(properties), last))
            while True:
                heard = list(_messages(reader.consume(MOST_MESSAGES, POLL_SECONDS)))
                if heard:
                    hear(heard)
                yield
    except KafkaException as problem:
        raise problem_as(SourceError, problem, properties, subject=f"topic '{names[0]}'") from problem


def _messages(found: Sequence[Message]) -> Iterator[Said]:
    for message in found:
        error = message.error()
        if error is None:
            yield Said(str(message.topic()), message.key(), message.value())
        elif not is_away(error):
            raise KafkaException(error)


def _places(
    reader: Consumer, names: Sequence[str], known: Mapping[str, int], last: int | None
) -> list[TopicPartition]:
    """Where to begin in each partition."""
    places = []
    for name in names:
        for number, (low, high) in watermarks(reader, name, partitions=range(known.get(name, 1))).items():
            places.append(TopicPartition(name, number, low if last is None else max(low, high - last)))
    return places


def follow_index(url: str, index: str, hear: Callable[[Documents], None]) -> Iterator[None]:
    """Hear all documents of an index whenever they are other ones than before; a server that is away is waited for."""
    pool, before = urllib3.PoolManager(timeout=5.0, retries=False), None
    waiting = threading.Event()
    while True:
        found = _documents(pool, f"{url}/{index}/_search?size={MOST_DOCUMENTS}")
        if found is not None and found != before:
            hear(found)
            before = found
        waiting.wait(ASK_SECONDS)
        yield


def _documents(pool: urllib3.PoolManager, url: str) -> Documents | None:
    """All documents now; None if there is no such index yet, or nobody answers."""
    try:
        answer = pool.request("GET", url)
    except HTTPError:
        return None
    if answer.status != 200:
        return None
    hits = json.loads(answer.data)["hits"]["hits"]
    return {str(hit["_id"]): hit["_source"] for hit in hits}
