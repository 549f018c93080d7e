"""Tables that are declared before anybody reads or writes them: right is what is right in one of the two ways."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.runtime.declared import check_declared
from headwater.runtime.hidden import Hidden
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.registry import SOURCE_TYPES
from headwater.sql import statements as sql


def check_tables(script: Sequence[sql.Statement], hidden: Hidden) -> None:
    """Check the options of all tables of a script, as far as that asks nobody and starts nothing."""
    # Where USE stands, LIKE may mean a table that only a server knows.
    is_moved = any(isinstance(statement, sql.Use) for statement in script)
    tables: list[sql.CreateTable] = []
    for statement in script:
        if isinstance(statement, sql.CreateTable) and not (is_moved and statement.like is not None):
            tables.append(statement)
            connector = _connector(statement, tables)
            if connector is not None:
                _check(statement, tables, connector, hidden=hidden)


def _connector(table: sql.CreateTable, tables: Sequence[sql.CreateTable]) -> str | None:
    """The connector of a table, its own or that of its LIKE; one without it is there only for another's LIKE."""
    own = table.options.get("connector")
    if own is not None or table.like is None:
        return own
    source = table.like.source.lower()
    base = next((one for one in tables if one is not table and one.name.lower() == source), None)
    return None if base is None else _connector(base, tables)


def _check(
    table: sql.CreateTable, tables: Sequence[sql.CreateTable], connector: str, *, hidden: Hidden
) -> None:
    everything = exp.select("*").from_(exp.Table(this=exp.to_identifier(table.name, quoted=True)))
    read, written = (
        _problem([*tables, used], hidden)
        for used in (
            sql.Select(everything, place=table.place, text=table.text),
            sql.InsertInto(table.name, exp.select("1"), place=table.place, text=table.text),
        )
    )
    if read is not None and written is not None:
        raise _better(read, written, connector)


def _problem(script: Sequence[sql.Statement], hidden: Hidden) -> HeadwaterError | None:
    try:
        check_declared(script, hidden)
    except HeadwaterError as problem:
        return problem
    return None


def _better(read: HeadwaterError, written: HeadwaterError, connector: str) -> HeadwaterError:
    """The complaint that helps: of the way that the connector has, or of the one that knows a near option."""
    if connector not in SOURCE_TYPES and connector in SINK_TYPES:
        return written
    knows = "Did you mean" in written.hint and "Did you mean" not in read.hint
    return written if knows else read
