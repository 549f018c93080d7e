"""One transactional producer that outlives its brokers: a batch goes out whole, once, or not at all."""

from __future__ import annotations

import math
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from headwater.errors import AwayError, HeadwaterError, SinkError
from headwater.kafka.clients import LOGGER, Heard, producer
from headwater.kafka.problems import error_of, is_away, is_fenced, problem_as, trouble
from headwater.sinks.kafka import batches
from headwater.sinks.kafka.batches import Entry
from headwater.sinks.kafka.messages import Chunk
from headwater.sinks.kafka.outcomes import FOR_GOOD, Refused, called

STEP_SECONDS = 1.0
"""How long one call may take before the user hears that we wait."""

OPEN_SECONDS = 30.0
"""How long a broker may take to let us in at the start."""

TRANSACTION_MS = 900_000
"""How long a batch may take: the longest that brokers allow unless told otherwise."""

ABORT_SECONDS = 5.0
"""How long giving up a batch may hold up the error for which it is given up."""

MOST_FAILURES = 5
"""So many times in a row a batch may fail for reasons other than an absent broker."""

QUEUE_KBYTES = 128 * 1024
"""How much of a batch may wait to be sent."""

Batch = Callable[[], Iterator[Chunk]]


@dataclass(frozen=True)
class Identity:
    """Who writes: the owner of batch ids on this cluster, and the mark of this process."""

    owner: str
    transactional_id: str
    writer: str


def identity(pipeline: str, cluster: str, *, prefix: str) -> Identity:
    """The identity of a pipeline on a cluster: `claims kafka-localhost:9092`, `headwater-claims-1a2b3c4d`."""
    short = f"{zlib.crc32(cluster.encode()):08x}"
    return Identity(f"{pipeline} {cluster}", f"{prefix}-{pipeline}-{short}", uuid.uuid4().hex)


