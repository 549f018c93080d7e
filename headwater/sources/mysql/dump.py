"""The connection on which the server sends its binary log, event by event.

The driver opens it and lets us in; from the request on the frames are taken from the socket as they come, so that
many small events cost one call, and it is known when there are no more at hand.
"""

from __future__ import annotations

import select
import ssl
import struct
import time
from typing import Any

import pymysql
from pymysql.constants import COMMAND

from headwater.errors import SourceError
from headwater.log.binlog import Header, header_of
from headwater.sources.base import Lost, Unreachable
from headwater.sources.mysql.connect import Address, connect, meaning
from headwater.sources.mysql.places import Gtids, Place

_LONGEST = 0xFFFFFF
"""A frame of this length goes on in the next one."""
_OK, _END, _ERROR = 0x00, 0xFE, 0xFF
_BINLOG_THROUGH_GTID = 0x04
_DUMP_GTID = 0x1E
_LARGEST_PLACE = 0xFFFFFFFF
FORMAT = 15
"""The kind of the event that says how those behind it are written."""
_NO_LOG, _SAME_ID = 1236, 4052
"""Codes of errors: there is no such log, or (MariaDB) another reader came with our number."""
_CHECKSUM = 4
_SILENT_HEARTBEATS = 3
"""So many heartbeats may be missed before the server counts as gone."""


