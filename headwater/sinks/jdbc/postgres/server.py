"""A Postgres database as the sink sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import psycopg2
from psycopg2 import sql

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.jdbc_url import Address
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.postgres import batches
from headwater.sinks.jdbc.postgres.session import Session, can_try_again, is_away, refused, unreachable
from headwater.sinks.jdbc.postgres.target import Target, target_of
from headwater.sinks.jdbc.postgres.write import write_changes


class PostgresServer:
    """Keeps the contract of `jdbc.server.Server`."""

    failure: type[Exception] = psycopg2.Error

    def __init__(self, address: Address, tables: Sequence[SinkTable]) -> None:
        self._session = Session(address, tables)
        self._targets: dict[str, Target] = {}
        self._batches = sql.Identifier(batches.NAME)

    @property
    def shown(self) -> str:
        """The server for a message."""
        return self._session.shown

    def open(self, tables: Sequence[SinkTable]) -> None:
        """Check every table in one transaction: if anything is wrong, nothing is left behind."""
        current = tables[0]
        try:
            with self._session.transaction() as cursor:
                batches.check_database(cursor, current)
                for current in tables:
                    self._targets[current.name] = target_of(cursor, current)
                self._batches = batches.prepare(cursor, tables[0])
        except psycopg2.Error as error:
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
                    write_changes(cursor, target, change_set)
                except psycopg2.Error as error:
                    if self._session.is_lost or is_away(error) or can_try_again(error):
                        raise
                    raise refused(self._session, error, target.table) from None
                except ValueError as error:
                    # The driver itself refuses the character 0 in a text.
                    raise SinkError(
                        f"a value of sink table '{target.table.name}' cannot be sent to Postgres",
                        detail=f"{error}",
                        hint="Remove the character 0 in the query: Postgres text cannot hold it.",
                        place=target.table.place,
                    ) from None

    def is_away(self, error: Exception) -> bool:
        """True if waiting helps."""
        return isinstance(error, psycopg2.Error) and is_away(error)

    def can_try_again(self, error: Exception) -> bool:
        """True after a deadlock."""
        return isinstance(error, psycopg2.Error) and can_try_again(error)

    def said(self, error: Exception) -> str:
        """What a failure says, without any secret."""
        return self._session.hide(str(error)).partition(" Is the server running")[0].rstrip(".")

    def told(self, error: Exception, table: SinkTable) -> SinkError:
        """A failure in our words."""
        assert isinstance(error, psycopg2.Error)
        wrong = refused if self._session.is_connected else unreachable
        return wrong(self._session, error, table)

    def close(self) -> None:
        """Give the connection back."""
        self._session.close()
