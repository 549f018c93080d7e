"""What a stream makes of a server that wakes it, and of places in its log.

Oracle: what the server sends, by hand, after the protocol's description.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from headwater.log.store import LogWriter
from headwater.sources.postgres.config import config_of
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.restless import RESTLESS, Restless
from headwater.sources.postgres.stream import Stream
from tests.postgres.world import Database, World

BEGIN = 10
"""Where the log of a stream stands before the server says anything."""


def test_a_slow_server_that_wakes_us_for_nothing_is_asked() -> None:
    """Five round trips a second are all that a busy machine may manage."""
    watched = Restless()
    assert [watched.woke(number / 5) for number in range(RESTLESS)] == [False] * (RESTLESS - 1) + [True]


def test_a_quick_one_is_asked_at_most_once_a_second() -> None:
    watched = Restless()
    assert sum(watched.woke(number / 1000) for number in range(3000)) == 3


@dataclass(frozen=True)
class Sent:
    """A message as psycopg2 hands it over."""

    data_start: int
    payload: bytes


@dataclass
class Server:
    """What stands for the cursor of a connection: what it was told comes out of it."""

    sent: list[Sent] = field(default_factory=list)
    wal_end: int = 0
    connection: object = None

    def read_message(self) -> Sent | None:
        """The next message, if there is one."""
        return self.sent.pop(0) if self.sent else None


def said(place: int) -> Sent:
    """A message of an application, which is no part of a transaction."""
    return Sent(place, b"M" + struct.pack(">BQ", 0, place) + b"x\0" + struct.pack(">I", 1) + b"y")


def aborted(place: int) -> Sent:
    """The end of a transaction in progress; of one that a crash of the server ended it has no place."""
    return Sent(place, b"A" + struct.pack(">II", 7, 7))


@pytest.fixture
def log(world: World) -> Iterator[LogWriter]:
    """A log that has a beginning."""
    with closing(LogWriter(world.context.folder / "log", notation="lsn")) as made:
        made.append([], first=BEGIN, last=BEGIN, committed_at=None)
        yield made


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the server was told to be durable."""
    found: list[int] = []
    monkeypatch.setattr(
        "headwater.sources.postgres.stream.confirm", lambda _, place, **__: found.append(place)
    )
    return found


@pytest.fixture
def stream(database: Database, world: World, log: LogWriter) -> Stream:
    """A stream of no tables that nobody has connected yet."""
    config = config_of([database.table("t", "id int", "id")], world.context, after=None)
    layouts = Layouts(config.tables, {}, config.address)
    return Stream(config, log, layouts, appended=lambda position: None)


@pytest.mark.services
@pytest.mark.usefixtures("told")
def test_a_server_that_sends_data_is_never_asked(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("headwater.sources.postgres.stream.connect", lambda address: asked.append(address))
    monkeypatch.setattr("select.select", lambda ready, *_: (ready, [], []))
    server = Server()
    for place in range(100, 100 + 3 * RESTLESS):
        server.sent = [said(place)]
        stream._read_all(server)
        stream._rest(server)
    assert asked == []


@pytest.mark.services
def test_a_place_the_server_goes_on_to_is_durable_if_it_may_be_confirmed_by_itself(
    stream: Stream, log: LogWriter, told: list[int]
) -> None:
    """psycopg2 takes the place of a keepalive for durable if the last message had none, as in the beginning."""
    server = Server([said(100)])
    stream._read_all(server)
    server.wal_end = 500
    stream._read_all(server)
    assert log.last == told[-1] < 500, "from the first data on, what we tell counts"
    server.sent, server.wal_end = [said(600), aborted(0)], 0
    stream._read_all(server)
    assert log.last == told[-1] >= 600, "what is complete is durable first"
    server.wal_end = 900
    stream._read_all(server)
    assert log.last == 900
    server.sent, server.wal_end = [said(1000)], 2000
    stream._read_all(server)
    assert log.last == told[-1] < 2000
