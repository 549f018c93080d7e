"""What the capture process is told: one line of JSON on its standard input, password and all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headwater.errors import Place
from headwater.options import Secret
from headwater.schema import Schema, schema_from_json
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.mysql.catalog import matches
from headwater.sources.mysql.connect import Address, address_of
from headwater.sources.mysql.options import REFUSE, MysqlOptions, server_id


@dataclass(frozen=True)
class CaptureTable:
    """A declared table, as the capture needs it."""

    name: str
    schema: Schema
    database: str
    table: str
    startup: str
    zone: str = ""
    place: Place | None = None
    anew: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    cascades: str = REFUSE

    def reads(self, schema: str, table: str) -> bool:
        """True if a table of the server is one of those whose rows it has."""
        return matches(schema, table, self.database, self.table)


@dataclass(frozen=True)
class Start:
    """Where to begin when nothing was read yet and first rows are not wanted."""

    file: str = ""
    at: int = 4
    gtids: str = ""
    millis: int | None = None


@dataclass(frozen=True)
class CaptureConfig:
    """All a capture has to know."""

    address: Address
    folder: Path
    server_id: int
    heartbeat: float
    tables: tuple[CaptureTable, ...]
    start: Start = Start()
    after: int | None = None
    """The position that is durably done in the driver."""
    again: bool = False
    """True if it takes the place of a capture that died: then the log alone says where to go on."""

    @property
    def startup(self) -> str:
        """The mode in which a table starts that is not otherwise known."""
        return self.tables[0].startup


def config_of(tables: Sequence[SourceTable], context: SourceContext) -> CaptureConfig:
    """The configuration for the tables of one server."""
    first: MysqlOptions = tables[0].options
    return CaptureConfig(
        address=address_of(first),
        folder=context.folder.absolute() / "log",
        server_id=server_id(tables, context.pipeline),
        heartbeat=float(first.heartbeat),
        tables=tuple(_table(table) for table in tables),
        start=Start(first.start_file, first.start_position, first.start_gtids, first.start_millis),
    )


def _table(table: SourceTable) -> CaptureTable:
    options: MysqlOptions = table.options
    zone = options.zone or options.jdbc.get("serverTimezone", "")
    return CaptureTable(
        table.name,
        table.schema,
        options.database,
        options.table,
        options.startup,
        zone,
        table.place,
        table.anew,
        dict(table.metadata),
        options.cascades,
    )


def to_line(config: CaptureConfig) -> str:
    """The configuration as one line."""
    address = asdict(config.address) | {"password": config.address.password.reveal()}
    tables = [asdict(table) | {"schema": table.schema.to_json()} for table in config.tables]
    return json.dumps(asdict(config) | {"address": address, "folder": str(config.folder), "tables": tables})


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
            }
        )
        for table in said["tables"]
    )
    fixed = {
        "address": Address(**address),
        "folder": Path(said["folder"]),
        "tables": tables,
        "start": Start(**said["start"]),
    }
    return CaptureConfig(**(said | fixed))
