"""The source `mysql-cdc`: tables of one MySQL or MariaDB server, from its own log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.options import revealed
from headwater.schema import Column, Schema
from headwater.sources.base import SourceContext, SourceTable, SourceType
from headwater.sources.captured.asking import asked
from headwater.sources.captured.source import CapturedSource
from headwater.sources.captured.supervisor import Launch
from headwater.sources.mysql.catalog import find_tables
from headwater.sources.mysql.checks import METADATA
from headwater.sources.mysql.config import CaptureConfig, config_of, to_line
from headwater.sources.mysql.connect import address_of, session
from headwater.sources.mysql.options import SNAPSHOT, MysqlOptions, check_group, group, origin
from headwater.sources.mysql.resume import SHIFT
from headwater.sources.mysql.server import end_of_log
from headwater.sources.mysql.types import spark_type, unread


@dataclass(frozen=True)
class _Mysql:
    """The server of some tables: one reader, one position."""

    config: CaptureConfig

    @property
    def folder(self) -> Path:
        return self.config.folder

    @property
    def is_streamed(self) -> bool:
        return self.config.startup != SNAPSHOT

    def launch(self, after: Position | None) -> Launch:
        config = replace(self.config, after=None if after is None else after.value)
        return Launch(
            "headwater.sources.mysql.capture",
            config.folder,
            lambda again: to_line(replace(config, again=again)),
            f"MySQL at {config.address}",
        )

    def now(self, log: LogReader) -> Position:
        end, _ = asked(partial(session, self.config.address), end_of_log)
        return Position(end.value(log.manifest.number(SHIFT) or 0), "binlog")


def describe(options: MysqlOptions) -> Schema:
    """A table's own columns and primary key, for a declaration without a column list."""
    options = revealed(options)
    found = asked(
        partial(session, address_of(options)),
        lambda cursor: find_tables(cursor, options.database, options.table)[0],
    )
    for column in found.columns:
        if (why := unread(column)) is not None:
            raise SourceError(
                f"column '{column.name}' of table '{found.shown}' is {column.shown}, which cannot be read",
                detail=why,
                hint="List the columns in the CREATE TABLE, and leave this one out.",
            )
    columns = tuple(Column(c.name, spark_type(c)) for c in found.columns)
    return Schema(columns, found.key)


def open_source(tables: Sequence[SourceTable], context: SourceContext) -> CapturedSource:
    """A source over the tables of one server; nothing is touched before `start`."""
    plain = [replace(table, options=revealed(table.options)) for table in tables]
    check_group(plain)
    return CapturedSource(_Mysql(config_of(plain, context)), context.report)


def forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made at the server."""


MYSQL = SourceType(
    options=MysqlOptions,
    describe=describe,
    group=group,
    open=open_source,
    forget=forget,
    origin=origin,
    metadata=METADATA,
)
