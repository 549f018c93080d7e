"""Connector 'jdbc' as a sink: all tables of one database, one transaction for each batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from headwater.changes.change_set import ChangeSet
from headwater.errors import OptionError, SinkError
from headwater.jdbc_url import MYSQL, POSTGRES, Address
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import by_table
from headwater.sinks.jdbc.mysql.server import MysqlServer
from headwater.sinks.jdbc.options import JdbcOptions, address_of, group_of
from headwater.sinks.jdbc.postgres.server import PostgresServer
from headwater.sinks.jdbc.server import Server

SERVERS: Mapping[str, Callable[[Address, Sequence[SinkTable]], Server]] = {
    POSTGRES: PostgresServer,
    MYSQL: MysqlServer,
}

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds before a batch is tried again; each further pause is four times as long."""

TOLD_LOSSES = 2
"""So many lost or refused connections in a row mean that the server is away."""


class JdbcSink:
    """Writes each batch and its id in one transaction, so a batch that comes again changes nothing."""

    def __init__(self, server: Server, tables: Sequence[SinkTable], *, context: SinkContext) -> None:
        self._server = server
        self._tables = {table.name: table for table in tables}
        self._pipeline, self._waits = context.pipeline, context.waits
        self._retries = max(table.options.max_retries for table in tables)

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; waits for as long as the server is away, and tries again after a deadlock.

        Trying again is safe even if the connection was lost in the commit: the batch id tells whether it was.
        """
        losses = failures = 0
        while True:
            try:
                self._server.write(by_table(changes), pipeline=self._pipeline, batch_id=batch_id)
                break
            except self._server.failure as error:
                if self._server.is_away(error):
                    losses += 1
                    self._tell(losses, error)
                elif not self._server.can_try_again(error):
                    raise self._server.told(error, self._any_table(changes)) from None
                elif failures == self._retries:
                    raise self._gave_up(error, self._any_table(changes)) from None
                else:
                    failures += 1
                time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 4 ** min(losses + failures - 1, 8)))
        if losses >= TOLD_LOSSES:
            self._waits(None)

    def _tell(self, losses: int, error: Exception) -> None:
        """Say once that we wait; a connection that only has to be made again is no news."""
        if losses == TOLD_LOSSES:
            self._waits(f"{self._server.shown} does not answer: {self._server.said(error)}")

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that the database holds."""
        try:
            return self._server.last(self._pipeline)
        except self._server.failure as error:
            raise self._server.told(error, self._any_table(())) from None

    def close(self) -> None:
        """Give the connection back."""
        self._server.close()

    def _any_table(self, changes: Sequence[ChangeSet]) -> SinkTable:
        names = [change_set.relation for change_set in changes] or list(self._tables)
        return self._tables[names[0]]

    def _gave_up(self, error: Exception, table: SinkTable) -> SinkError:
        tries = self._retries + 1
        return SinkError(
            f"sink table '{table.name}' could not be written in {tries} {'try' if tries == 1 else 'tries'}",
            detail=f"{self._server.said(error)}.",
            hint="See what else writes to these tables; nothing of the batch stands in this database, and the next "
            "start repeats it. Raise 'sink.max-retries' to try longer.",
            place=table.place,
        )


def open_jdbc(tables: Sequence[SinkTable], context: SinkContext) -> JdbcSink:
    """Connect, check every table, and make what may be made."""
    _check_one_user(tables)
    address = address_of(tables[0].options, tables[0].place)
    server = SERVERS[address.kind](address, tables)
    try:
        server.open(tables)
    except BaseException:
        server.close()
        raise
    return JdbcSink(server, tables, context=context)


def _check(table: SinkTable) -> None:
    address_of(table.options, table.place)


def _check_one_user(tables: Sequence[SinkTable]) -> None:
    first = tables[0]
    for table in tables[1:]:
        one, other = (address_of(t.options, t.place) for t in (first, table))
        same_host = one.place == other.place
        if (one.user, one.schema, one.settings) != (
            other.user,
            other.schema,
            other.settings,
        ) or not same_host:
            raise OptionError(
                f"sink tables '{first.name}' and '{table.name}' come to one database in two ways",
                detail="All tables of a database are written in one transaction, so their username and the "
                "parameters of their url must be equal.",
                hint="Give both the same; a table in another schema is named 'table-name' = 'schema.table'.",
                place=table.place,
            )


JDBC = SinkType(
    options=JdbcOptions,
    group=group_of,
    open=open_jdbc,
    check=_check,
    empty="empty its tables and run DELETE FROM headwater_batches WHERE pipeline = '{pipeline}' there",
)
