"""Bind a query: every table known, every column qualified, stars and USING written out.

>>> bind(parse_one("SELECT Total FROM orders"), catalog, where).query.sql()
'SELECT orders.total AS total FROM orders AS orders'
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from headwater.errors import SqlError
from headwater.nearest import nearest
from headwater.plan.walk import relations_of, table_name
from headwater.sql.catalog import Catalog, Relation
from headwater.sql.ctes import name_ctes_apart
from headwater.sql.functions.kinds import Types, columns_of, note_types
from headwater.sql.functions.trees import WrongCall
from headwater.sql.functions.typed import with_kinds
from headwater.sql.pivots import write_out_pivots
from headwater.sql.quantified import write_out_quantified
from headwater.sql.short_forms import (
    keep_field_names,
    name_constants,
    name_given,
    name_laterals,
    write_out_groups,
    write_out_ranges,
    write_out_windows,
)
from headwater.sql.stars import write_out_rows, write_out_stars
from headwater.sql.ties import decide_ties
from headwater.sql.using import join_on_shared, note_using, write_out_using
from headwater.sql.volatile import Where, refuse_volatile


@dataclass(frozen=True)
class Bound:
    """A qualified query, its output columns as the user wrote them, and the relations it reads."""

    query: exp.Query
    columns: tuple[str, ...]
    relations: tuple[str, ...]


def bind(query: exp.Query, catalog: Catalog, where: Where) -> Bound:
    """Qualify a query against the catalog, or raise an SqlError that says what is wrong and where."""
    refuse_volatile(query, where)
    try:
        named = _check_tables(query, catalog, where)
    except OptimizeError as problem:
        raise SqlError("the query cannot be bound", detail=f"{problem}.", place=where(None)) from None
    expanded = _write_out_computed(query.copy(), catalog)
    write_out_rows(expanded, named)
    write_out_ranges(expanded)
    name_given(expanded)
    name_laterals(expanded)
    write_out_windows(expanded)
    name_constants(expanded)
    keep_field_names(expanded)
    described = {relation.name: dict.fromkeys(relation.schema.names, "string") for relation in named}
    schema = MappingSchema({_quoted(name): columns for name, columns in described.items()}, dialect="spark")
    type_of = _type_in(named)
    try:
        write_out_pivots(expanded, lambda source: _types(_qualified(source, schema), type_of))
        write_out_using(expanded, lambda query: _qualified(query, schema))
        note_using(expanded)
        qualified = _qualified(expanded, schema)
    except OptimizeError as problem:
        raise _from_optimizer(problem, query, named, where) from None
    except WrongCall as problem:
        raise SqlError(problem.message, hint=problem.hint, place=where(problem.node)) from None
    name_ctes_apart(qualified)
    join_on_shared(qualified)
    write_out_stars(qualified, named)
    write_out_groups(qualified)
    write_out_quantified(qualified)
    _check_columns(qualified, named, where)
    _settle_kinds(qualified, type_of, where)
    note_types(qualified, type_of)
    decide_ties(qualified, named)
    return Bound(qualified, _labels(query, qualified, named), tuple(r.name for r in named))


def _qualified(query: exp.Query, schema: MappingSchema) -> exp.Query:
    made = qualify(
        query,
        dialect="spark",
        schema=schema,
        validate_qualify_columns=False,
        quote_identifiers=False,
        identify=False,
    )
    assert isinstance(made, exp.Query)
    return made


def _type_in(named: list[Relation]) -> Types:
    """Tells the type of a column of a relation."""
    schemas = {relation.name.lower(): relation.schema for relation in named}

    def type_of(relation: str, name: str) -> str | None:
        schema = schemas.get(relation.lower())
        column = schema.find(name) if schema is not None else None
        return column.type if column is not None else None

    return type_of


def _types(query: exp.Query, type_of: Types) -> dict[str, exp.DataType | None]:
    """The output columns of a bound query, and their types as far as they are known."""
    columns = columns_of(query, type_of)
    return {item.alias_or_name: columns.get(id(item.unalias())) for item in query.selects}


def _settle_kinds(query: exp.Query, type_of: Types, where: Where) -> None:
    """Write out the calls that depend on the kind of their argument, now that every column is known."""
    try:
        with_kinds(query, type_of)
    except WrongCall as problem:
        raise SqlError(problem.message, hint=problem.hint, place=where(problem.node)) from None


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted="." in name).sql(dialect="spark")


def _check_tables(query: exp.Query, catalog: Catalog, where: Where) -> list[Relation]:
    found = [catalog.get(table_name(t), where(t.this)) for t in relations_of(query)]
    return list(dict.fromkeys(found))


def _write_out_computed(query: exp.Query, catalog: Catalog) -> exp.Query:
    """Tables with computed columns, or columns that FROM t AS x(a, b) names anew, as queries."""
    for table in relations_of(query):
        relation = catalog.find(table_name(table))
        alias = table.args.get("alias")
        called = [column.name for column in alias.columns] if alias is not None else []
        if relation is None or not (relation.computed or called):
            continue
        if len(called) != len(relation.columns):
            called = []  # a name that is used is said to be none
        by_name = {column.name: column.expression for column in relation.computed}
        items = [
            exp.alias_(by_name[name].copy() if name in by_name else exp.column(name), label)
            for name, label in zip(relation.columns, called or relation.columns, strict=True)
        ]
        bare = exp.Table(this=exp.to_identifier(relation.name, quoted="." in relation.name))
        made = exp.select(*items).from_(bare).subquery(table.alias_or_name, copy=False)
        for clause in ("pivots", "joins", "laterals"):
            made.set(clause, table.args.get(clause))
        table.replace(made)
    return query


def _from_optimizer(
    problem: OptimizeError, query: exp.Query, named: list[Relation], where: Where
) -> SqlError:
    for column in query.find_all(exp.Column):
        if column.name and f"column: {column.name.lower()}" in str(problem).lower():
            meant = {t.alias_or_name.lower(): table_name(t).lower() for t in relations_of(query)}
            owner = [r for r in named if r.name.lower() == meant.get(column.table.lower())]
            sources = [(str(r.kind), r.name, list(r.columns)) for r in owner or named]
            return _unknown_column(column, sources, where)
    return SqlError("the query cannot be bound", detail=str(problem), place=where(None))


def _check_columns(query: exp.Query, named: list[Relation], where: Where) -> None:
    kinds = {relation.name.lower(): relation for relation in named}
    for scope in traverse_scope(query):
        chosen = scope.expression.selects if isinstance(scope.expression, exp.Query) else []
        aliases = {item.alias for item in chosen if item.alias}
        for column in scope.columns:
            is_late = column.find_ancestor(exp.Order, exp.Having, exp.Qualify, exp.Select)
            if not column.table and column.name in aliases and not isinstance(is_late, exp.Select):
                continue  # ORDER BY, HAVING and QUALIFY may name an output column
            sources = _columns_by_source(scope, kinds)
            if column.table and column.name in sources.get(column.table, ("", "", []))[2]:
                continue
            holders = [s for s, (_, _, names) in sources.items() if column.name in names]
            if not column.table and len(holders) > 1:
                raise SqlError(
                    f'column "{column.name}" is ambiguous',
                    detail=f"It is a column of {' and of '.join(holders)}.",
                    hint=f"Write {holders[0]}.{column.name} or {holders[1]}.{column.name}.",
                    place=where(column.this),
                )
            near = [sources[column.table]] if column.table in sources else list(sources.values())
            raise _unknown_column(column, near, where)


def _columns_by_source(scope: Scope, kinds: dict[str, Relation]) -> dict[str, tuple[str, str, list[str]]]:
    """For each name in the FROM clauses a scope sees: what it is, its name, its columns in lower case."""
    seen: dict[str, tuple[str, str, list[str]]] = {}
    outer: Scope | None = scope
    while outer is not None:
        for alias, source in outer.sources.items():
            if isinstance(source, exp.Table):
                relation = kinds.get(table_name(source).lower())
                columns = [name.lower() for name in relation.columns] if relation else []
                seen.setdefault(alias, (relation.kind if relation else "table", table_name(source), columns))
            elif isinstance(source, Scope) and isinstance(source.expression, exp.Query | exp.UDTF):
                columns = [column.alias_or_name.lower() for column in source.expression.selects]
                seen.setdefault(alias, ("query", alias, columns))
        outer = outer.parent
    return seen


def _unknown_column(column: exp.Column, sources: list[tuple[str, str, list[str]]], where: Where) -> SqlError:
    known = [name for _, _, columns in sources for name in columns]
    near = nearest(column.name, known, cutoff=0.6)
    listed = f"The columns are {', '.join(known)}."
    owner = f' in {sources[0][0]} "{sources[0][1]}"' if len(sources) == 1 else ""
    return SqlError(
        f'column "{column.name}" does not exist{owner}',
        detail=listed if near else "",
        hint=f'Did you mean "{near}"?' if near else listed,
        place=where(column.this),
    )


def _labels(written: exp.Query, qualified: exp.Query, named: list[Relation]) -> tuple[str, ...]:
    """Output names in the user's own spelling: binding puts everything in lower case."""
    spelt = {name.lower(): name for relation in named for name in relation.columns}
    for item in written.selects:
        if isinstance(item, exp.Alias):
            spelt[item.alias.lower()] = item.alias
    return tuple(spelt.get(name.lower(), name) for name in qualified.named_selects)
