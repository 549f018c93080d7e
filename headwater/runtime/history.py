"""CHANGES(t) in a script: the history of a relation is a relation too, there as soon as somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from headwater.errors import Place
from headwater.plan.walk import rename
from headwater.runtime.program import TableNode, fingerprint
from headwater.runtime.scope import Scope
from headwater.sources.base import SourceTable
from headwater.sources.history import HISTORY, HistoryOptions
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation
from headwater.sql.history import query_of
from headwater.sql.history_calls import CHANGES, Asked
from headwater.tables.history import history_schema


def ask(scope: Scope, table: exp.Table, asked: Asked, *, of: Relation, place: Place) -> None:
    """Put the history of a relation into a query, where it was asked for."""
    name = _declared(scope, of, HistoryOptions(of.name, asked.seconds, asked.rows), place)
    if asked.form == CHANGES:
        alias = table.alias or "changes"
        rename(table, name)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        return
    inner = exp.Table(this=exp.to_identifier(name, quoted=True))
    alias = table.alias or "changes"
    table.replace(query_of(asked, of.schema, inner, place=place).subquery(alias, copy=False))


def _declared(scope: Scope, of: Relation, options: HistoryOptions, place: Place) -> str:
    """The name of a relation's history, which is made known if it is not yet."""
    name = f"changes of {of.name}{_limits(options)}"
    if scope.catalog.find(name) is not None:
        return name
    scope.read_table(of.name, place)
    schema = history_schema(of.schema)
    scope.catalog.add(Relation(name, "table", schema), place)
    made_from = fingerprint("history", scope.fingerprint(of.name), schema.to_json(), _limits(options))
    scope.tables[name] = TableNode(
        name, schema, "headwater", HISTORY, SourceTable(name, schema, options), made_from
    )
    columns = tuple(sql.ColumnDef(column.name, column.type) for column in schema)
    scope.declared[name.lower()] = sql.CreateTable(name, columns, place=place, text="")
    return name


def _limits(options: HistoryOptions) -> str:
    """Each way to keep a history is a relation of its own."""
    time = "" if options.seconds is None else f" for {options.seconds:.15g} s"
    return time + ("" if options.rows is None else f" up to {options.rows}")


def has_limits(node: TableNode) -> bool:
    """True if a table is a history of which not everything is kept."""
    options = node.table.options
    return isinstance(options, HistoryOptions) and (options.seconds, options.rows) != (None, None)


def histories(tables: Iterable[TableNode]) -> Mapping[str, tuple[TableNode, ...]]:
    """The relations whose history is kept, and the tables that keep it."""
    found: dict[str, tuple[TableNode, ...]] = {}
    for node in tables:
        if isinstance(node.table.options, HistoryOptions):
            relation = node.table.options.relation
            found[relation] = (*found.get(relation, ()), node)
    return found
