"""What a broker or its client complains of, as message, detail and hint.

except KafkaException as problem:
    raise problem_as(SinkError, problem, properties, subject="topic 'orders'") from problem
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException

from headwater.errors import HeadwaterError, OptionError, Place
from headwater.kafka.names import KNOWN, RENAMED, is_secret
from headwater.kafka.properties import scrubbed, shown_servers
from headwater.nearest import nearest
from headwater.options import Secret


@dataclass(frozen=True)
class Trouble:
    """What went wrong, what was seen, what to do."""

    message: str
    detail: str
    hint: str


AWAY = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._WAIT_COORD,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.NOT_CONTROLLER,
        KafkaError.CONCURRENT_TRANSACTIONS,
    }
)
"""What passes when the broker comes back."""

_SINCE = re.compile(r" \(after \d+ms in state [^)]*\)")
"""What librdkafka adds to a failure and what differs from one time to the next."""

_NO_LOGIN = "not valid in current SASL state"
_NO_ANSWER = "Invalid response size"

_UNKNOWN_TOPIC = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}
)
_LOGIN_REFUSED = frozenset({KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED})
_MECHANISM = frozenset({KafkaError.UNSUPPORTED_SASL_MECHANISM, KafkaError.ILLEGAL_SASL_STATE})
_FENCED = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "the topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "the consumer group",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "the cluster",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the transactional id",
}


def error_of(problem: KafkaException | KafkaError) -> KafkaError:
    """The KafkaError within an exception."""
    if isinstance(problem, KafkaError):
        return problem
    inner = problem.args[0] if problem.args else None
    return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL, str(problem))


def is_away(problem: KafkaException | KafkaError) -> bool:
    """True if the broker is only away for now: who waits can go on."""
    error = error_of(problem)
    return error.code() in AWAY


def is_fenced(problem: KafkaException | KafkaError) -> bool:
    """True if another producer took over the transactional id."""
    return error_of(problem).code() in _FENCED


def is_unknown_topic(problem: KafkaException | KafkaError) -> bool:
    """True if the topic, or its partition, does not exist (yet)."""
    return error_of(problem).code() in _UNKNOWN_TOPIC


def trouble(
    problem: KafkaException | KafkaError, properties: Mapping[str, str], *, subject: str = ""
) -> Trouble:
    """A client's complaint in words; `subject` is what was being used, as `topic 'orders'`."""
    error = error_of(problem)
    said = _SINCE.sub("", scrubbed(error.str() or error.name(), properties)).strip().rstrip(".")
    where = shown_servers(properties)
    found = (
        _of_port(error.code(), said, where)
        or _of_access(error.code(), said, where)
        or _of_use(error.code(), said, subject or "what was asked for")
    )
    return found or Trouble(
        f"kafka at {where} refused {subject or 'a request'}",
        f"{said} ({error.name()}).",
        "See the broker's log for more.",
    )


def _of_port(code: int, said: str, where: str) -> Trouble | None:
    """Complaints of a port that is another one than was thought."""
    if code in _LOGIN_REFUSED and _NO_LOGIN in said:
        return Trouble(
            f"kafka at {where} takes no login on this port",
            f"{said}.",
            "Name the port that asks for a login, or leave the properties sasl.* out and set "
            "'properties.security.protocol' to PLAINTEXT or SSL.",
        )
    if code == KafkaError._BAD_MSG and _NO_ANSWER in said:
        return Trouble(
            f"what answers at {where} is not kafka",
            f"{said}.",
            "Check host and port in 'properties.bootstrap.servers': another kind of server listens there, or "
            "'properties.security.protocol' is not what this port speaks.",
        )
    return None


