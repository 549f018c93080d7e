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
from headwater.sinks.jdbc.session import Session, can_try_again, refused, unreachable
from headwater.sinks.jdbc.target import Target, target_of
from headwater.sinks.jdbc.write import write_changes

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds before a batch is tried again; each further pause is four times as long."""


class JdbcSink:
    """Writes each batch and its id in one transaction, so a batch that comes again changes nothing."""

    def __init__(
        self, session: Session, targets: Sequence[Target], *, batches: sql.Identifier, pipeline: str
    ) -> None:
        self._session = session
        self._targets = {target.table.name: target for target in targets}
        self._batches, self._pipeline = batches, pipeline
        self._retries = max(target.table.options.max_retries for target in targets)

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; after a deadlock or a lost connection it is tried again.

        Trying again is safe even if the connection was lost in the commit: the batch id tells whether it was.
        """
        for attempt in range(self._retries + 1):
            try:
                self._write(changes, batch_id)
                return
            except psycopg2.Error as error:
                if not can_try_again(error):
                    raise refused(self._session, error, self._any_table(changes)) from None
                if attempt == self._retries:
                    raise self._gave_up(error, self._any_table(changes)) from None
                time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 4**attempt))

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
                    if can_try_again(error):
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
            hint="Check the server; nothing of the batch is written. Raise 'sink.max-retries' to try longer.",
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
    return JdbcSink(session, targets, batches=identifier, pipeline=context.pipeline)


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


JDBC = SinkType(options=JdbcOptions, group=group_of, open=open_jdbc)
