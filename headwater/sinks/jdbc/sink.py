"""Connector 'jdbc' as a sink: all tables of one database, one transaction for each batch."""

from __future__ import annotations

import time
from collections.abc import Sequence

import psycopg2
from psycopg2 import sql

from headwater.changes.change_set import ChangeSet
from headwater.errors import OptionError, SinkError
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import by_table
from headwater.sinks.jdbc import batches
from headwater.sinks.jdbc.options import JdbcOptions, address_of, group_of
from headwater.sinks.jdbc.session import Session, can_try_again, is_away, refused, unreachable
from headwater.sinks.jdbc.target import Target, target_of
from headwater.sinks.jdbc.write import write_changes

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds before a batch is tried again; each further pause is four times as long."""

TOLD_LOSSES = 2
"""So many lost or refused connections in a row mean that the server is away."""


class JdbcSink:
    """Writes each batch and its id in one transaction, so a batch that comes again changes nothing."""

    def __init__(
        self, session: Session, targets: Sequence[Target], *, batches: sql.Identifier, context: SinkContext
    ) -> None:
        self._session = session
        self._targets = {target.table.name: target for target in targets}
        self._batches, self._pipeline, self._waits = batches, context.pipeline, context.waits
        self._retries = max(target.table.options.max_retries for target in targets)

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; waits for as long as the server is away, and tries again after a deadlock.

        Trying again is safe even if the connection was lost in the commit: the batch id tells whether it was.
        """
        losses = failures = 0
        while True:
            try:
                self._write(changes, batch_id)
                break
            except psycopg2.Error as error:
                if is_away(error):
                    losses += 1
                    self._tell(losses, error)
                elif not can_try_again(error):
                    wrong = refused if self._session.is_connected else unreachable
                    raise wrong(self._session, error, self._any_table(changes)) from None
                elif failures == self._retries:
                    raise self._gave_up(error, self._any_table(changes)) from None
                else:
                    failures += 1
                time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 4 ** min(losses + failures - 1, 8)))
        if losses >= TOLD_LOSSES:
            self._waits(None)

    def _tell(self, losses: int, error: psycopg2.Error) -> None:
        """Say once that we wait; a connection that only has to be made again is no news."""
        if losses == TOLD_LOSSES:
            said = self._session.hide(str(error)).partition(" Is the server running")[0].rstrip(".")
            self._waits(f"{self._session.shown} does not answer: {said}")

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that the database holds."""
        try:
            with self._session.transaction() as cursor:
                return batches.last(cursor, self._batches, pipeline=self._pipeline)
        except psycopg2.Error as error:
            raise refused(self._session, error, self._any_table(())) from None

    def close(self) -> None:
        """Give the connection back."""
        self._session.close()

    def _write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        with self._session.transaction() as cursor:
            if not batches.advance(cursor, self._batches, pipeline=self._pipeline, batch_id=batch_id):
                return
            # One order for everyone keeps two writers from waiting for each other.
            for name, change_set in sorted(by_table(changes).items()):
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

    def _any_table(self, changes: Sequence[ChangeSet]) -> SinkTable:
        names = [change_set.relation for change_set in changes] or list(self._targets)
        return self._targets[names[0]].table

    def _gave_up(self, error: psycopg2.Error, table: SinkTable) -> SinkError:
        tries = self._retries + 1
        return SinkError(
            f"sink table '{table.name}' could not be written in {tries} {'try' if tries == 1 else 'tries'}",
            detail=self._session.hide(str(error)),
            hint="See what else writes to these tables; nothing of the batch stands in this database, and the next "
            "start repeats it. Raise 'sink.max-retries' to try longer.",
            place=table.place,
        )


def open_jdbc(tables: Sequence[SinkTable], context: SinkContext) -> JdbcSink:
    """Connect, check every table, and make what may be made; if anything is wrong, nothing is left behind."""
    _check_one_user(tables)
    session = Session(address_of(tables[0].options, tables[0].place), tables)
    current = tables[0]
    try:
        with session.transaction() as cursor:
            batches.check_database(cursor, current)
            targets = []
            for current in tables:
                targets.append(target_of(cursor, current))
            identifier = batches.prepare(cursor, tables[0])
    except psycopg2.Error as error:
        wrong = refused if session.is_connected else unreachable
        session.close()
        raise wrong(session, error, current) from None
    except BaseException:
        session.close()
        raise
    return JdbcSink(session, targets, batches=identifier, context=context)


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
