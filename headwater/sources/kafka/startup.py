"""Where a table's partitions are read from, and up to where, by its options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, TopicPartition

from headwater.errors import OptionError, SourceError
from headwater.sources.base import SourceTable
from headwater.sources.kafka.asking import ASK_SECONDS, marks
from headwater.sources.kafka.lane import Place
from headwater.sources.kafka.options import KafkaOptions

UNBOUNDED = "unbounded"


def check_modes(table: SourceTable) -> None:
    """See that the options of each mode are there and can be read."""
    options = table.options
    if not isinstance(options, KafkaOptions):
        return
    for mode, option, moment, places in (
        (options.startup_mode, "scan.startup", options.startup_timestamp, options.startup_offsets),
        (options.bounded_mode, "scan.bounded", options.bounded_timestamp, options.bounded_offsets),
    ):
        if mode == "timestamp":
            _moment(table, moment, option)
        elif mode == "specific-offsets":
            _specific(table, places, option)


def begins(client: Consumer, places: Iterable[Place], *, table: SourceTable) -> dict[Place, int]:
    """The first place to read in each partition, by `scan.startup.mode`."""
    options = table.options
    found = marks(client, places)
    match options.startup_mode:
        case "latest-offset":
            return {place: high for place, (_, high) in found.items()}
        case "group-offsets":
            return _of_group(client, found, options.properties)
        case "timestamp":
            return _at_time(client, found, _moment(table, options.startup_timestamp, "scan.startup"))
        case "specific-offsets":
            wanted = _specific(table, options.startup_offsets, "scan.startup")
            return {place: wanted.get(place[1], low) for place, (low, _) in found.items()}
        case _:
            return {place: low for place, (low, _) in found.items()}


def bounds(client: Consumer, places: Iterable[Place], *, table: SourceTable) -> dict[Place, int] | None:
    """The place after the last one to read in each partition, by `scan.bounded.mode`; None if there is no end."""
    options = table.options
    if options.bounded_mode == UNBOUNDED:
        return None
    found = marks(client, places)
    match options.bounded_mode:
        case "latest-offset":
            return {place: high for place, (_, high) in found.items()}
        case "group-offsets":
            return _of_group(client, found, options.properties)
        case "timestamp":
            return _at_time(client, found, _moment(table, options.bounded_timestamp, "scan.bounded"))
        case _:
            wanted = _specific(table, options.bounded_offsets, "scan.bounded")
            return {place: wanted.get(place[1], high) for place, (_, high) in found.items()}


def _of_group(
    client: Consumer, marks: Mapping[Place, tuple[int, int]], properties: Mapping[str, str]
) -> dict[Place, int]:
    """Where the consumer group stands; a partition it never read begins as `auto.offset.reset` says."""
    asked = [TopicPartition(topic, number) for topic, number in marks]
    known = {(p.topic, p.partition): p.offset for p in client.committed(asked, timeout=ASK_SECONDS)}
    reset = properties.get("auto.offset.reset", "earliest")
    found = {}
    for place, (low, high) in marks.items():
        if known.get(place, -1) >= 0:
            found[place] = known[place]
        elif reset == "none":
            raise SourceError(
                f"the consumer group has no place in topic '{place[0]}'",
                detail="Property auto.offset.reset is none.",
                hint="Set 'scan.startup.mode' = 'earliest-offset' to read what is there.",
            )
        else:
            found[place] = high if reset == "latest" else low
    return found


def _at_time(client: Consumer, marks: Mapping[Place, tuple[int, int]], moment: int) -> dict[Place, int]:
    asked = [TopicPartition(topic, number, moment) for topic, number in marks]
    found = {(p.topic, p.partition): p.offset for p in client.offsets_for_times(asked, timeout=ASK_SECONDS)}
    # Where nothing is that late the client says so by a negative number.
    return {place: found[place] if found[place] >= 0 else high for place, (_, high) in marks.items()}


def _moment(table: SourceTable, value: int | None, option: str) -> int:
    if value is None:
        raise OptionError(
            f"option '{option}.mode' = 'timestamp' needs option '{option}.timestamp-millis'",
            hint=f"Add '{option}.timestamp-millis' = '...', in milliseconds since 1970.",
            place=table.place,
        )
    return value


def _specific(table: SourceTable, text: str, option: str) -> dict[int, int]:
    """The places of `partition:0,offset:42;partition:1,offset:300`."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    found = [re.fullmatch(r"partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)", part) for part in parts]
    if not parts or not all(found):
        raise OptionError(
            f"option '{option}.specific-offsets' does not take the value '{text}'",
            detail="It takes a place for each partition.",
            hint=f"Write '{option}.specific-offsets' = 'partition:0,offset:42;partition:1,offset:300'.",
            place=table.place,
        )
    return {int(match[1]): int(match[2]) for match in found if match}
