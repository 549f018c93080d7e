"""What the capture process is told: one line of JSON on its standard input, password and all.

It never stands on a command line or in the environment, where others could read it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwater.errors import Place
from headwater.log.positions import Position
from headwater.options import Secret
from headwater.schema import Schema, schema_from_json
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.postgres.connect import Address, address_of
from headwater.sources.postgres.options import PostgresOptions, prefixes_of, publication_name, slot_name


@dataclass(frozen=True)
class CaptureTable:
    """A declared table, as the capture needs it."""

    name: str
    schema: Schema
    remote_schema: str
    remote_table: str
    startup: str
    place: Place | None = None
    anew: bool = False
    prefixes: tuple[str, ...] = ()
    """For a table of an application's messages: which of them it reads. It has no table at the server."""


@dataclass(frozen=True)
class CaptureConfig:
    """All a capture has to know."""

    address: Address
    folder: Path
    slot: str
    publication: str
    tables: tuple[CaptureTable, ...]
    after: int | None = None
    """The position that is durably done in the driver."""
    again: bool = False
    """True if it takes the place of a capture that died: then the log alone says where to go on."""

    @property
    def startup(self) -> str:
        """The mode in which a table starts that is not otherwise known."""
        return self.tables[0].startup


def config_of(
    tables: Sequence[SourceTable], context: SourceContext, *, after: Position | None
) -> CaptureConfig:
    """The configuration for the tables of one database."""
    first: PostgresOptions = tables[0].options
    return CaptureConfig(
        address=address_of(first, f"headwater {context.pipeline}"),
        folder=log_folder(context),
        slot=slot_name(tables, context.pipeline),
        publication=publication_name(tables, context.pipeline),
        tables=tuple(_table(table) for table in tables),
        after=None if after is None else after.value,
    )


def log_folder(context: SourceContext) -> Path:
    """Where the log of a source lies."""
    return context.folder.absolute() / "log"


def to_line(config: CaptureConfig) -> str:
    """The configuration as one line."""
    address = asdict(config.address) | {"password": config.address.password.reveal()}
    tables = [asdict(table) | {"schema": table.schema.to_json()} for table in config.tables]
    said = asdict(config) | {"address": address, "folder": str(config.folder), "tables": tables}
    return json.dumps(said)


def from_line(line: str) -> CaptureConfig:
    """The configuration that `to_line` wrote."""
    said: dict[str, Any] = json.loads(line)
    address = said["address"] | {"password": Secret(said["address"]["password"])}
    tables = tuple(
        CaptureTable(
            **{
                **table,
                "schema": schema_from_json(table["schema"]),
                "place": Place(**table["place"]) if table["place"] else None,
                "prefixes": tuple(table["prefixes"]),
            }
        )
        for table in said["tables"]
    )
    fixed = {"address": Address(**address), "folder": Path(said["folder"]), "tables": tables}
    return CaptureConfig(**(said | fixed))


def _table(table: SourceTable) -> CaptureTable:
    options: PostgresOptions = table.options
    return CaptureTable(
        table.name,
        table.schema,
        options.schema if options.table else "",
        options.table,
        options.startup,
        table.place,
        table.anew,
        prefixes_of(options),
    )
