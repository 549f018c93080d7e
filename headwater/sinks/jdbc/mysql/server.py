"""A database of MySQL or MariaDB as the sink sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pymysql

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.jdbc_url import Address
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.mysql import batches
from headwater.sinks.jdbc.mysql.lookup import Name
from headwater.sinks.jdbc.mysql.session import Session, can_try_again, is_away, refused, unreachable
from headwater.sinks.jdbc.mysql.target import Target, is_missing, make, target_of
from headwater.sinks.jdbc.mysql.write import write_changes
from headwater.sinks.jdbc.server import BATCHES


class MysqlServer:
    """Keeps the contract of `jdbc.server.Server`."""

    failure: type[Exception] = pymysql.Error

    def __init__(self, address: Address, tables: Sequence[SinkTable]) -> None:
        self._session = Session(address, tables)
        self._database = address.database
        self._targets: dict[str, Target] = {}
        self._batches = Name(address.database, BATCHES)

    @property
    def shown(self) -> str:
        """The server for a message."""
        return self._session.shown

    def open(self, tables: Sequence[SinkTable]) -> None:
        """Check every table; what is missing is made when all others are right."""
        current = tables[0]
        try:
            with self._session.transaction() as cursor:
                absent = []
                for current in tables:
                    if is_missing(cursor, current, database=self._database):
                        absent.append(current)
                for current in absent:
                    make(cursor, current, database=self._database)
                for current in tables:
                    self._targets[current.name] = target_of(cursor, current, database=self._database)
                self._batches = batches.prepare(cursor, tables[0], database=self._database)
        except pymysql.Error as error:
            raise self.told(error, current) from None

    def last(self, pipeline: str) -> int | None:
        """The last batch of a pipeline that the database holds."""
        with self._session.transaction() as cursor:
            return batches.last(cursor, self._batches, pipeline=pipeline)

    def write(self, changes: Mapping[str, ChangeSet], *, pipeline: str, batch_id: int) -> None:
        """Write all tables and the batch id in one transaction."""
        with self._session.transaction() as cursor:
            if not batches.advance(cursor, self._batches, pipeline=pipeline, batch_id=batch_id):
                return
            # One order for everyone keeps two writers from waiting for each other.
            for name, change_set in sorted(changes.items()):
                target = self._targets[name]
                try:
                    write_changes(cursor, target, change_set, packet=self._session.packet)
                except pymysql.Error as error:
                    if self._session.is_lost or is_away(error) or can_try_again(error):
                        raise
                    raise refused(self._session, error, target.table) from None

    def is_away(self, error: Exception) -> bool:
        """True if waiting helps."""
        return is_away(error)

    def can_try_again(self, error: Exception) -> bool:
        """True after a deadlock."""
        return can_try_again(error)

    def said(self, error: Exception) -> str:
        """What a failure says, without any secret."""
        return self._session.said(error)

    def told(self, error: Exception, table: SinkTable) -> SinkError:
        """A failure in our words."""
        wrong = refused if self._session.is_connected else unreachable
        return wrong(self._session, error, table)

    def close(self) -> None:
        """Give the connection back."""
        self._session.close()
