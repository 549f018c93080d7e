"""What the tests of transactions in progress share: a server that streams early, a capture that holds little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.sources.base import SourceTable
from headwater.sources.postgres.config import CaptureConfig, config_of
from headwater.sources.postgres.server import emit
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, wait_for

MUCH = "repeat(md5(random()::text), 40)"
"""More than a kilobyte that no two rows share: a hundred of them are more than the server keeps of a transaction."""

HELD = (7, 50_000)
"""How many messages a capture holds: few, so that all is written and read ahead, or all there are in a test."""


def stream_early(database: Database) -> None:
    """Let the server send transactions in progress as soon as they have 64 kilobytes."""
    database.run(f"ALTER DATABASE {database.name} SET logical_decoding_work_mem = '64kB'")


def was_streamed(database: Database) -> bool:
    """True if the server has sent a transaction that was in progress."""
    asked = (
        "SELECT coalesce(sum(stream_txns), 0) > 0 FROM pg_stat_replication_slots JOIN pg_replication_slots"
    )
    ((found,),) = database.run(f"{asked} USING (slot_name) WHERE database = current_database()")
    return bool(found)


def fill(cursor: Any, *, table: str = "t", first: int = 1, count: int = 100) -> None:
    """Insert so many rows into a table of a number and a text."""
    cursor.execute(
        f"INSERT INTO {table} SELECT i, {MUCH} FROM generate_series({first}, {first + count - 1}) i"
    )


@dataclass
class Capture:
    """A capture in this process, and what its log says."""

    config: CaptureConfig
    ended: list[BaseException]

    def read(self) -> list[Delivery]:
        """Everything committed by now, from the beginning."""
        end = Position(emit(self.config.address), "lsn")
        log, said = LogReader(self.config.folder), list[Delivery]()

        def reached() -> bool:
            assert not self.ended, vars(self.ended[0])
            after = said[-1].position if said else None
            while (delivery := log.read(after, 1_000_000)) is not None:
                said.append(delivery)
                after = delivery.position
            return after is not None and after > end

        wait_for(reached)
        log.close()
        return said


@contextmanager
def capturing(
    database: Database,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    *tables: SourceTable,
    held: int = 50_000,
) -> Iterator[Capture]:
    """A capture that streams early and holds so many messages."""
    stream_early(database)
    monkeypatch.setattr("headwater.sources.postgres.stream.MAX_ROWS", held)
    config = config_of(tables, world.context, after=None)
    slot = "FROM pg_replication_slots WHERE active AND slot_name = %s"
    started = Started()
    with captured(config, monkeypatch, started) as ended:
        wait_for(lambda: bool(ended or started))
        try:
            yield Capture(config, ended)
        finally:
            wait_for(lambda: bool(ended) or bool(_end(database, slot, config)))
            wait_for(lambda: bool(ended))


def _end(database: Database, slot: str, config: CaptureConfig) -> list[tuple[Any, ...]]:
    return database.run(f"SELECT pg_terminate_backend(active_pid) {slot}", config.slot)
