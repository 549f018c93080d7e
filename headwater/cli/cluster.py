"""The cluster that `headwater topics` and `headwater tail` ask, and its complaints in words of the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import KafkaException

from headwater.cli.parser_kafka import BOOTSTRAP
from headwater.errors import HeadwaterError, SourceError, UsageError
from headwater.kafka.problems import problem_as
from headwater.nearest import nearest
from headwater.sql.interpolate import resolve

ANSWER_SECONDS = 5.0
"""So long a person waits for a broker's first answer."""

_SERVERS = ("bootstrap.servers", "metadata.broker.list")


def properties_of(given: argparse.Namespace) -> dict[str, str]:
    """The client's properties as they were typed; `${env:NAME}` and `${file:path}` stand for what they name."""
    found = resolve(dict(given.properties), None)
    named = [name for name in _SERVERS if name in found]
    if named and given.bootstrap:
        raise UsageError(f"--bootstrap and --property {named[0]} are the same", hint="Leave one of them out.")
    if not named:
        found["bootstrap.servers"] = given.bootstrap or BOOTSTRAP
    return found


@contextmanager
def complaining(properties: Mapping[str, str], subject: str = "") -> Iterator[None]:
    """Turn what a client complains of into errors that name flags and not options of a table."""
    try:
        try:
            yield
        except KafkaException as problem:
            raise problem_as(SourceError, problem, properties, subject=subject) from problem
    except HeadwaterError as error:
        error.message, error.detail, error.hint = map(_flags, (error.message, error.detail, error.hint))
        error.args = (error.message,)
        raise


def missing_topic(topic: str, known: Iterable[str]) -> SourceError:
    """Nobody has made this topic."""
    names = [name for name in sorted(known) if not name.startswith("__")]
    near = nearest(topic, names, cutoff=0.5)
    return SourceError(
        f"there is no topic '{topic}'",
        detail=f"The cluster has {len(names)} topics.",
        hint=f"Did you mean '{near}'?" if near else "headwater topics lists them.",
    )


def _flags(text: str) -> str:
    text = re.sub(r"'properties\.([^']+)' = '([^']+)' to the WITH clause", r"--property \1=\2", text)
    text = text.replace("'properties.bootstrap.servers'", "--bootstrap")
    return re.sub(r"'properties\.([^']+)'", r"'--property \1'", text)
