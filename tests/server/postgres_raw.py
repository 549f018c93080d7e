"""A client of the Postgres endpoint that says whatever it wants, message by message."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from headwater.server.postgres.messages import PROTOCOL, Body, Message, Wire, startup_message, texts
from tests.server.postgres_world import World


class Raw:
    """A client that says whatever it wants."""

    def __init__(self, world: World, version: int = PROTOCOL) -> None:
        self.wire = Wire(socket.create_connection(("127.0.0.1", world.endpoint.port), 60))
        first = startup_message({"user": "anyone", "database": "headwater"})
        self.wire.send_bytes(first[:4] + struct.pack("!i", version) + first[8:])
        self.greeting = self.until(b"Z")

    def until(self, letter: bytes) -> list[Message]:
        """All messages up to one of this kind."""
        found = [self.wire.message()]
        while found[-1].letter != letter:
            found.append(self.wire.message())
        return found

    def ask(self, *messages: Message) -> list[Message]:
        """What is answered to a series."""
        self.wire.send(*messages, Message(b"S"))
        return self.until(b"Z")

    def rows(self, query: str, form: int) -> list[list[bytes | None]]:
        """The values of a query without parameters, in one form."""
        bind = texts("", "") + struct.pack("!hhhh", 0, 0, 1, form)
        parts = [
            Message(b"P", texts("", query) + b"\0\0"),
            Message(b"B", bind),
            Message(b"E", b"\0" + bytes(4)),
        ]
        return [values(message) for message in self.ask(*parts) if message.letter == b"D"]

    def close(self) -> None:
        """Hang up."""
        self.wire.close()


def values(row: Message) -> list[bytes | None]:
    """The values of a row."""
    body = Body(row.body)
    return [body.value() for _ in range(body.number("h"))]


def letters(messages: Sequence[Message]) -> str:
    """The kinds of messages, without settings that change."""
    return b"".join(message.letter for message in messages if message.letter != b"S").decode()
