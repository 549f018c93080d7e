"""The messages of Postgres' protocol, version 3: how they are framed, read and made.

A message is one letter, a length of four bytes that counts itself, and a body. Only the first of a connection has no
letter.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

PROTOCOL = 196608
"""Version 3.0."""

CANCEL_CODE, SSL_CODE, GSS_CODE = 80877102, 80877103, 80877104

LARGEST_STARTUP = 10_000
LARGEST_MESSAGE = 16 << 20
"""Longer messages are refused: a query, with its parameters, is shorter."""

AUTHENTICATION_OK, SASL, SASL_CONTINUE, SASL_FINAL = 0, 10, 11, 12


class Broken(Exception):
    """What came is no message, or the other side is gone; nothing can be said after it."""


class Refusal(Exception):
    """What a client is told instead of an answer."""

    def __init__(
        self, code: str, message: str, *, detail: str = "", hint: str = "", severity: str = "ERROR"
    ) -> None:
        super().__init__(message)
        self.fields = {"S": severity, "V": severity, "C": code, "M": message}
        if detail:
            self.fields["D"] = detail
        if hint:
            self.fields["H"] = hint


@dataclass(frozen=True)
class Message:
    """One message: its letter and its body."""

    letter: bytes
    body: bytes = b""

    @property
    def packed(self) -> bytes:
        """As it goes over the wire."""
        return self.letter + struct.pack("!i", len(self.body) + 4) + self.body


class Wire:
    """A connection, read and written in whole messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._buffer = bytearray()

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        while len(self._buffer) < count:
            try:
                came = self.socket.recv(max(65_536, count - len(self._buffer)))
            except OSError as problem:
                raise Broken(str(problem)) from problem
            if not came:
                raise Broken("the other side hung up")
            self._buffer += came
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def startup(self) -> bytes:
        """The body of the first message, which has no letter."""
        (length,) = struct.unpack("!i", self.take(4))
        if not 8 <= length <= LARGEST_STARTUP:
            raise Broken("the first message has an impossible length")
        return self.take(length - 4)

    def message(self) -> Message:
        """The next message."""
        letter, length = struct.unpack("!ci", self.take(5))
        if not 4 <= length <= LARGEST_MESSAGE:
            raise Broken("a message has an impossible length")
        return Message(letter, self.take(length - 4))

    @property
    def is_early(self) -> bool:
        """True if bytes came that nobody has asked for yet."""
        return bool(self._buffer)

    def send(self, *messages: Message) -> None:
        """Send messages, in order."""
        self.send_bytes(b"".join(message.packed for message in messages))

    def send_bytes(self, said: bytes) -> None:
        """Send messages that are packed already."""
        try:
            self.socket.sendall(said)
        except OSError as problem:
            raise Broken(str(problem)) from problem

    def close(self) -> None:
        """Hang up; whoever waits for the other side in another thread is woken."""
        with suppress(OSError):  # It may be closed already.
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Body:
    """Reads the body of a message from left to right."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def text(self) -> str:
        """A text up to its zero byte."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Refusal("08P01", "a text in a message does not end")
        found, self._at = self._body[self._at : end], end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise Refusal("22021", 'invalid byte sequence for encoding "UTF8"') from None

    def number(self, form: str) -> int:
        """A number, in the letters of `struct`: `h`, `i` or `I`."""
        size = struct.calcsize(form)
        (found,) = struct.unpack("!" + form, self.take(size))
        return int(found)

    def numbers(self, form: str) -> tuple[int, ...]:
        """A count of two bytes, and so many numbers."""
        return tuple(self.number(form) for _ in range(self.number("h")))

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        if count < 0 or self._at + count > len(self._body):
            raise Refusal("08P01", "a message is shorter than it says")
        self._at += count
        return self._body[self._at - count : self._at]

    def value(self) -> bytes | None:
        """A value after its length; -1 is NULL."""
        length = self.number("i")
        return None if length == -1 else self.take(length)

    @property
    def is_at_end(self) -> bool:
        """True if nothing is left."""
        return self._at >= len(self._body)


@dataclass(frozen=True)
class Field:
    """A column of an answer, as a RowDescription names it."""

    name: str
    type: int
    format: int = 0


def fields_of(body: bytes) -> tuple[Field, ...]:
    """The columns that a RowDescription names."""
    read, found = Body(body), []
    for _ in range(read.number("h")):
        name = read.text()
        read.take(6)
        kind = read.number("I")
        read.take(6)
        found.append(Field(name, kind, read.number("h")))
    return tuple(found)


def error(fields: Mapping[str, str]) -> Message:
    """What went wrong, by the letters of its fields."""
    body = b"".join(
        letter.encode() + text.replace("\0", "").encode() + b"\0" for letter, text in fields.items()
    )
    return Message(b"E", body + b"\0")


def error_fields(body: bytes) -> dict[str, str]:
    """The fields of an error or a notice."""
    parts = body.split(b"\0")
    return {part[:1].decode(): part[1:].decode(errors="replace") for part in parts if part}


def authentication(kind: int, said: bytes = b"") -> Message:
    """How the client is to say who it is, or that this is done."""
    return Message(b"R", struct.pack("!i", kind) + said)


def parameter_status(name: str, value: str) -> Message:
    """A setting of the session, as it stands now."""
    return Message(b"S", texts(name, value))


def texts(*parts: str) -> bytes:
    """Texts, each with its zero byte."""
    return b"".join(part.encode() + b"\0" for part in parts)


def complete(tag: str) -> Message:
    """A statement is done."""
    return Message(b"C", texts(tag))


def data_rows(rows: Iterable[Sequence[bytes | None]]) -> bytes:
    """Rows as they go over the wire."""
    made = []
    for row in rows:
        body = b"".join(b"\xff\xff\xff\xff" if v is None else struct.pack("!i", len(v)) + v for v in row)
        made.append(struct.pack("!cih", b"D", len(body) + 6, len(row)) + body)
    return b"".join(made)


def startup_message(settings: Mapping[str, str]) -> bytes:
    """The first message of a client."""
    body = struct.pack("!i", PROTOCOL) + texts(*(part for pair in settings.items() for part in pair)) + b"\0"
    return struct.pack("!i", len(body) + 4) + body
