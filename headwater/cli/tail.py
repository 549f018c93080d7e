"""`headwater tail TOPIC`: the messages of a topic as they come."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from rich.console import Console

from headwater.cli.cluster import ANSWER_SECONDS, complaining, missing_topic, properties_of
from headwater.cli.envelope import read_value
from headwater.cli.stop import Stop
from headwater.cli.tail_view import line_of
from headwater.kafka.clients import consumer, topics, watermarks
from headwater.kafka.problems import is_away

POLL_SECONDS = 0.2


def tail_command(given: argparse.Namespace) -> int:
    """Print messages until there were enough of them or someone stops us."""
    properties = properties_of(given)
    subject = f"topic '{given.topic}'"
    with Stop(), complaining(properties, subject):
        known = topics(properties, ANSWER_SECONDS)
        if given.topic not in known:
            raise missing_topic(given.topic, known)
        reader = consumer(properties, enable_auto_commit=False, auto_offset_reset="earliest")
        with closing(reader):
            begin(reader, given.topic, known[given.topic], at="first" if given.from_beginning else "end")
            _say_begun(given.topic, known[given.topic], everything=given.from_beginning)
            console = Console(file=sys.stdout, markup=False, highlight=False, soft_wrap=True)
            for message in messages(reader, given.max):
                show(message, console, keys=given.keys, raw=given.raw)
    return 0


def begin(reader: Consumer, topic: str, partitions: int, *, at: str) -> None:
    """Read all partitions from the first message, or from what comes after this moment."""
    ends = watermarks(reader, topic, partitions=range(partitions))
    # Asked now and not left to the first fetch, so that nothing that comes from now on is missed.
    places = {number: low if at == "first" else high for number, (low, high) in ends.items()}
    reader.assign([TopicPartition(topic, number, place) for number, place in places.items()])


def messages(reader: Consumer, most: int | None) -> Iterator[Message]:
    """Messages as they come, `most` of them; a broker that is away is waited for."""
    count = 0
    while most is None or count < most:
        message = reader.poll(POLL_SECONDS)
        if message is None:
            continue
        error = message.error()
        if error is None:
            count += 1
            yield message
        elif not is_away(error):
            raise KafkaException(error)


def show(message: Message, console: Console, *, keys: bool, raw: bool) -> None:
    """Print one message."""
    if raw:
        parts = [message.key(), message.value()] if keys else [message.value()]
        texts = ["null" if part is None else part.decode(errors="backslashreplace") for part in parts]
        print("\t".join(texts), flush=True)
        return
    key = read_value(message.key()) if keys else None
    console.print(line_of(read_value(message.value()), key))
    console.file.flush()


def _say_begun(topic: str, partitions: int, *, everything: bool) -> None:
    count = "1 partition" if partitions == 1 else f"{partitions} partitions"
    what = "all" if everything else "what comes from now on"
    print(f"reading {what} of topic '{topic}' ({count}); Ctrl-C stops", file=sys.stderr, flush=True)
