"""Which topics and partitions the tables of a cluster have, and which servers tell their transactions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaException

from headwater.errors import OptionError, SourceError
from headwater.kafka import clients
from headwater.kafka.problems import problem_as
from headwater.nearest import did_you_mean
from headwater.sources.base import SourceTable
from headwater.sources.kafka.lane import Place

NAMED_TRANSACTIONS = ".transaction"
"""How a server calls the topic of its transactions, after its own name."""


@dataclass(frozen=True)
class Server:
    """A Debezium server that tells its transactions: in which topic, and of which topics of ours."""

    name: str
    ends: str
    properties: Mapping[str, str] = field(repr=False)
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The tables that read each topic of the server."""


def known_topics(table: SourceTable) -> dict[str, int]:
    """Every topic of a table's cluster and its number of partitions."""
    try:
        return clients.topics(table.options.properties)
    except KafkaException as problem:
        raise problem_as(SourceError, problem, table.options.properties, place=table.place) from None


def topics_of(table: SourceTable, known: Mapping[str, int], *, read: Collection[str] = ()) -> list[str]:
    """The topics a table reads, or an error that names the one that is missing; `read` were there before."""
    check_names(table)
    if table.options.pattern:
        pattern = re.compile(table.options.pattern)
        return sorted(name for name in known if pattern.fullmatch(name))
    wanted = [name.strip() for name in table.options.topic.split(";") if name.strip()]
    for name in wanted:
        if name not in known:
            raise deleted(name, table) if name in read else _missing(name, known, table)
    return wanted


def check_names(table: SourceTable) -> None:
    """See that the options name topics, in one way."""
    options = table.options
    if bool(options.topic) == bool(options.pattern):
        raise OptionError(
            "a table of topics needs option 'topic'"
            if not options.topic
            else "option 'topic' and option 'topic-pattern' exclude each other",
            hint="Give 'topic' = 'name', several as 'one;two', or 'topic-pattern' = 'a regular expression'.",
            place=table.place,
        )
    try:
        re.compile(options.pattern)
    except re.error as problem:
        raise OptionError(
            f"option 'topic-pattern' does not take the value '{options.pattern}'",
            detail=f"It is not a regular expression: {problem}.",
            hint="Write a regular expression, as 'shop[.].*'.",
            place=table.place,
        ) from None


def _missing(name: str, known: Mapping[str, int], table: SourceTable) -> SourceError:
    shown = sorted(topic for topic in known if not topic.startswith("__"))
    return SourceError(
        f"topic '{name}' does not exist",
        detail=f"The topics are {', '.join(shown[:20]) or 'none'}{', ...' if len(shown) > 20 else ''}.",
        hint=did_you_mean(
            name,
            known,
            otherwise="Create it, or start the connector that writes it (headwater connect status).",
        ),
        place=table.place,
    )


def deleted(name: str, table: SourceTable) -> SourceError:
    """The error for a topic that was read and is no longer there."""
    return SourceError(
        f"topic '{name}' was deleted",
        detail="It was read before, and the cluster does not have it any more.",
        hint="Make it again, or name another one; then remove the state with headwater drop and start again.",
        place=table.place,
    )


def places_of(topics: Sequence[str], known: Mapping[str, int]) -> list[Place]:
    """Every partition of some topics."""
    return [(topic, number) for topic in topics for number in range(known[topic])]


def is_debezium(table: SourceTable) -> bool:
    """True if a table's messages are events of Debezium."""
    return bool((table.options.format or table.options.value_format) == "debezium-json")


def servers_of(
    tables: Mapping[str, SourceTable], topics: Mapping[str, Sequence[str]], known: Mapping[str, int]
) -> list[Server]:
    """The servers among the tables' topics that tell their transactions."""
    found: dict[str, Server] = {}
    for name, table in tables.items():
        if not is_debezium(table):
            continue
        for topic in topics[name]:
            server = server_name(topic)
            ends = table.options.transactions or f"{server}{NAMED_TRANSACTIONS}"
            # Over several partitions the order of the ends would be lost.
            if server is None or known.get(ends) != 1:
                continue
            made = found.get(ends) or Server(server, ends, table.options.properties)
            readers = (*made.tables.get(topic, ()), name)
            found[ends] = Server(made.name, ends, made.properties, {**made.tables, topic: readers})
    return list(found.values())


def server_name(topic: str) -> str | None:
    """The server in a topic's name `server.schema.table`, None if it is not called so."""
    parts = topic.split(".")
    return ".".join(parts[:-2]) if len(parts) >= 3 else None


def missing_ends(table: SourceTable, topics: Sequence[str], known: Mapping[str, int]) -> str | None:
    """The topic of transactions a table of Debezium would need for consistent batches and does not have."""
    if not is_debezium(table):
        return None
    names = {table.options.transactions or f"{server_name(t)}{NAMED_TRANSACTIONS}" for t in topics}
    return next((name for name in sorted(names) if known.get(name) != 1), None)


def notes(
    servers: Sequence[Server],
    tables: Mapping[str, SourceTable],
    *,
    chosen: Mapping[str, Sequence[str]],
    known: Mapping[str, int],
) -> list[str]:
    """How far the tables agree with each other, for whoever starts the pipeline."""
    found = [f"batches of {s.name} end where its transactions do, as {s.ends} tells" for s in servers]
    for name, table in tables.items():
        missing = missing_ends(table, chosen[name], known)
        if missing is not None:
            found.append(f"{name} is right by itself; there is no topic {missing} to tell transactions")
    return found
