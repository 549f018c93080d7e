"""What the catalog shows now, and whether the log between here and now says that it was otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.log import binlog
from headwater.sources.mysql.begin import Begun
from headwater.sources.mysql.births import other_id
from headwater.sources.mysql.catalog import ServerColumn, columns_of
from headwater.sources.mysql.config import CaptureConfig
from headwater.sources.mysql.connect import session
from headwater.sources.mysql.dump import Dump
from headwater.sources.mysql.places import Place, file_of
from headwater.sources.mysql.server import end_of_log, facts_of
from headwater.sources.mysql.statements import Altered, Name, Statement, Written, folded, statements_in

_QUERY, _ROTATE = 2, 4


@dataclass(frozen=True)
class Ahead:
    """Asks the server on connections of its own; `begun` has what is known of the beginning once there is one."""

    config: CaptureConfig
    begun: list[Begun]

    def look(self, name: Name) -> tuple[tuple[ServerColumn, ...], int]:
        """The columns of a table, and where the log stands when the catalog shows them."""
        with session(self.config.address) as cursor:
            columns = columns_of(cursor, *name)
            end, _ = end_of_log(cursor)
        return columns, end.value(self._shift)

    def is_changed(self, name: Name, first: int, last: int) -> bool:
        """True if a statement after the first place and up to the last changes a table."""
        with session(self.config.address) as cursor:
            maria, (end, _) = facts_of(cursor).is_maria, end_of_log(cursor)
        number = other_id(self.config.server_id)
        dump = Dump(self.config.address, server_id=number, heartbeat=self.config.heartbeat, maria=maria)
        try:
            place = file_of(first, self._shift, end.file)
            dump.from_place(place)
            return self._finds(dump, name, place, last)
        finally:
            dump.close()

    def _finds(self, dump: Dump, name: Name, place: Place, last: int) -> bool:
        while place.value(self._shift) < last:
            found = dump.next(1.0)
            if found is None:
                continue
            header, data = found
            if header.kind == _ROTATE:
                event = binlog.read_event(data, header)
                assert isinstance(event, binlog.Rotate)
                place = Place(event.file, event.position)
            elif header.end and not header.flags & binlog.ARTIFICIAL:
                # The place in a file is told without what is above 4 GB.
                at = (place.at & ~0xFFFFFFFF) + header.end
                place = Place(place.file, at if at >= place.at else at + (1 << 32))
            if header.kind == _QUERY and folded(Altered(name)) in _changed(data, header):
                return True
        return False

    @property
    def _shift(self) -> int:
        return self.begun[0].start.shift if self.begun else 0


def _changed(data: bytes, header: binlog.Header) -> list[Statement]:
    query = binlog.read_event(data, header)
    assert isinstance(query, binlog.Query)
    found = statements_in(query.schema, query.text)
    # Whether the server tells letters apart does not matter here: a doubt too many only asks for more.
    return [folded(Altered(statement.table)) for statement in found if not isinstance(statement, Written)]