class Writer:
    """Writes batches in transactions; `last` is the batch that the cluster holds, also after any crash."""

    def __init__(
        self, properties: Mapping[str, str], who: Identity, *, waits: Callable[[str | None], None]
    ) -> None:
        self._properties, self._who, self._waits = properties, who, waits
        self._heard = Heard()
        self._refused: Refused | None = None
        self._said: str | None = None
        self._is_lost = False
        until = time.monotonic() + OPEN_SECONDS
        try:
            batches.prepare(properties)
            self._producer = self._new_producer()
            self._patiently(self._producer.init_transactions, until=until)
            entry = self._entry(until=until)
            self.last = entry.batch_id if entry is not None else None
            self._claim()
        except KafkaException as problem:
            reason = self._heard.reason(problem)
            kind = AwayError if is_away(reason) else SinkError
            raise problem_as(kind, reason, properties) from problem

    def write(self, batch_id: int, batch: Batch) -> None:
        """Write a batch and its id in one transaction; waits for as long as the brokers are away."""
        failures = 0
        while self.last is None or self.last < batch_id:
            self._heard.errors, self._refused = [], None
            try:
                self._attempt(batch_id, batch)
                self.last = batch_id
            except KafkaException as problem:
                LOGGER.info("batch %s is written again: %s", batch_id, error_of(problem).str())
                failures += not is_away(problem)
                if failures > MOST_FAILURES:
                    raise self._gave_up(problem) from problem
                self._recover(problem)
        self._tell(None)

    def close(self) -> None:
        """End what is open; nothing of a batch that was not committed stays."""
        self._producer.purge()
        if not self._is_lost:
            self._producer.close()

    def _attempt(self, batch_id: int, batch: Batch) -> None:
        self._producer.begin_transaction()
        try:
            for chunk in batch():
                self._send(chunk)
            while called(self._producer.flush, STEP_SECONDS) > 0:
                self._tell_heard()
            # Last and directly before the commit: until then others can read their entries past ours.
            self._send_entry(batch_id)
            self._patiently(self._producer.commit_transaction)
        except KafkaException as problem:
            if self._refused is None:
                raise
            self._give_up_transaction()
            refused = self._refused
            raise problem_as(
                SinkError, refused.error, self._properties, subject=f"topic '{refused.topic}'"
            ) from problem
        except Exception:
            self._give_up_transaction()
            raise

    def _send(self, chunk: Chunk) -> None:
        parts = (chunk.keys, chunk.values, chunk.partitions, chunk.timestamps, chunk.headers)
        for key, value, partition, timestamp, headers in zip(*parts, strict=True):
            while True:
                try:
                    self._producer.produce(
                        chunk.topic, value, key, partition, timestamp=timestamp, headers=headers
                    )
                    break
                except BufferError:
                    called(self._producer.poll, STEP_SECONDS)
                    self._tell_heard()
                except KafkaException as problem:
                    self._note(error_of(problem), chunk.topic)
                    raise
        called(self._producer.poll, 0)

    def _send_entry(self, batch_id: int | None) -> None:
        value = Entry(batch_id, self._who.writer).to_text()
        self._producer.produce(batches.TOPIC, value, self._who.owner, 0)

    def _claim(self) -> None:
        """Leave our mark, so that a process that wrote before us learns by whom it was fenced."""
        self._producer.begin_transaction()
        self._send_entry(self.last)
        self._patiently(self._producer.commit_transaction)
        self._tell(None)

    def _new_producer(self) -> Producer:
        defaults = {"transaction.timeout.ms": str(TRANSACTION_MS), "partitioner": "murmur2_random"}
        return producer(
            {**defaults, **self._properties},
            transactional_id=self._who.transactional_id,
            error_cb=self._heard,
            on_delivery=self._undelivered,
            delivery_report_only_error=True,
            queue_buffering_max_kbytes=QUEUE_KBYTES,
        )

    def _undelivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._note(error, message.topic() or "")

    def _note(self, error: KafkaError, topic: str) -> None:
        if self._refused is None and error.code() in FOR_GOOD:
            self._refused = Refused(error, topic)

    def _recover(self, problem: KafkaException) -> None:
        """Bring the producer into a state in which a batch can be written anew."""
        if not self._is_dead(problem):
            try:
                self._patiently(self._producer.abort_transaction)
                return
            except KafkaException as worse:
                LOGGER.info("a transaction cannot be aborted: %s", error_of(worse).str())
        self._renew()

    def _renew(self) -> None:
        """Take a new producer in place of one that is of no use any more, and learn what the old one had done.

        Our mark is looked for before the new producer fences anyone: if another process took over, it keeps on.
        """
        self._is_lost = True
        self._producer.purge()
        self._check_mark(self._entry())
        self._producer = self._new_producer()
        self._patiently(self._producer.init_transactions)
        self._is_lost = False
        entry = self._entry()
        self._check_mark(entry)
        self.last = entry.batch_id if entry is not None else None

    def _check_mark(self, entry: Entry | None) -> None:
        if entry is not None and entry.writer == self._who.writer:
            return
        raise SinkError(
            "another process writes for this pipeline",
            detail=f"It took over the transactional id {self._who.transactional_id}.",
            hint="Stop the other process, or give this pipeline another name.",
        )

    def _entry(self, *, until: float = math.inf) -> Entry | None:
        """Our entry in the topic of batches; waits while the brokers are away."""
        while True:
            try:
                return batches.read(self._properties, self._who.owner, waits=self._tell_blocked)
            except KafkaException as problem:
                if not is_away(problem) or time.monotonic() > until:
                    raise
                self._tell(problem)

    def _patiently(self, call: Callable[[float], None], *, until: float = math.inf) -> None:
        """Make a call until it is through; it may be made again and again while the brokers are away."""
        while True:
            try:
                called(call, STEP_SECONDS)
                return
            except KafkaException as problem:
                error = error_of(problem)
                may_again = error.retriable() or is_away(problem)
                if self._is_dead(problem) or error.txn_requires_abort() or not may_again:
                    raise
                called(self._producer.poll, 0.1)
                if time.monotonic() > until:
                    raise
                self._tell(self._heard.reason(problem))

    def _is_dead(self, problem: KafkaException) -> bool:
        return bool(error_of(problem).fatal()) or is_fenced(problem)

    def _give_up_transaction(self) -> None:
        try:
            self._patiently(self._producer.abort_transaction, until=time.monotonic() + ABORT_SECONDS)
        except KafkaException as problem:
            # The error for which the batch is given up matters more; the broker ends the transaction by itself.
            LOGGER.warning("a transaction is left to its timeout: %s", error_of(problem).str())

    def _gave_up(self, problem: KafkaException) -> HeadwaterError:
        if not is_fenced(problem):
            return problem_as(SinkError, problem, self._properties)
        return SinkError(
            "kafka ends the transaction of a batch before it is written",
            detail=f"{error_of(problem).str()}.",
            hint="Raise transaction.max.timeout.ms of the brokers and 'properties.transaction.timeout.ms'.",
        )

    def _tell_heard(self) -> None:
        if self._heard.errors:
            self._tell(self._heard.reason(KafkaException(self._heard.errors[-1])))

    def _tell_blocked(self) -> None:
        blocked = f"a transaction that a killed pipeline left open holds up topic {batches.TOPIC}"
        self._say(blocked, blocked)

    def _tell(self, problem: KafkaException | None) -> None:
        if problem is None:
            self._say(None, None)
            return
        said = trouble(problem, self._properties)
        self._say(said.message, f"{said.message}: {said.detail.rstrip('.')}")

    def _say(self, topic: str | None, text: str | None) -> None:
        """Say why we wait, once for each reason: details differ from one try to the next."""
        if topic != self._said:
            self._waits(text)
        self._said = topic
