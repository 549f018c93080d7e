"""The contract of a source.

A source reads the tables of one database (or one broker, one generator) and shares one position among them.

It must
- deliver whole transactions only, in commit order, each with a position greater than the one before;
- deliver the same events again for the same `after`, until `commit` said they are not needed;
- begin with a table's first rows (its snapshot) as inserts at the position the snapshot is consistent with.
It may deliver a transaction twice; whoever reads drops positions it has seen.
It never promises that a position exists for every moment: between transactions nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sqlglot import exp

from headwater.errors import Place, SourceError
from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.schema import Schema


class Unreachable(SourceError):
    """The server does not answer now; it may later."""


class Lost(Unreachable):
    """A connection that was there broke: where and who is right, so it is tried again even before all has started."""


class Source(Protocol):
    """Where changes come from. See the module for what must, may and is never promised."""

    def start(self, after: Position | None) -> Position | None:
        """Begin, or go on after what is durably done; raise SourceError if `after` can no longer be served.

        The answer is the position from which on every table is whole: until `read` has delivered it, the snapshot
        of a table may still be on its way. None: they are whole already.

        Whatever was made for a start that fails (slot, publication) is gone again when this raises.
        Tables that were not delivered before get their snapshot; `SourceContext.report` hears of it.
        """

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """Whole transactions after `after`, about `limit` rows of them; None if none came within `wait` seconds.

        With `upto` everything up to and with that position at once, whatever `limit` says: a batch is repeated.
        """

    def now(self) -> Position:
        """A position that `read` will reach and before which everything committed by this moment stands."""

    def commit(self, position: Position) -> None:
        """Everything up to `position` is durably done; it may be forgotten."""

    def close(self) -> None:
        """Stop reading and free what is held; the position at the server stays."""


@dataclass(frozen=True)
class Retained:
    """What a database keeps of its log for us, in bytes, as it was seen last."""

    slot: str
    """Under which name."""
    status: str
    """How the database calls its state: of Postgres, `wal_status`."""
    kept: int
    """What it cannot remove because of us."""
    behind: int
    """What of it was written after the place up to which all is durably ours."""


@runtime_checkable
class Retaining(Protocol):
    """A source whose database keeps its log until we have read it."""

    def retained(self) -> Retained | None:
        """What is kept; None if nobody has looked yet. Any thread may ask."""


@dataclass(frozen=True)
class SourceTable:
    """A declared table as its source sees it: physical columns only, computed columns are not its business."""

    name: str
    schema: Schema
    options: Any
    place: Place | None = None
    anew: bool = False
    """True if the reader holds nothing of it: its first rows have to come, also if they came once before."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Columns declared METADATA, and what each is taken from: `{"at": "timestamp"}`."""


@dataclass(frozen=True)
class Report:
    """How far something that takes a while has come: `Report("snapshot", "orders", 1200, 5000)`."""

    stage: str
    subject: str
    done: int = 0
    total: int | None = None
    per_second: float | None = None
    """How fast it comes, where that is known better than from two reports."""
    seconds_left: float | None = None
    """About how long it will still take."""


_WHO = re.compile(r"^(?:cannot connect to )?(.+?)(?: does not answer\b.*| answers \d.*)?$", re.DOTALL)


def waits(trouble: str) -> Report:
    """The report that something is waited for: `kafka at k:9092 does not answer`."""
    return Report("waiting", f"{trouble}; going on when it does")


def is_back(trouble: str) -> Report:
    """The report that a wait is over: `kafka at k:9092 is back; going on`."""
    found = _WHO.match(trouble)
    who = found[1] if found is not None else trouble
    over = f"{who} is back; going on" if who != trouble else f"over: {trouble}; going on"
    return Report("waiting", over)


@dataclass(frozen=True)
class SourceContext:
    """What a source is given to live in: the pipeline's name, a folder of its own, someone to report to."""

    pipeline: str
    folder: Path
    report: Callable[[Report], None]


