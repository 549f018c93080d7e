"""A process that writes two batches and is killed in the second.

python -m tests.ends.kafka_child address topic pipeline point
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from headwater.sinks.kafka.writer import Writer
from tests.ends.kafka_world import ORDERS, opened, upsert_table
from tests.ends.postgres_world import changes

POINTS = ("sent", "entered", "committed")
"""Messages are with the broker; so is the batch id; the transaction is over and nobody knows it."""


def die(*_: Any) -> None:
    """End at once, as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(point: str, patient: Callable[..., None]) -> Callable[..., None]:
    """`Writer._patiently` that is killed around the commit."""

    def call(writer: Writer, what: Callable[[float], None], **given: float) -> None:
        if what.__name__ == "commit_transaction" and point == "entered":
            writer._producer.flush()
            die()
        patient(writer, what, **given)
        die()

    return call


def main(address: str, topic: str, pipeline: str, point: str) -> None:
    """Write batch 1, and batch 2 up to the point."""
    table = upsert_table({"bootstrap.servers": address}, ORDERS, {"topic": topic})
    with opened(table, pipeline=pipeline) as sink:
        sink.write([changes(table, (+1, 1, "a"), (+1, 2, "b"))], 1)
        if point == "sent":
            Writer._send_entry = die  # type: ignore[method-assign,assignment]  # this process is to be killed there
        else:
            Writer._patiently = die_at(point, Writer._patiently)  # type: ignore[method-assign]  # as above
        sink.write([changes(table, (-1, 1, "a"), (+1, 3, "c"))], 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
