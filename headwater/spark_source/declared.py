"""What a user says of a source in the options of Spark: those of a WITH clause, and where our log is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError, OptionError
from headwater.nearest import did_you_mean
from headwater.options import Secret, read_options, revealed
from headwater.schema import Schema
from headwater.sources.base import Report, SourceContext, SourceTable, SourceType
from headwater.sources.captured.source import CapturedSource
from headwater.sources.mysql.source import MYSQL
from headwater.sources.postgres.source import POSTGRES
from headwater.sql.interpolate import resolve

CONNECTORS: dict[str, SourceType] = {"mysql-cdc": MYSQL, "postgres-cdc": POSTGRES}
"""The connectors that have a log of their own. Kafka and files Spark reads itself."""

CONNECTOR, STATE = "connector", "state"
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class Declared:
    """A table, and the folder of its log if one is given."""

    connector: str
    options: Any
    state: Path | None

    @property
    def type(self) -> SourceType:
        """What is known of the connector."""
        return CONNECTORS[self.connector]

    @property
    def table(self) -> str:
        """What the table is called in messages and in the log."""
        plain = revealed(self.options)
        return str(plain.table or getattr(plain, "messages", ""))

    @property
    def mark(self) -> str:
        """What is read, whoever reads it: a log of something else cannot go on with it."""
        return json.dumps([self.connector, self.type.group(self.options), self.type.origin(self.options)])

    def once(self) -> Declared:
        """The same table, of which only the rows of one moment are wanted."""
        return replace(self, options=replace(self.options, startup=SNAPSHOT))

    def open(self, schema: Schema, folder: Path) -> CapturedSource:
        """The source, with its log in a folder; nothing is touched before it is started."""
        # Two folders of the same name must not share what is made at the server.
        place = hashlib.sha256(str(folder).encode()).hexdigest()[:6]
        context = SourceContext(f"spark_{self.table}_{place}", folder, _nobody)
        source = self.type.open([SourceTable(self.table, schema, self.options)], context)
        assert isinstance(source, CapturedSource)
        return source


def read_declared(given: Mapping[str, str]) -> Declared:
    """The options of a reader, or the error that says which one is wrong."""
    options = resolve(given, None)
    name = options.pop(CONNECTOR, None)
    state = options.pop(STATE, None)
    if name not in CONNECTORS:
        raise OptionError(
            "the data source needs option 'connector'"
            if name is None
            else f"connector '{name}' has no log that the data source can read",
            detail=f"It reads {', '.join(CONNECTORS)}.",
            hint=did_you_mean(name or "", CONNECTORS, otherwise="Use option('connector', 'postgres-cdc')."),
        )
    owner = f"connector '{name}'"
    read: Any = read_options(CONNECTORS[name].options, options, owner=owner, place=None)
    if CONNECTORS[name].parks(read):
        raise OptionError(
            "option 'errors' = 'dead-letter' has no meaning for the data source",
            detail="There is no table of dead letters beside a plain Spark job.",
            hint="Remove it, and declare the column that does not fit as STRING.",
        )
    return Declared(name, read, None if state is None else _folder(state))


def _folder(given: str) -> Path:
    text = given.reveal() if isinstance(given, Secret) else given
    if "://" in text:
        raise OptionError(
            f"option '{STATE}' takes the path of a folder, not a URL",
            hint="Use a folder that the driver and all executors have under the same path.",
        )
    return Path(text).expanduser().absolute()


@contextmanager
def explained() -> Iterator[None]:
    """Let an error of ours tell all it knows: what crosses to Spark is the text of a traceback."""
    try:
        yield
    except HeadwaterError as problem:
        for what, text in (("detail", problem.detail), ("hint", problem.hint)):
            if text:
                problem.add_note(f"{what}: {text}")
        raise


def _nobody(_: Report) -> None:
    """There is no one to report to."""
