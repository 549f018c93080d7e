"""Listens for clients of Postgres' protocol, asks who they are, and lets each talk in a thread of its own."""

from __future__ import annotations

import logging
import secrets
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.server.answering import address_of, bound
from headwater.server.postgres.messages import (
    AUTHENTICATION_OK,
    CANCEL_CODE,
    GSS_CODE,
    PROTOCOL,
    SASL,
    SASL_CONTINUE,
    SASL_FINAL,
    SSL_CODE,
    Body,
    Broken,
    Message,
    Refusal,
    Wire,
    authentication,
    error,
    parameter_status,
    texts,
)
from headwater.server.postgres.paths import path_text, schemas
from headwater.server.postgres.problems import as_refusal
from headwater.server.postgres.reading import Reading
from headwater.server.postgres.scram import MECHANISM, Prover, Unproved
from headwater.server.postgres.session import Session
from headwater.server.postgres.shapes import CONNECTIONS, DATABASE, USER, Shapes

GREETING_SECONDS = 30.0
"""So long somebody may take to say who he is."""

MOST_WIRES = 2 * CONNECTIONS
"""So many connections at the same time, also of those who have not said who they are."""

NO_ROOM_SECONDS = 0.1
"""So long it is waited after a client could not be let in: the process may have too many files open."""

_OURS = frozenset(["user", "database", "replication", "client_encoding", "timezone"])
"""What a client may not choose for the session behind it: rows are in UTF-8, and moments in UTC."""

_LOG = logging.getLogger("headwater.server")


@dataclass(frozen=True)
class Door:
    """Where clients come in, and what they must show."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: any that is free."""
    passwords: Sequence[str] = ()
    """Each is right for the user `headwater`; without any, everyone who gets here may read."""
    tls: ssl.SSLContext | None = None


