"""What a script has declared so far, and what Spark says of queries over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.errors import PySparkException
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from headwater.errors import Place, SqlError, placed
from headwater.plan.walk import table_name
from headwater.runtime.declared import check_source, read_declared
from headwater.runtime.hidden import Hidden
from headwater.runtime.metadata import metadata_of
from headwater.runtime.program import Function, Result, SinkNode, TableNode, ViewNode, fingerprint
from headwater.runtime.remembered import MadeWith, Remembered
from headwater.schema import Column, Schema
from headwater.sources.base import CatalogType, SourceTable, SourceType
from headwater.sources.registry import source_type
from headwater.spark.engine import Engine
from headwater.spark.moments import TakenFromClock
from headwater.spark.problems import as_sql_error
from headwater.sql import statements as sql
from headwater.sql.bind import bind
from headwater.sql.catalog import Catalog, Relation
from headwater.sql.functions.syntax import NAMES
from headwater.sql.names import Session
from headwater.sql.places import place_of
from headwater.sql.volatile import moment_error

Declared = sql.CreateTable | sql.CreateView


@dataclass(frozen=True)
class Registered:
    """A catalog that CREATE CATALOG made known."""

    statement: sql.CreateCatalog
    kind: CatalogType
    options: Any


@dataclass
class Scope:
    """Everything declared, by name; grows statement by statement."""

    engine: Engine
    known_columns: Mapping[str, Schema] = field(default_factory=dict)
    """Columns of tables declared without a list, where they are known and the source is not to be asked."""
    catalog: Catalog = field(default_factory=Catalog)
    declared: dict[str, Declared] = field(default_factory=dict)
    tables: dict[str, TableNode] = field(default_factory=dict)
    views: dict[str, ViewNode] = field(default_factory=dict)
    parts: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Hidden views by what their rows come from; results that need the same one share it."""
    results: dict[str, Result] = field(default_factory=dict)
    sinks: list[SinkNode] = field(default_factory=list)
    hidden: Hidden = field(default_factory=Hidden)
    session: Session = field(default_factory=Session)
    registered: dict[str, Registered] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    """Relations that are tables of a registered catalog, and that a statement named."""
    functions: dict[str, Function] = field(default_factory=dict)
    """Python functions by name, in lower case."""
    remembered: Remembered = field(default_factory=Remembered)
    """What tables without a column list had at the last start."""
    described: dict[str, Schema] = field(default_factory=dict)
    """Tables without a column list, and the columns they have."""
    made_with: dict[str, MadeWith] = field(default_factory=dict)
    """What each statement sees of these, by its text."""
    inserts: dict[str, str] = field(default_factory=dict)
    """The names of INSERTs, by their texts."""

    @property
    def asks(self) -> bool:
        """True if servers may be asked; not so where a script that ran before is only read again."""
        return not self.known_columns

    def aside(self) -> Scope:
        """A copy that can be thrown away."""
        return Scope(
            self.engine,
            self.known_columns,
            Catalog({relation.name.lower(): relation for relation in self.catalog}),
            dict(self.declared),
            dict(self.tables),
            dict(self.views),
            dict(self.parts),
            dict(self.results),
            list(self.sinks),
            self.hidden,
            self.session.copy(),
            dict(self.registered),
            set(self.outside),
            dict(self.functions),
            self.remembered,
            dict(self.described),
            dict(self.made_with),
            dict(self.inserts),
        )

    def forget(self, name: str) -> None:
        """Take a declaration back, or a result that nobody can name."""
        if self.catalog.find(name) is not None:
            self.catalog.drop(name)
        self.outside.discard(name)
        self.declared.pop(name.lower(), None)
        self.tables.pop(name, None)
        self.results.pop(name, None)
        used = {node for result in self.results.values() for node in result.nodes}
        self.views = {node: view for node, view in self.views.items() if node in used}
        self.parts = {origin: part for origin, part in self.parts.items() if part in used}

    def schemas(self) -> dict[str, Schema]:
        """The columns of every relation, hidden ones too."""
        known = {relation.name: relation.schema for relation in self.catalog}
        return known | {name: view.schema for name, view in self.views.items()}

    def fingerprint(self, name: str) -> str:
        """What a relation was made from."""
        return (self.tables.get(name) or self.views[name]).fingerprint

    def analyser(self, statement: sql.Statement) -> Callable[[exp.Query], Mapping[str, str]]:
        """Tells the types of a query's columns; complaints point into the statement."""
        return lambda query: self.analyse(query, statement)

    def analyse(self, query: exp.Query, statement: sql.Statement) -> dict[str, str]:
        """The types Spark gives the columns of a query, or its complaint as an error of ours."""
        named = {table_name(table).lower() for table in query.find_all(exp.Table)}
        schemas = {name: schema for name, schema in self.schemas().items() if name.lower() in named}
        try:
            return self.engine.analyse(schemas, query)
        except TakenFromClock:
            raise moment_error(query, lambda node: place_of(node, statement)) from None
        except UnsupportedError as problem:
            said = str(problem).replace("\n", "; ")
            raise SqlError(
                "a part of the query cannot be written for Spark", detail=f"{said}.", place=statement.place
            ) from None
        except PySparkException as problem:
            functions = [f.name for f in self.engine.spark.catalog.listFunctions()]
            functions += [name.lower() for name in NAMES]
            raise as_sql_error(problem, functions, _place_of_call(problem, statement)) from None

    def types(self, relation: Relation) -> list[tuple[str, str]]:
        """All columns of a relation with their types, computed ones too."""
        if not relation.computed:
            return [(c.name, c.type) for c in relation.schema]
        whole = exp.select("*").from_(exp.Table(this=exp.to_identifier(relation.name, quoted=True)))
        statement = self.declared[relation.name.lower()]
        types = self.analyse(bind(whole, self.catalog, lambda _: statement.place).query, statement)
        return list(zip(relation.columns, types.values(), strict=True))

    def stored_schema(self, statement: sql.CreateTable) -> Schema:
        """The columns a table is declared with, else those its source has."""
        if statement.columns is not None:
            return Schema(tuple(Column(c.name, c.type) for c in statement.columns), statement.key)
        known = self.known_columns.get(statement.name)
        if known is not None:
            return known
        kind = source_type(statement.options.get("connector"), statement.place)
        options = self.options_of(statement, kind.options)
        before = self.remembered.tables.get(statement.name)
        table = SourceTable(statement.name, before or Schema(()), options)
        if before is None or _made_from(table, kind, statement) != self.remembered.made_from.get(table.name):
            with placed(statement.place):
                found: Schema = kind.describe(options)
            before = replace(found, key=statement.key or found.key)
        self.described[statement.name] = before
        return before

    def read_table(self, name: str, place: Place) -> None:
        """A query names a relation: if it is a table, it has to be one that can be read."""
        statement = self.declared.get(name.lower())
        if not isinstance(statement, sql.CreateTable) or name in self.tables:
            return
        connector = statement.options.get("connector")
        kind = source_type(connector, statement.place)
        schema = self.catalog.get(name, place).schema
        options = self.options_of(statement, kind.options)
        metadata = metadata_of(statement, kind)
        table = SourceTable(name, schema, options, statement.place, metadata=metadata)
        if self.asks:
            # A script that ran once is only read again: files that it names may be gone by now.
            check_source(statement, table)
        made_from = _made_from(table, kind, statement)
        self.tables[name] = TableNode(name, schema, str(connector), kind, table, made_from)

    def options_of(self, statement: sql.CreateTable | sql.CreateCatalog, kind: type) -> Any:
        """The options of a CREATE TABLE as the connector wants them; an error points at the option."""
        return read_declared(statement, kind, self.hidden)


def _made_from(table: SourceTable, kind: SourceType, statement: sql.CreateTable) -> str:
    """What the rows of a table come from."""
    return fingerprint(
        "table",
        table.schema.to_json(),
        statement.options.get("connector"),
        kind.group(table.options),
        kind.origin(table.options),
        *table.metadata.items(),
    )


def _place_of_call(problem: PySparkException, statement: sql.Statement) -> Place:
    """The place of the function that Spark does not know, else of the statement."""
    name = (problem.getMessageParameters() or {}).get("routineName", "").strip("`").lower()
    query = getattr(statement, "query", None)
    calls = query.find_all(exp.Anonymous) if name and query is not None else ()
    return place_of(next((call for call in calls if call.name.lower() == name), None), statement)