@dataclass(frozen=True)
class Decoding:
    """How the messages of a table become its events: a query over the relation `messages`."""

    query: exp.Query
    quick: exp.Query | None = None
    """A shorter query that reads what most messages are, and marks the others with the error `unread`."""
    parks: bool = False
    """True if messages that cannot be read go to headwater.dead_letters; else they stop the pipeline."""
    subject: str = ""
    """What the messages come from, for errors: `topic 'orders'`."""


@dataclass(frozen=True)
class SourceType:
    """What the registry knows of a connector that can be read."""

    options: type
    """A frozen dataclass of `option` fields."""
    describe: Callable[[Any], Schema]
    """The source's own columns and key for a table declared without a column list (asks the source)."""
    group: Callable[[Any], str]
    """Tables of equal group share one Source and one Position. Readable, stable, without secrets."""
    open: Callable[[Sequence[SourceTable], SourceContext], Source]
    """A source over all tables of a group; nothing is touched before `start`."""
    forget: Callable[[Sequence[SourceTable], SourceContext], None]
    """Remove what was made at the server (slot, publication); used by `headwater drop`."""
    append_only: bool | Callable[[Any], bool] = False
    """True if it only ever inserts; a function of the options where these decide it."""
    origin: Callable[[Any], str] = repr
    """What a table's rows depend on, in one text: when it changes, the table is read anew. It is never shown."""
    resolving_key: Callable[[Any], tuple[str, ...]] = lambda options: ()
    """The columns by which the row before an event has to be looked up; none if events carry whole rows."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What METADATA columns can be taken from, and the type of each: `{"timestamp": "timestamp"}`."""
    decoding: Callable[[SourceTable], Decoding] | None = None
    """How `Delivery.messages` are decoded; None where a source delivers events."""
    parks: Callable[[Any], bool] = lambda options: False
    """True if these options put what cannot be read into headwater.dead_letters; else that is an error."""
    jars: tuple[str, ...] = ()
    """Sets of packages that Spark needs to read this source itself."""
    check: Callable[[SourceTable], None] = lambda table: None
    """Complains of options that contradict each other or mean nothing, without asking the source."""
    notes: Callable[[SourceTable], str | None] = lambda table: None
    """What EXPLAIN says of how far a table's rows agree with those of others; asks the source."""


def only_inserts(kind: SourceType, options: Any) -> bool:
    """True if a table of these options only ever inserts."""
    return kind.append_only(options) if callable(kind.append_only) else kind.append_only


@dataclass(frozen=True)
class Outcome:
    """What a server said of one statement: its rows, if it has any, and in words what it did."""

    said: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """As many as were asked for."""
    count: int = 0
    """How many rows there are, or were changed."""


class Client(Protocol):
    """A connection for plain SQL; each statement is committed unless a transaction was begun."""

    dialect: str
    """What sqlglot calls the server's SQL."""

    def run(self, statement: str, limit: int) -> Outcome:
        """Run one statement; a Refusal says what is wrong with it."""

    def in_transaction(self) -> bool:
        """True if a transaction was begun and not ended."""

    def close(self) -> None:
        """Leave; what is not committed is undone."""


class Refusal(Exception):
    """A server refuses a statement: what it says, and where in the statement, or near which words."""

    def __init__(self, said: str, *, detail: str = "", hint: str = "", at: int | None = None) -> None:
        super().__init__(said)
        self.said, self.detail, self.hint, self.at = said, detail, hint, at


@dataclass(frozen=True)
class CatalogType:
    """What the registry knows of a kind of catalog: it shows the tables that a server already has."""

    options: type
    """A frozen dataclass of `option` fields."""
    default_database: Callable[[Any], str]
    """The database in which USE CATALOG stands."""
    databases: Callable[[Any], Sequence[str]]
    """The databases of the server (asks it)."""
    tables: Callable[[Any, str], Sequence[str]]
    """The tables of a database, as they are named in SQL (asks the server)."""
    table_name: Callable[[Any, str], str]
    """A table's whole name: two ways to write one table give the same."""
    table_options: Callable[[Mapping[str, str], str, str], Mapping[str, str]]
    """The WITH clause of a table, from that of the catalog, its database and its whole name."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What hints of its connector say of options, and what to say where only the catalog's are written."""
    client: Callable[[Any], Client] | None = None
    """A connection for SQL that is the server's own business; None if it takes none."""
