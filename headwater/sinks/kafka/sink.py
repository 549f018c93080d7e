"""Connectors 'kafka' and 'upsert-kafka' as sinks: all topics of one cluster, one transaction for each batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from confluent_kafka import KafkaException

from headwater.changes.change_set import ChangeSet
from headwater.errors import AwayError, SinkError, placed
from headwater.kafka.clients import ensure_topic, producer
from headwater.kafka.names import CONSUMER_ONLY
from headwater.kafka.problems import is_away, problem_as
from headwater.kafka.properties import client_config, cluster_of
from headwater.options import revealed
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import by_table
from headwater.sinks.kafka.messages import Chunk, chunks
from headwater.sinks.kafka.options import KafkaSinkOptions, TopicOptions, UpsertKafkaOptions
from headwater.sinks.kafka.target import WRITABLE, Target, target_of
from headwater.sinks.kafka.writer import Writer, identity


class KafkaSink:
    """Writes each batch and its id in one transaction, so a batch that comes again changes nothing."""

    def __init__(self, targets: Sequence[Target], writer: Writer) -> None:
        self._targets = {target.table.name: target for target in targets}
        self._writer = writer

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; goes on by itself when brokers that were away come back."""
        whole = by_table(changes)
        self._writer.write(batch_id, lambda: self._chunks(whole, batch_id))

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that the cluster holds."""
        return self._writer.last

    def close(self) -> None:
        """Let the producer go."""
        self._writer.close()

    def _chunks(self, changes: Mapping[str, ChangeSet], batch_id: int) -> Iterator[Chunk]:
        for name, change_set in sorted(changes.items()):
            yield from chunks(self._targets[name], change_set, batch_id=batch_id)


def open_sink(tables: Sequence[SinkTable], context: SinkContext) -> KafkaSink:
    """Check every table, make topics that are missing, and take over the pipeline's transactions."""
    plain = [_plain(table) for table in tables]
    targets = [target_of(table) for table in plain]
    first = plain[0].options
    for table in plain[1:]:
        _check_same(plain[0], table)
    with placed(plain[0].place):
        made = [_with_topic(target) for target in targets]
        who = identity(context.pipeline, cluster_of(first.properties), prefix=first.id_prefix)
        return KafkaSink(made, Writer(first.properties, who, waits=context.waits))


def _check(table: SinkTable) -> None:
    """What the options say by themselves: formats, columns, and properties that a client takes."""
    target = target_of(_plain(table))
    producer(target.table.options.properties)


def _plain(table: SinkTable) -> SinkTable:
    """The table with the text of each reference; properties keep theirs, so that messages can leave them out."""
    options: TopicOptions = table.options
    return replace(table, options=replace(revealed(options), properties=options.properties))


def _with_topic(target: Target) -> Target:
    """The target with the number of its topic's partitions; a topic that is missing is made.

    A topic of upserts is made compacted: what counts there is the last message of each key.
    """
    properties = target.table.options.properties
    config = {"cleanup.policy": "compact"} if target.upserts else {}
    try:
        return replace(target, partitions=ensure_topic(properties, target.topic, config=config))
    except KafkaException as problem:
        kind = AwayError if is_away(problem) else SinkError
        raise problem_as(
            kind, problem, properties, subject=f"topic '{target.topic}'", place=target.table.place
        ) from problem


def _check_same(one: SinkTable, other: SinkTable) -> None:
    """Tables of one cluster are written by one producer, so what it is told must be the same."""
    here, there = (_producer_options(table.options) for table in (one, other))
    different = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if different:
        raise SinkError(
            f"sink tables '{one.name}' and '{other.name}' lie on one cluster and differ in '{different[0]}'",
            detail="All tables of a cluster are written in one transaction, by one producer.",
            hint="Give both the same value.",
            place=other.place,
        )


def _producer_options(options: TopicOptions) -> dict[str, str]:
    config = client_config(options.properties)
    own = {f"properties.{name}": str(value) for name, value in config.items() if name not in CONSUMER_ONLY}
    return own | {"sink.transactional-id-prefix": options.id_prefix}


def _group(options: TopicOptions) -> str:
    return cluster_of(options.properties)


EMPTY = (
    "delete its topics and, if no other pipeline writes to the cluster, the topic headwater_batches; else send that topic"
    " a message without a value under the key that begins with '{pipeline} '"
)
KAFKA = SinkType(
    options=KafkaSinkOptions,
    group=_group,
    open=open_sink,
    check=_check,
    metadata=WRITABLE,
    family="kafka",
    empty=EMPTY,
)
UPSERT_KAFKA = SinkType(
    options=UpsertKafkaOptions,
    group=_group,
    open=open_sink,
    check=_check,
    metadata=WRITABLE,
    family="kafka",
    empty=EMPTY,
)
