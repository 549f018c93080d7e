"""What a session has declared, as names for completion and as words about the last statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.runtime.conversation import Known
from headwater.runtime.declarations import KINDS, Declaration, Script
from headwater.runtime.uses import Named
from headwater.sql import statements as sql
from headwater.sql.secrets import looks_secret


def known_of(declared: Sequence[Declaration], jobs: tuple[str, ...] = ()) -> Known:
    """The names that a statement may use after these declarations; columns as far as the text tells them."""
    columns: dict[str, tuple[str, ...]] = {}
    for statement in declared:
        match statement:
            case sql.CreateTable():
                columns[statement.name] = _table_columns(statement, columns)
            case sql.CreateView():
                columns[statement.name] = statement.columns or _query_columns(statement.query, columns)
    return Known(
        columns,
        frozenset(s.name for s in declared if isinstance(s, sql.CreateView)),
        tuple(s.name for s in declared if isinstance(s, sql.CreateCatalog)),
        tuple(s.name for s in declared if isinstance(s, sql.CreateFunction)),
        jobs,
    )


def _table_columns(table: sql.CreateTable, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    like = known.get(table.like.source, ()) if table.like is not None else ()
    own = [column.name for column in table.columns or ()] + [column.name for column in table.computed]
    return (*like, *(name for name in own if name not in like))


def _query_columns(query: exp.Query, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The columns of a query by their names; a star stands for those of the tables behind FROM and JOIN."""
    found: list[str] = []
    for name in query.named_selects:
        found += _starred(query, known) if name == "*" else [name]
    return tuple(dict.fromkeys(name for name in found if name))


def _starred(query: exp.Query, known: Mapping[str, tuple[str, ...]]) -> list[str]:
    select = query if isinstance(query, exp.Select) else query.find(exp.Select)
    joins = select.args.get("joins") or [] if select is not None else []
    parts = [select.args.get("from_"), *joins] if select is not None else []
    tables = [part.this for part in parts if part is not None and isinstance(part.this, exp.Table)]
    return [column for table in tables for column in known.get(table.name, ())]


def told(before: Sequence[Declaration], script: Script) -> str:
    """What a statement that declares something did, in words: `table orders is declared`."""
    fresh = [s for s in script.declared if not any(s is one for one in before)]
    gone = [s for s in before if not any(s is one for one in script.declared)]
    names = {_name(statement) for statement in fresh}
    said = [text for s in fresh if (text := _fresh(s))]
    said += [f"{_name(s)} is dropped" for s in gone if _name(s) not in names and not isinstance(s, sql.Set)]
    sets = [s for s in script.own if isinstance(s, sql.Set)]
    return "; ".join(said + [text for s in sets if (text := _fresh(s))]) or "done"


def _fresh(statement: sql.Statement) -> str:
    match statement:
        case sql.Set(key=str() as key, value=str() as value):
            return f"{key} = {'***' if looks_secret(key) else value}"
        case sql.Use(catalog=catalog, database=database):
            return f"using {'.'.join(part for part in (catalog, database) if part)}"
        case sql.CreateTable() | sql.CreateView() | sql.CreateCatalog() | sql.CreateFunction():
            return f"{_name(statement)} is declared"
        case _:
            return ""


def _name(statement: sql.Statement) -> str:
    if isinstance(statement, Named):
        return f"{KINDS[type(statement)]} {statement.name}"
    return f"function {statement.name}" if isinstance(statement, sql.CreateFunction) else ""
