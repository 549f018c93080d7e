"""What has to come before events of Debezium make sense together: the end of a snapshot, and who tells the ends of
transactions, which nobody does before the first one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Consumer, TopicPartition

from headwater.sources.base import Report, waits
from headwater.sources.kafka.asking import Asking, marks
from headwater.sources.kafka.lane import Place
from headwater.sources.kafka.ledger import Vector
from headwater.sources.kafka.reader import ends_of
from headwater.sources.kafka.settling import Found
from headwater.sources.kafka.told import IN_TRANSACTION, is_within_snapshot
from headwater.sources.kafka.topics import is_debezium

AGAIN_LATER_SECONDS = 1.0
"""How long until topics are looked for again where that did not work."""

ENDS_SECONDS = 2.0
"""How often a topic of transactions is looked for while there is none: it comes with the first one."""

PATIENCE_SECONDS = 5.0
"""So long events of transactions are held back; then the server is taken for one that tells no ends."""

PAUSE_SECONDS = 0.1

STALLED_SECONDS = 30.0
"""A snapshot that has not grown for so long is not waited for."""

MESSAGE_SECONDS = 2.0


class AwaitedEnds:
    """Decides whether events wait for a topic of ends."""

    def __init__(self) -> None:
        self._since: float | None = None
        self.has_held = False
        """True if events were held back, and none let through."""

    def hold(self, rows: Mapping[str, pa.Table]) -> bool:
        """True if some of these messages belong to transactions, and there was not yet time to find their ends."""
        if not any(_tells_transactions(table) for table in rows.values()):
            return False
        self._since = self._since or time.monotonic()
        self.has_held = time.monotonic() <= self._since + PATIENCE_SECONDS
        if not self.has_held:
            return False
        time.sleep(PAUSE_SECONDS)
        return True

    def none_is_old(self, found: Found, vector: Vector) -> Vector:
        """Where the ends of old transactions stop: nowhere if nothing of any transaction was delivered yet."""
        return {ends_of(s): vector[ends_of(s)] for s in found.servers} if self.has_held else {}


def _tells_transactions(messages: pa.Table) -> bool:
    return bool(pc.any(pc.match_substring_regex(messages.column("value"), IN_TRANSACTION)).as_py())


def wait_for_snapshots(found: Found, asking: Asking, report: Callable[[Report], None]) -> None:
    """Wait until no topic ends within a snapshot: what was read of one table would not fit what lacks of another."""
    seen: dict[Place, int] = {}
    moved = time.monotonic()
    while within := _within_snapshots(found, asking):
        if within != seen:
            if not seen:
                report(waits(f"the snapshot in topic '{next(iter(within))[0]}' has not come to its end"))
            seen, moved = within, time.monotonic()
        elif time.monotonic() > moved + STALLED_SECONDS:
            return
        time.sleep(PAUSE_SECONDS)


def _within_snapshots(found: Found, asking: Asking) -> dict[Place, int]:
    """The partitions whose last message is one of a snapshot that goes on, and where they end."""
    within: dict[Place, int] = {}
    for name, table in found.tables.items():
        if is_debezium(table):
            client = asking.client(table.options.properties)
            ends = {p: high for p, (low, high) in marks(client, found.places(name)).items() if high > low}
            within |= {p: ends[p] for p in _last_in_snapshot(client, ends)}
    return within


def _last_in_snapshot(client: Consumer, ends: Mapping[Place, int]) -> list[Place]:
    client.assign([TopicPartition(topic, number, at - 1) for (topic, number), at in ends.items()])
    found: dict[Place, bool] = {}
    deadline = time.monotonic() + MESSAGE_SECONDS
    try:
        # A mark of a producer's transaction is no message: then nothing comes, and no snapshot goes on.
        while len(found) < len(ends) and time.monotonic() < deadline:
            message = client.poll(PAUSE_SECONDS)
            if message is not None and message.error() is None:
                place = (str(message.topic()), int(message.partition() or 0))
                found[place] = is_within_snapshot(message.value())
    finally:
        client.unassign()
    return [place for place, is_within in found.items() if is_within]
