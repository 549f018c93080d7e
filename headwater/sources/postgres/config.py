"""What the capture process is told: one line of JSON on its standard input, password and all.

It never stands on a command line or in the environment, where others could read it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headwater.errors import Place
from headwater.log.beside import CHANGING, DATABASE_NAME, SCHEMA_NAME, TABLE_NAME, Beside
from headwater.log.positions import Position
from headwater.log.shards import shown_name
from headwater.options import Secret
from headwater.schema import Column, Schema, schema_from_json
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.dead_letters import parks
from headwater.sources.postgres.agreed import Care, care_of, publication_name, slot_name
from headwater.sources.postgres.connect import Address, address_of
from headwater.sources.postgres.options import PostgresOptions, is_pattern, prefixes_of
from headwater.sources.postgres.patterns import literal
from headwater.sources.postgres.tls import Tls


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
    metadata: dict[str, str] = field(default_factory=dict)
    """Columns that do not stand in the table at the server, and what each is taken from."""
    is_pattern: bool = False
    """True if it stands for all tables that match its names, which are not known yet."""
    of: tuple[str, str] | None = None
    """For one of several tables that match patterns: these patterns, of the schema and the table."""
    oid: int = 0
    """And its number at the server, which it keeps under another name."""
    parks: bool = False
    """True if a row with a value that does not fit is put aside; else that is an error."""

    @property
    def shown(self) -> str:
        """Its name for messages."""
        return shown_name(self.name)

    @property
    def shard(self) -> tuple[str, ...] | None:
        """The columns that tell its rows from those of other tables that match; None if there are no others.

        They are none if the declaration has not all of them.
        """
        if self.of is None:
            return None
        columns = {what: column for column, what in self.metadata.items()}
        return tuple(columns[name] for name in self.apart) if set(self.apart) <= set(columns) else ()

    @property
    def is_told_apart(self) -> bool:
        """True if its key says of which of the tables that match a row is."""
        return bool(self.shard) and set(self.shard or ()) <= set(self.schema.key)

    @property
    def apart(self) -> list[str]:
        """The metadata by which the tables that match are told apart."""
        named = zip((SCHEMA_NAME, TABLE_NAME), self.of or (), strict=bool(self.of))
        return [name for name, value in named if literal(value) is None]

    @property
    def key(self) -> tuple[str, ...]:
        """The declared key as far as the log tells it of a row: without names that are the same for all rows."""
        same = {column for column, what in self.metadata.items() if what not in CHANGING}
        return tuple(column for column in self.schema.key if column not in same)

    @property
    def own(self) -> list[Column]:
        """The columns that the table at the server has."""
        return [column for column in self.schema if column.name not in self.metadata]

    @property
    def by_key(self) -> bool:
        """True if a column differs from change to change, so that a row that goes has to be looked up."""
        return not CHANGING.isdisjoint(self.metadata.values())

    def beside(self, database: str) -> tuple[Beside, ...]:
        """The columns that do not stand in the table at the server."""
        same = {
            TABLE_NAME: self.remote_table,
            SCHEMA_NAME: self.remote_schema,
            DATABASE_NAME: database,
        }
        return tuple(
            Beside(place, key, same.get(key))
            for place, column in enumerate(self.schema)
            if (key := self.metadata.get(column.name)) is not None
        )


@dataclass(frozen=True)
class CaptureConfig:
    """All a capture has to know."""

    address: Address
    folder: Path
    slot: str
    publication: str
    tables: tuple[CaptureTable, ...]
    care: Care = Care()
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
        care=care_of(tables),
        after=None if after is None else after.value,
    )


def log_folder(context: SourceContext) -> Path:
    """Where the log of a source lies."""
    return context.folder.absolute() / "log"


def to_line(config: CaptureConfig) -> str:
    """The configuration as one line."""
    tls = config.address.tls.settings()
    address = asdict(config.address) | {"password": config.address.password.reveal(), "tls": tls}
    tables = [asdict(table) | {"schema": table.schema.to_json()} for table in config.tables]
    said = asdict(config) | {"address": address, "folder": str(config.folder), "tables": tables}
    return json.dumps(said)


def from_line(line: str) -> CaptureConfig:
    """The configuration that `to_line` wrote."""
    said: dict[str, Any] = json.loads(line)
    tls = said["address"]["tls"]
    if "sslpassword" in tls:
        tls["sslpassword"] = Secret(tls["sslpassword"])
    address = said["address"] | {"password": Secret(said["address"]["password"]), "tls": Tls(**tls)}
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
    fixed = {
        "address": Address(**address),
        "folder": Path(said["folder"]),
        "tables": tables,
        "care": Care(**said["care"]),
    }
    return CaptureConfig(**(said | fixed))


def _table(table: SourceTable) -> CaptureTable:
    options: PostgresOptions = table.options
    schema, name = options.schema if options.table else "", options.table
    if not is_pattern(options):
        schema, name = literal(schema) or "", literal(name) or ""
    return CaptureTable(
        table.name,
        table.schema,
        schema,
        name,
        options.startup,
        table.place,
        table.anew,
        prefixes_of(options),
        dict(table.metadata),
        bool(options.table) and is_pattern(options),
        parks=parks(options),
    )