class Dump:
    """Events as they come; close it to stop."""

    def __init__(self, address: Address, *, server_id: int, heartbeat: float, maria: bool) -> None:
        self._opened = connect(address)
        self._server_id, self._maria = server_id, maria
        self._patience = max(_SILENT_HEARTBEATS * heartbeat, 5.0)
        self._buffer = bytearray()
        self._begin = 0
        with self._opened.cursor() as cursor:
            cursor.execute("SELECT @@global.binlog_checksum")
            self._checksum = _CHECKSUM if cursor.fetchone()[0] != "NONE" else 0
            nanos = int(heartbeat * 1e9)
            cursor.execute(
                "SET @master_binlog_checksum = @@global.binlog_checksum,"
                " @source_binlog_checksum = @@global.binlog_checksum,"
                f" @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos},"
                " @mariadb_slave_capability = 4, @slave_uuid = UUID(), @replica_uuid = UUID()"
            )
        self._heard = time.monotonic()

    def from_place(self, place: Place) -> None:
        """Ask for everything from a place on."""
        if self._maria:
            self._set("@slave_connect_state = '', @slave_gtid_strict_mode = 0")
            self._unset_state()
        file = place.file.encode()
        if place.at <= _LARGEST_PLACE:
            self._ask(COMMAND.COM_BINLOG_DUMP, struct.pack("<IHI", place.at, 0, self._server_id) + file)
            return
        # Behind a huge transaction a file is longer than the first form of the request can say.
        self._ask(
            _DUMP_GTID,
            struct.pack("<HII", 0, self._server_id, len(file)) + file + struct.pack("<Q", place.at),
        )

    def from_gtids(self, seen: Gtids) -> None:
        """Ask for every transaction that was not seen."""
        if self._maria:
            self._set(f"@slave_connect_state = '{seen}', @slave_gtid_strict_mode = 0")
            self._ask(COMMAND.COM_BINLOG_DUMP, struct.pack("<IHI", 4, 0, self._server_id))
            return
        if tagged := [source for source in seen.ranges if ":" in source]:
            raise SourceError(
                "a server cannot be asked for what follows on transactions with a tag",
                detail=f"Those of '{tagged[0]}' were read or are given.",
                hint="Remove the state with 'headwater drop', and start anew: the tables are read again.",
            )
        data = struct.pack("<Q", len(seen.ranges))
        for source, ranges in seen.ranges.items():
            data += bytes.fromhex(source.replace("-", "")) + struct.pack("<Q", len(ranges))
            for first, last in ranges:
                data += struct.pack("<QQ", first, last + 1)
        flags = _BINLOG_THROUGH_GTID
        head = struct.pack("<HIIQI", flags, self._server_id, 0, 4, len(data))
        self._ask(_DUMP_GTID, head + data)

    def _set(self, what: str) -> None:
        with self._opened.cursor() as cursor:
            cursor.execute(f"SET {what}")

    def _unset_state(self) -> None:
        """A state that is set, even to nothing, makes MariaDB begin with the oldest file."""
        self._set("@slave_connect_state = NULL")

    def _ask(self, command: int, body: bytes) -> None:
        self._opened._execute_command(command, body)  # the driver has no word for it
        self._socket: Any = self._opened._sock
        self._socket.settimeout(self._patience)

    def next(self, wait: float) -> tuple[Header, bytes] | None:
        """The next event and its bytes without a checksum; None if there is none within so many seconds."""
        frame = self._frame(wait)
        if frame is None:
            return None
        if frame[0] != _OK:
            raise self._refused(frame)
        data = frame[1:]
        header = header_of(data)
        if header.kind == FORMAT:
            # The byte before the checksum says which one the events of this file have.
            self._checksum = _CHECKSUM if data[-_CHECKSUM - 1] == 1 else 0
            return header, data[:-_CHECKSUM]
        return header, data[: len(data) - self._checksum]

    def close(self) -> None:
        """Let the server go, which may be in the middle of an event."""
        self._opened._force_close()  # a polite end would wait for the server

    def _frame(self, wait: float) -> bytes | None:
        parts: list[bytes] = []
        while True:
            head = self._bytes(4, wait)
            if head is None:
                return None
            size = int.from_bytes(head[:3], "little")
            body = self._bytes(size, self._patience)
            if body is None:
                raise Unreachable("MySQL stopped in the middle of an event")
            if size < _LONGEST and not parts:
                return body
            parts.append(body)
            if size < _LONGEST:
                return b"".join(parts)
            wait = self._patience

    def _bytes(self, size: int, wait: float) -> bytes | None:
        buffer = self._buffer
        while len(buffer) - self._begin < size:
            if self._begin:
                del buffer[: self._begin]
                self._begin = 0
            if not self._more(wait):
                return None
        end = self._begin + size
        taken = bytes(buffer[self._begin : end])
        self._begin = end
        return taken

    def _more(self, wait: float) -> bool:
        pending = self._socket.pending() if isinstance(self._socket, ssl.SSLSocket) else 0
        if not pending and not select.select([self._socket], [], [], wait)[0]:
            if time.monotonic() - self._heard > self._patience:
                raise Unreachable(
                    "MySQL is silent",
                    detail=f"Nothing was heard of it for {self._patience:.0f} seconds, not even a heartbeat.",
                    hint="It is tried again until the server answers.",
                )
            return False
        try:
            data = self._socket.recv(262_144)
        except (OSError, TimeoutError) as error:
            raise meaning(error) from error
        if not data:
            raise Lost(
                "the connection to MySQL was lost",
                detail="The server closed it.",
                hint="It is tried again until the server answers.",
            )
        self._heard = time.monotonic()
        self._buffer += data
        return True

    def _refused(self, frame: bytes) -> SourceError:
        if frame[0] != _ERROR:
            return Unreachable("MySQL ended its log", hint="It is tried again until the server answers.")
        code = int.from_bytes(frame[1:3], "little")
        said = frame[9:].decode(errors="replace").rstrip(".")
        if code == _SAME_ID or (code == _NO_LOG and ("server_uuid" in said or "server_id" in said)):
            return SourceError(
                "another reader has the same server-id",
                detail=f"{said}.",
                hint="Give this pipeline a 'server-id' of its own.",
            )
        if code != _NO_LOG:
            return meaning(pymysql.err.OperationalError(code, said))
        return SourceError(
            "the server no longer has the part of its binary log that comes next",
            detail=f"{said}.",
            hint="Remove the state with 'headwater drop', and start anew: the tables are read again. Then let the"
            " server keep its log longer (binlog_expire_logs_seconds).",
        )
