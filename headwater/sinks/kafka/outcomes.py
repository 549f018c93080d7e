"""How a producer's calls can end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

FOR_GOOD = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)
"""What is refused again however often a message is sent."""


@dataclass(frozen=True)
class Refused:
    """A message that was refused for good."""

    error: KafkaError
    topic: str


T = TypeVar("T")


def called(call: Callable[..., T], *given: float) -> T:
    """The result of a client's call; a fatal error that arrives while another callback runs is told as it is."""
    try:
        return call(*given)
    except SystemError as problem:
        if isinstance(problem.__cause__, KafkaException):
            raise problem.__cause__ from None
        raise
