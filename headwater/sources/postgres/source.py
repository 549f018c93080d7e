"""The source `postgres-cdc`: tables of one Postgres database, from its own log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.log.manifest import FILE, Manifest
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.options import revealed
from headwater.sources.base import SourceContext, SourceTable, SourceType
from headwater.sources.captured.asking import answered
from headwater.sources.captured.source import CapturedSource
from headwater.sources.captured.supervisor import Launch
from headwater.sources.dead_letters import parks
from headwater.sources.postgres import server
from headwater.sources.postgres.agreed import check_group
from headwater.sources.postgres.begin import MADE_PUBLICATION
from headwater.sources.postgres.catalog import describe, resolving_key
from headwater.sources.postgres.config import CaptureConfig, config_of, log_folder, to_line
from headwater.sources.postgres.connect import session
from headwater.sources.postgres.messages import check_messages
from headwater.sources.postgres.metadata import METADATA
from headwater.sources.postgres.options import SNAPSHOT, PostgresOptions, group, origin
from headwater.storage.book import has_book


@dataclass(frozen=True)
class _Postgres:
    """The database of some tables: one slot, one publication, one position."""

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
            "headwater.sources.postgres.capture",
            config.folder,
            lambda again: to_line(replace(config, again=again)),
            f"postgres at {config.address}",
        )

    def now(self, log: LogReader) -> Position:
        return Position(answered(lambda: server.emit(self.config.address)), "lsn")


def open_source(tables: Sequence[SourceTable], context: SourceContext) -> CapturedSource:
    """A source over the tables of one database; nothing is touched before `start`."""
    plain = _revealed(tables)
    check_group(plain)
    check_messages(plain)
    return CapturedSource(_Postgres(config_of(plain, context, after=None)), context.report)


def forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Drop the slot and, if it is ours, the publication; harmless when they are gone."""
    config = config_of(_revealed(tables), context, after=None)
    with session(config.address) as cursor:
        server.drop_slot(cursor, config.slot)
        if config.publication in (config.slot, _made_publication(context)):
            server.drop_publication(cursor, config.publication)


def _revealed(tables: Sequence[SourceTable]) -> list[SourceTable]:
    return [replace(table, options=revealed(table.options)) for table in tables]


def _made_publication(context: SourceContext) -> str | None:
    folder = log_folder(context)
    if not has_book(folder / FILE):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest(folder)
    try:
        return manifest.recall(MADE_PUBLICATION)
    finally:
        manifest.close()


POSTGRES = SourceType(
    options=PostgresOptions,
    describe=describe,
    group=group,
    open=open_source,
    forget=forget,
    origin=origin,
    resolving_key=resolving_key,
    append_only=lambda options: bool(options.messages),
    metadata=METADATA,
    parks=parks,
)