def _of_access(code: int, said: str, where: str) -> Trouble | None:
    """Complaints before anything is read or written."""
    if code in _LOGIN_REFUSED:
        return Trouble(
            f"kafka at {where} does not accept the login",
            f"{said}.",
            "Check 'properties.sasl.jaas.config' (or sasl.username and sasl.password) and "
            "'properties.sasl.mechanism'.",
        )
    if code in _MECHANISM:
        return Trouble(
            f"kafka at {where} does not offer this way to log in",
            f"{said}.",
            "Set 'properties.sasl.mechanism' to one the broker has, as SCRAM-SHA-512 or PLAIN.",
        )
    if code == KafkaError._SSL:
        return Trouble(
            f"the encrypted connection to kafka at {where} failed",
            f"{said}.",
            "Check the broker's authority ('properties.ssl.ca.location' or ssl.truststore.*), your own certificate "
            "and key, and that 'properties.security.protocol' is what this port speaks.",
        )
    if code in AWAY:
        return Trouble(
            f"kafka at {where} does not answer",
            f"{said}.",
            "Check that the broker runs, that 'properties.bootstrap.servers' names a port of Kafka's own and "
            "'properties.security.protocol' is what it speaks, and that the address the broker advertises can be "
            "reached from here.",
        )
    return None


def _of_use(code: int, said: str, subject: str) -> Trouble | None:
    """Complaints about what was asked for."""
    if code in _UNKNOWN_TOPIC:
        return Trouble(
            f"{subject} does not exist",
            f"{said}.",
            "Check the name with headwater topics, or create the topic.",
        )
    if code in _FORBIDDEN:
        return Trouble(
            f"this user may not use {_FORBIDDEN[code]}: {subject}",
            f"{said}.",
            "Let the broker's administrator grant it with kafka-acls, or log in as another user.",
        )
    if code in _FENCED:
        return Trouble(
            "another process writes for this pipeline",
            f"{said}. The broker lets one producer at a time use a transactional id, the latest.",
            "Stop the other process, or give this pipeline another name.",
        )
    if code in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE):
        return Trouble(
            f"a message for {subject} is too large",
            f"{said}.",
            "Raise 'properties.max.request.size' here and max.message.bytes of the topic.",
        )
    return None


def problem_as(
    family: type[HeadwaterError],
    problem: KafkaException | KafkaError,
    properties: Mapping[str, str],
    *,
    subject: str = "",
    place: Place | None = None,
) -> HeadwaterError:
    """The error of a family (SourceError, SinkError) for what a client complains of."""
    found = trouble(problem, properties, subject=subject)
    return family(found.message, detail=found.detail, hint=found.hint, place=place)


def _as_given(name: str, properties: Mapping[str, str]) -> str:
    """The name under which a property was written: complaints use librdkafka's first name for it."""
    if name in properties:
        return name
    others = (given for given in properties if name in (RENAMED.get(given), _FIRST_NAMES.get(given)))
    return next(others, name)


_FIRST_NAMES = {
    "bootstrap.servers": "metadata.broker.list",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "sasl.mechanism": "sasl.mechanisms",
    "acks": "request.required.acks",
    "compression.type": "compression.codec",
}


def _value(name: str, properties: Mapping[str, str]) -> str:
    value = properties.get(name, "")
    return "***" if is_secret(name) or isinstance(value, Secret) else value


def refused_property(problem: Exception, properties: Mapping[str, str]) -> OptionError:
    """The error of a client that could not be made: a name that nobody knows, or a value that does not fit."""
    said = scrubbed(
        str(error_of(problem).str() if isinstance(problem, KafkaException) else problem), properties
    )
    unknown = re.search(r'No such configuration property: "([^"]+)"', said)
    wrong = re.search(r'for configuration property "([^"]+)"|(ssl\.[a-z.]+) failed', said)
    if wrong is not None:
        name = _as_given(wrong[1] or wrong[2], properties)
        return OptionError(
            f"kafka's client does not accept 'properties.{name}' = '{_value(name, properties)}'",
            detail=said.rstrip(".") + ".",
            hint="Check that the file is there and is what the name says."
            if wrong[2]
            else "Give a value that the property takes.",
        )
    if unknown is None:
        return OptionError(
            "kafka's client does not accept the properties",
            detail=said.rstrip(".") + ".",
            hint="See the properties.* options of the table.",
        )
    near = nearest(unknown[1], sorted(KNOWN))
    return OptionError(
        f"kafka's clients have no property '{unknown[1]}'",
        detail=f"It was given as 'properties.{unknown[1]}'.",
        hint=f"Did you mean 'properties.{near}'?" if near else "Remove it, or check its spelling.",
    )
