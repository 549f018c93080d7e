"""The options of what a script declares: read, checked before anything starts, and errors that point at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlglot.errors import OptimizeError

from headwater.errors import HeadwaterError, OptionError
from headwater.options import Secret, read_options
from headwater.plan.walk import relations_of
from headwater.runtime.hidden import Hidden
from headwater.runtime.metadata import metadata_of
from headwater.schema import Column, Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.registry import sink_type
from headwater.sources.base import SourceTable
from headwater.sources.registry import source_type
from headwater.sql import statements as sql
from headwater.sql.interpolate import resolve
from headwater.sql.like import merged

Declaration = sql.CreateTable | sql.CreateCatalog


def read_declared(statement: Declaration, kind: type, hidden: Hidden) -> Any:
    """The options of a statement as `kind` declares them; what they refer to is hidden from now on."""
    what, word = ("connector", "connector") if isinstance(statement, sql.CreateTable) else ("type", "catalog")
    given = {name: value for name, value in statement.options.items() if name != what}
    with at_option(statement):
        resolved = resolve(given, statement.place, places=statement.option_places)
        hidden.learn(given, resolved)
        owner = f"{word} '{statement.options.get(what)}'"
        return read_options(kind, resolved, owner=owner, place=statement.place)


@contextmanager
def at_option(statement: Declaration) -> Iterator[None]:
    """Let an error point at the option it names, else at the statement."""
    try:
        yield
    except HeadwaterError as problem:
        named = _named(problem, statement)
        if problem.place in (None, statement.place):
            problem.place = statement.option_places.get(named or "", statement.place)
        if isinstance(statement, sql.CreateTable) and named in statement.inherited:
            problem.hint = "It came along with LIKE: add (EXCLUDING OPTIONS) behind it."
        raise


def _named(problem: HeadwaterError, statement: Declaration) -> str | None:
    """The option that an error is about: the one it names, else the one whose value it names."""
    names = [name for name in statement.options if name not in ("connector", "type")]
    found = [name for text in (problem.message, problem.detail) for name in names if f"'{name}'" in text]
    if isinstance(problem, OptionError):
        found += [
            n
            for n in names
            if _shown(statement.options[n]) and f"'{statement.options[n]}'" in problem.message
        ]
    return found[0] if found else None


def _shown(value: str) -> bool:
    return bool(value) and not isinstance(value, Secret)


def check_declared(script: Sequence[sql.Statement], hidden: Hidden) -> None:
    """Check the options of tables that a script reads or writes, as far as that asks nobody and starts nothing.

    Compiling checks them again, and also what only the servers know. Behind USE names may mean something else.
    """
    tables: dict[str, sql.CreateTable] = {}
    for statement in script:
        match statement:
            case sql.Use():
                return
            case sql.CreateTable():
                whole = _whole(statement, tables)
                if whole is not None:
                    tables.setdefault(statement.name.lower(), whole)
            case sql.StatementSet():
                for one in statement.statements:
                    _check_used(one, tables, hidden)
            case sql.Explain():
                check_declared([*tables.values(), statement.statement], hidden)
            case sql.CreateView() | sql.InsertInto() | sql.Select():
                _check_used(statement, tables, hidden)


def _whole(statement: sql.CreateTable, tables: dict[str, sql.CreateTable]) -> sql.CreateTable | None:
    """A table with what LIKE gives it; None where only a server knows that."""
    if statement.like is None:
        return statement
    base = tables.get(statement.like.source.lower())
    return merged(statement, base) if base is not None and base.columns is not None else None


def _check_used(
    statement: sql.CreateView | sql.InsertInto | sql.Select,
    tables: dict[str, sql.CreateTable],
    hidden: Hidden,
) -> None:
    try:
        read = relations_of(statement.query)
    except OptimizeError:
        return  # binding says what is wrong
    for table in read:
        declared = tables.get(table.name.lower()) if len(table.parts) == 1 else None
        if declared is not None:
            _check_source(declared, hidden)
    target = tables.get(statement.target.lower()) if isinstance(statement, sql.InsertInto) else None
    if target is not None:
        _check_sink(target, hidden)


def _check_source(statement: sql.CreateTable, hidden: Hidden) -> None:
    kind = source_type(statement.options.get("connector"), statement.place)
    options = read_declared(statement, kind.options, hidden)
    if statement.columns is not None:
        table = SourceTable(
            statement.name,
            _schema(statement),
            options,
            statement.place,
            metadata=metadata_of(statement, kind),
        )
        check_source(statement, table)


def check_source(statement: sql.CreateTable, table: SourceTable) -> None:
    """Complain of options, formats and columns now, not at the first message."""
    kind = source_type(statement.options.get("connector"), statement.place)
    with at_option(statement):
        kind.check(table)
        if kind.decoding is not None:
            kind.decoding(table)


def _check_sink(statement: sql.CreateTable, hidden: Hidden) -> None:
    kind = sink_type(statement.options.get("connector"), statement.place)
    options = read_declared(statement, kind.options, hidden)
    if statement.columns is not None:
        # Whether the query only appends is not known yet: what depends on it is checked later.
        table = SinkTable(
            statement.name,
            _schema(statement, written=True),
            options,
            True,
            statement.place,
            metadata=metadata_of(statement, kind),
        )
        with at_option(statement):
            kind.check(table)


def _schema(statement: sql.CreateTable, *, written: bool = False) -> Schema:
    columns = [c for c in statement.columns or () if not (written and c.virtual)]
    return Schema(tuple(Column(c.name, c.type) for c in columns), statement.key)
