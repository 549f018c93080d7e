"""What a script says, statement by statement.

Equal statements mean the same: where they stand and how they are spelt does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from headwater.errors import Place


@dataclass(frozen=True)
class Statement:
    """One statement: where it begins and its own text, without the semicolon."""

    place: Place = field(kw_only=True, compare=False, repr=False)
    text: str = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True)
class ColumnDef:
    """A declared column; its type is Spark's text: `decimal(10,2)`."""

    name: str
    type: str
    not_null: bool = False
    place: Place | None = field(default=None, compare=False, repr=False)
    metadata: str | None = None
    """What a METADATA column is taken from, by default what has its name; None for a physical column."""
    virtual: bool = False
    """True if it is only read and never written."""


@dataclass(frozen=True)
class ComputedColumn:
    """A column computed from the others; `index` is its position among all columns."""

    name: str
    expression: exp.Expression
    index: int
    place: Place | None = field(default=None, compare=False, repr=False)


LikePart = Literal["constraints", "generated", "metadata", "options", "partitions", "watermarks"]
LikeWay = Literal["including", "excluding", "overwriting"]


@dataclass(frozen=True)
class Like:
    """LIKE another table: what of it comes along besides its physical columns, which always do."""

    source: str
    ways: Mapping[LikePart, LikeWay]
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class CreateTable(Statement):
    """CREATE TABLE; `columns` is None where the source's own are meant.

    Options are as written, `${env:NAME}` unresolved; values of secret options are `Secret`.
    """

    name: str
    columns: tuple[ColumnDef, ...] | None = None
    computed: tuple[ComputedColumn, ...] = ()
    key: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False
    temporary: bool = False
    option_places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)
    """Where each option stands, for errors about it."""
    like: Like | None = None
    """The table whose columns come first; a statement with it lists only what is added."""
    key_places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)
    """Where each column of the key is named."""
    inherited: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """Options that came along with LIKE."""


@dataclass(frozen=True)
class CreateCatalog(Statement):
    """CREATE CATALOG: a database whose tables need no declaration; options are as in CREATE TABLE."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False
    option_places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Use(Statement):
    """USE CATALOG, or USE a database of the current or of another catalog."""

    catalog: str | None = None
    database: str | None = None


@dataclass(frozen=True)
class CreateFunction(Statement):
    """CREATE FUNCTION name AS 'module.function' LANGUAGE PYTHON."""

    name: str
    path: str
    returns: str | None = None
    """The type of its values; None: what the function itself says."""
    deterministic: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True)
class CreateView(Statement):
    """CREATE [MATERIALIZED] VIEW; `columns` rename those of the query if there are any."""

    name: str
    query: exp.Query
    columns: tuple[str, ...] = ()
    materialized: bool = False
    temporary: bool = False
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class InsertInto(Statement):
    """INSERT INTO: the query's columns go to `columns`, or to all of the target's, by position."""

    target: str
    query: exp.Query
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Select(Statement):
    """A live query."""

    query: exp.Query


@dataclass(frozen=True)
class StatementSet(Statement):
    """Several INSERT INTO that belong together."""

    statements: tuple[InsertInto, ...]


@dataclass(frozen=True)
class Explain(Statement):
    """EXPLAIN of a query, an INSERT INTO, a view or a statement set."""

    statement: Select | InsertInto | CreateView | StatementSet


@dataclass(frozen=True)
class Analyze(Statement):
    """EXPLAIN ANALYZE: how a view is kept, and what its last step cost."""

    name: str


@dataclass(frozen=True)
class Verify(Statement):
    """VERIFY: recompute a view and compare."""

    name: str


@dataclass(frozen=True)
class Subscribe(Statement):
    """SUBSCRIBE TO a view: its rows, then each change; with AFTER only what came after a cut."""

    name: str
    after: str | None = None


Listed = Literal[
    "tables",
    "views",
    "jobs",
    "connectors",
    "functions",
    "catalogs",
    "databases",
    "current catalog",
    "current database",
    "create table",
    "create view",
    "create catalog",
]


@dataclass(frozen=True)
class Show(Statement):
    """SHOW TABLES and the like; `name` is given for SHOW CREATE."""

    what: Listed
    name: str | None = None
    within: str | None = None
    """The catalog, or database, whose tables or databases are meant: SHOW TABLES FROM c.d."""
    pattern: str | None = None
    """Only names that are LIKE this are shown."""
    is_negated: bool = False
    """True for NOT LIKE."""


@dataclass(frozen=True)
class Describe(Statement):
    """DESCRIBE a table or view."""

    name: str


@dataclass(frozen=True)
class StopJob(Statement):
    """STOP JOB: end what an INSERT INTO of the session does in the background."""

    job: str


@dataclass(frozen=True)
class Drop(Statement):
    """DROP TABLE, DROP VIEW, DROP FUNCTION or DROP CATALOG."""

    kind: Literal["table", "view", "catalog", "function"]
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class Set(Statement):
    """SET: one setting with a value, one to look at, or none for all of them."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Reset(Statement):
    """RESET one setting, or all of them."""

    key: str | None = None