class Endpoint:
    """All clients of Postgres' protocol.

    >>> endpoint = Endpoint(reader, Door(port=5433), note=folder / "postgres")
    """

    def __init__(self, reading: Reading, door: Door, *, note: Path) -> None:
        self._reading, self._door = reading, door
        self.shapes = Shapes(note)
        self._lock = threading.Lock()
        self._is_closed = False
        self._wires: set[Wire] = set()
        self._sessions: dict[bytes, Session] = {}
        self._listening = bound(door.host, door.port, flag="--pg-port", backlog=CONNECTIONS)
        self.address = address_of(self._listening)
        self.port: int = self._listening.getsockname()[1]
        self._begin(self._accept, "headwater postgres")

    def close(self) -> None:
        """Hang up on everyone."""
        self._is_closed = True
        with suppress(OSError):  # It may not be listening any more.
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            wires = list(self._wires)
        for wire in wires:
            wire.close()
        self.shapes.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                # It is closed; or this client hung up, or there is no room for one more, and the next may come.
                time.sleep(NO_ROOM_SECONDS)
                continue
            wire = Wire(connection)
            with self._lock:
                has_room = len(self._wires) < MOST_WIRES
                self._wires.update({wire} if has_room else ())
            if has_room:
                self._begin(partial(self._serve, wire), "headwater postgres client")
            else:
                wire.close()

    def _serve(self, wire: Wire) -> None:
        try:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._converse(wire)
        except Refusal as refusal:
            _tell(wire, refusal)
        except HeadwaterError as problem:
            _tell(wire, as_refusal(problem))
        except (Broken, OSError):
            pass  # Whoever it was is gone.
        except Exception:  # noqa: BLE001  # it ends this conversation and no other
            _LOG.exception("a conversation in Postgres' protocol ended by a mistake of ours")
            _tell(wire, Refusal("XX000", "the server made a mistake", hint="Please report it."))
        finally:
            with self._lock:
                self._wires.discard(wire)
            wire.close()

    def _converse(self, wire: Wire) -> None:
        with _hung_up_in(GREETING_SECONDS, wire):
            settings = self._greeted(wire)
            if settings is None:
                return
            self._authenticate(wire, settings.get("user", ""))
        with self._lock:
            if len(self._sessions) >= CONNECTIONS:
                raise Refusal("53300", "sorry, too many clients already", severity="FATAL")
        relations = self._reading.relations()
        chosen = {name: value for name, value in settings.items() if name.lower() not in _OURS}
        first = settings.get("database", DATABASE)
        given = {"client_encoding": "UTF8", "search_path": path_text(schemas(relations, first))} | chosen
        backend = self.shapes.connect(relations, given)
        session = Session(wire, backend, reading=self._reading, shapes=self.shapes, first=first)
        key = secrets.token_bytes(8)
        with self._lock:
            self._sessions[key] = session
        try:
            statuses = [parameter_status(*one) for one in backend.settings.items()]
            wire.send(authentication(AUTHENTICATION_OK), *statuses, Message(b"K", key), Message(b"Z", b"I"))
            session.run()
        finally:
            with self._lock:
                del self._sessions[key]
            backend.close()

    def _greeted(self, wire: Wire) -> dict[str, str] | None:
        """What a client says first; None if all it wants is that another one gives up."""
        while True:
            said = wire.startup()
            (code,) = struct.unpack("!i", said[:4])
            if code == SSL_CODE and self._door.tls is not None and not isinstance(wire.socket, ssl.SSLSocket):
                _encrypt(wire, self._door.tls)
            elif code in (SSL_CODE, GSS_CODE):
                wire.send_bytes(b"N")
            elif code == CANCEL_CODE:
                self._cancel(said[4:])
                return None
            elif code >> 16 == PROTOCOL >> 16:
                return _settings(wire, code, Body(said[4:]))
            else:
                raise Refusal(
                    "0A000", f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}", severity="FATAL"
                )

    def _cancel(self, key: bytes) -> None:
        with self._lock:
            session = self._sessions.get(key)
        if session is not None:
            session.cancel()

    def _authenticate(self, wire: Wire, user: str) -> None:
        if not self._door.passwords:
            return
        wire.send(authentication(SASL, texts(MECHANISM) + b"\0"))
        prover = Prover(self._door.passwords if user == USER else ())
        try:
            body = Body(_password(wire))
            if body.text() != MECHANISM:
                raise Unproved("another mechanism was chosen")
            wire.send(authentication(SASL_CONTINUE, prover.challenge(body.value() or b"")))
            wire.send(authentication(SASL_FINAL, prover.confirm(_password(wire))))
        except Unproved:
            raise Refusal(
                "28P01",
                f'password authentication failed for user "{user}"',
                hint=f"The user is {USER}, the password is a token of the server.",
                severity="FATAL",
            ) from None

    def _begin(self, work: Callable[[], None], name: str) -> None:
        threading.Thread(target=work, name=name, daemon=True).start()


@contextmanager
def _hung_up_in(seconds: float, wire: Wire) -> Iterator[None]:
    """Whoever has not come to the end of the block by then is hung up on, however often he says something."""
    late = threading.Timer(seconds, wire.close)
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _password(wire: Wire) -> bytes:
    came = wire.message()
    if came.letter != b"p":
        raise Refusal("08P01", "a password was expected", severity="FATAL")
    return came.body


def _encrypt(wire: Wire, tls: ssl.SSLContext) -> None:
    if wire.is_early:
        # What came before the handshake was not said by whom the handshake is with.
        raise Broken("bytes came before TLS began")
    wire.send_bytes(b"S")
    wire.socket = tls.wrap_socket(wire.socket, server_side=True)


def _settings(wire: Wire, code: int, body: Body) -> dict[str, str]:
    """What a client wants of its session; of a newer protocol it is told what is spoken here."""
    found: dict[str, str] = {}
    while name := body.text():
        found[name] = body.text()
    extras = [name for name in found if name.startswith("_pq_.")]
    if code != PROTOCOL or extras:
        wire.send(Message(b"v", struct.pack("!ii", PROTOCOL & 0xFFFF, len(extras)) + texts(*extras)))
    return {name: value for name, value in found.items() if name not in extras}


def _tell(wire: Wire, refusal: Refusal) -> None:
    with suppress(Broken, OSError):  # Whoever it was may be gone.
        wire.send(error(refusal.fields))
