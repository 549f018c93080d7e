"""What both databases offer a reader: one moment of a database, its tables, and their rows as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from headwater.errors import Place, SourceError
from headwater.jdbc_url import SHOWN, Address, connect_hint
from headwater.log.text_values import can_read, typed_column
from headwater.nearest import nearest_hint
from headwater.options import Secret
from headwater.schema import Column, Schema
from headwater.sources.base import SourceTable, Unreachable

CONNECT_SECONDS = 10


@dataclass(frozen=True)
class FoundColumn:
    """A column at the server: its Spark type, how its values are written, and what the server calls its type."""

    name: str
    type: str
    families: tuple[str, ...]
    shown: str
    unread: str = ""
    """Why it cannot be read; empty if it can."""

    def family(self, kind: str) -> str | None:
        """How values are read that are wanted as a Spark type; None if they cannot be."""
        return next((family for family in self.families if can_read(family, kind)), None)


@dataclass(frozen=True)
class Found:
    """A table at the server."""

    schema: str
    name: str
    columns: tuple[FoundColumn, ...]
    key: tuple[str, ...]
    estimate: int | None
    """About how many rows it has; None if the server never counted."""

    @property
    def shown(self) -> str:
        """The name for messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def column(self, name: str) -> FoundColumn | None:
        """The column of that name; an exact match wins over one that differs in case."""
        exact = [c for c in self.columns if c.name == name]
        loose = [c for c in self.columns if c.name.lower() == name.lower()]
        return next(iter(exact + loose), None)


@dataclass(frozen=True)
class Chunk:
    """Some rows: the texts (or bytes) of each column, and the bytes by which each row can be told from others."""

    columns: list[pa.Array]
    rows: Sequence[bytes]


class Moment(Protocol):
    """A connection that sees one database as of one moment."""

    def find(self, schema: str, table: str, place: Place | None) -> Found:
        """A table by name, or an error that names what is near; without a schema the user's own is meant."""

    def read(self, found: Found, columns: Sequence[FoundColumn], take: Callable[[Chunk], None]) -> None:
        """All rows of a table, in chunks, each of these columns."""

    def tables(self) -> list[str]:
        """The tables and views of the database, as a catalog names them."""

    def databases(self) -> list[str]:
        """The databases of the server that the user may enter."""

    def close(self) -> None:
        """Let the moment go."""


def described(found: Found, place: Place | None) -> Schema:
    """A table's own columns and key."""
    for column in found.columns:
        if column.unread:
            raise _unread(
                found, column, place, "List the columns in the CREATE TABLE, and leave this one out"
            )
    return Schema(tuple(Column(c.name, c.type) for c in found.columns), found.key)


def chosen_columns(found: Found, table: SourceTable) -> list[FoundColumn]:
    """The columns of a declared table at the server, each with the one way in which it is read."""
    chosen = []
    for column in table.schema:
        at_server = found.column(column.name)
        if at_server is None:
            names = [c.name for c in found.columns]
            raise SourceError(
                f"table '{found.shown}' has no column '{column.name}'",
                detail=f"Its columns are {', '.join(names)}.",
                hint=nearest_hint(column.name, names, "columns"),
                place=table.place,
            )
        if at_server.unread:
            raise _unread(found, at_server, table.place, "Leave the column out")
        family = at_server.family(column.type)
        if family is None:
            natural = at_server.type
            raise SourceError(
                f"column '{column.name}' of table '{found.shown}' cannot be read as {column.type}",
                detail=f"At the server it is {at_server.shown}.",
                hint=f"Declare it as {natural.upper()}"
                + ("." if natural == "string" else " or STRING, and cast it in a view."),
                place=table.place,
            )
        chosen.append(replace(at_server, families=(family,)))
    return chosen


def _unread(found: Found, column: FoundColumn, place: Place | None, way: str) -> SourceError:
    return SourceError(
        f"column '{column.name}' of table '{found.shown}' is {column.shown}, which cannot be read",
        detail=column.unread,
        hint=f"{way}, or read a view of the database that casts it to text.",
        place=place,
    )


def typed_columns(chunk: Chunk, found: Sequence[FoundColumn], table: SourceTable) -> list[pa.Array]:
    """The columns of a chunk as declared; `found` are those that `chosen_columns` gave."""
    made = []
    for texts, at_server, column in zip(chunk.columns, found, table.schema, strict=True):
        (family,) = at_server.families
        made.append(typed_column(texts, column, family=family, table=table.name, place=table.place))
    return made


def not_connected(address: Address, said: str, password: Secret | None) -> SourceError:
    """Why no connection came about; a server that may come back is Unreachable."""
    shown = " ".join(said.split())
    if password:
        shown = shown.replace(password.reveal(), "***")
    kind = Unreachable if _may_come_back(said) else SourceError
    return kind(
        f"cannot connect to {SHOWN[address.kind]} at {address.host}:{address.port}, database '{address.database}'",
        detail=shown if shown.endswith((".", "?")) else f"{shown}.",
        hint=connect_hint(said, address.kind),
    )


def _may_come_back(said: str) -> bool:
    words = (
        "refused",
        "timeout",
        "timed out",
        "starting up",
        "shutting down",
        "Too many",
        "too many",
        "closed",
    )
    return any(word in said for word in words)
