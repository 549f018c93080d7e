"""A connection to the Postgres behind a client, in whole messages."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping

from headwater.server.postgres.messages import (
    AUTHENTICATION_OK,
    CANCEL_CODE,
    SASL,
    SASL_CONTINUE,
    SASL_FINAL,
    Broken,
    Message,
    Refusal,
    Wire,
    error_fields,
    startup_message,
    texts,
)
from headwater.server.postgres.scram import MECHANISM, Client
from headwater.services.ports import HOST

CONNECT_SECONDS = 30.0

FLUSH, SYNC = Message(b"H"), Message(b"S")


class Backend:
    """One session of the Postgres behind."""

    def __init__(self, port: int, password: str, settings: Mapping[str, str]) -> None:
        self._port = port
        try:
            self._wire = Wire(socket.create_connection((HOST, port), CONNECT_SECONDS))
        except OSError as problem:
            raise Broken(f"the Postgres behind does not answer: {problem}") from problem
        self.settings: dict[str, str] = {}
        """What it reports of the session, as it stands now."""
        self._key = b""
        self._wire.send_bytes(startup_message(settings))
        self._prove(Client(password))
        self._wire.socket.settimeout(None)
        self._wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, *messages: Message) -> None:
        """Send messages, in order."""
        self._wire.send(*messages)

    def message(self) -> Message:
        """The next message of it; settings that change are noted."""
        came = self._wire.message()
        if came.letter == b"S":
            name, value = came.body.decode().split("\0")[:2]
            self.settings[name] = value
        return came

    def cancel(self) -> None:
        """Ask it to give up what it works on for this session."""
        with socket.create_connection((HOST, self._port), CONNECT_SECONDS) as asking:
            asking.sendall(struct.pack("!ii", 16, CANCEL_CODE) + self._key)

    def close(self) -> None:
        """Hang up."""
        self._wire.close()

    def _prove(self, client: Client) -> None:
        while (came := self.message()).letter != b"Z":
            if came.letter == b"E":
                fields = error_fields(came.body)
                raise Refusal(fields.get("C", "08006"), fields.get("M", ""), severity="FATAL")
            if came.letter == b"K":
                self._key = came.body
            if came.letter == b"R":
                self._answer(client, int.from_bytes(came.body[:4]), came.body[4:])

    def _answer(self, client: Client, kind: int, said: bytes) -> None:
        match kind:
            case _ if kind == SASL:
                first = client.first()
                self.send(Message(b"p", texts(MECHANISM) + struct.pack("!i", len(first)) + first))
            case _ if kind == SASL_CONTINUE:
                self.send(Message(b"p", client.proof(said)))
            case _ if kind == SASL_FINAL:
                client.check(said)
            case _ if kind != AUTHENTICATION_OK:
                raise Broken("the Postgres behind asks for a password in another way")
