"""When a file of the server's log was begun: what tells it from another of the same name after a reset."""

from __future__ import annotations

from headwater.log.binlog import Header
from headwater.sources.mysql.config import CaptureConfig
from headwater.sources.mysql.dump import FORMAT, Dump
from headwater.sources.mysql.places import FIRST, Place

_HEARTBEAT = 1.0
_LARGEST_ID = 2**32 - 1


def birth_of(header: Header) -> str:
    """When and by which server a file was begun, from the header of the event that says how it is written."""
    return f"{header.time}/{header.server_id}"


def birth_at(config: CaptureConfig, file: str, *, maria: bool) -> str:
    """The same, asked of the server."""
    number = other_id(config.server_id)
    # A server that has nothing to send notices by its heartbeat that we are gone, and keeps the file until then.
    dump = Dump(config.address, server_id=number, heartbeat=min(_HEARTBEAT, config.heartbeat), maria=maria)
    try:
        dump.from_place(Place(file, FIRST))
        while True:
            found = dump.next(1.0)
            if found is not None and found[0].kind == FORMAT:
                return birth_of(found[0])
    finally:
        dump.close()


def other_id(server_id: int) -> int:
    """A number for a reader beside the one that has this number: two of one number get in each other's way."""
    return _LARGEST_ID - server_id % 2**30
