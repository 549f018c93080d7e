"""What the server is told of how far we are, and nothing else.

psycopg2 has a way to say it, and then also speaks by itself: once all it received was confirmed, it takes the position
of a keepalive for confirmed too. What it received last may be of a transaction in progress, whose places in the log lie
before what was confirmed long ago; then that position may be past transactions that are not durable yet. So psycopg2 is
told nothing, and the message is put on its connection by the library below it, as psycopg2 does. As long as the last
message had no place, as before the first one, it still takes a keepalive's position for confirmed: `stream` sees to it.
"""

from __future__ import annotations

import ctypes
import struct
import time
from typing import Any

import psycopg2

from headwater.log.pgoutput import EPOCH

_message = struct.Struct(">cQQQqB").pack

# Also finds what the library itself is linked with: the very one whose connections these are.
_library = ctypes.CDLL(psycopg2._psycopg.__file__)
_put, _flush = _library.PQputCopyData, _library.PQflush
_put.argtypes, _put.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int), ctypes.c_int
_flush.argtypes, _flush.restype = (ctypes.c_void_p,), ctypes.c_int


def confirm(connection: Any, position: int, *, reply: bool = False) -> None:
    """Tell the server that all before a position is durable; with `reply` it is asked where it stands itself."""
    moment = round((time.time() - EPOCH) * 1e6)
    said = _message(b"r", position, position, position, moment, reply)
    if (
        connection.closed
        or _put(connection.pgconn_ptr, said, len(said)) != 1
        or _flush(connection.pgconn_ptr) < 0
    ):
        raise psycopg2.OperationalError("the server cannot be told how far we are: the connection is broken")
