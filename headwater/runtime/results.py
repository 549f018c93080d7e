"""From a query to what keeps its result: bound, planned, cut into blocks, typed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from sqlglot import exp

from headwater.errors import SqlError
from headwater.incremental.batch import query_of, rows_of
from headwater.incremental.block import Block
from headwater.incremental.differentiate import maintained
from headwater.incremental.flatten import Cutter
from headwater.plan.nodes import Alias, Item, Plan, Project, output
from headwater.runtime.assign import check_assignable
from headwater.runtime.functions import refuse_open_functions, used_functions
from headwater.runtime.history import has_limits
from headwater.runtime.program import Result, TableNode, ViewNode, fingerprint, near_schema, sums_schema
from headwater.runtime.scope import Scope
from headwater.schema import Column, Schema, arrow_type, can_keep, sql_type
from headwater.sources.base import only_inserts
from headwater.spark.text import to_text
from headwater.sql import statements as sql
from headwater.sql.bind import Bound, bind
from headwater.sql.catalog import Catalog
from headwater.sql.compared import note_compared
from headwater.sql.grouping import as_spark_reads
from headwater.sql.places import place_of
from headwater.sql.to_plan import to_plan, unique_names

Asking = sql.CreateView | sql.InsertInto | sql.Select
"""The statements that ask for a result."""


def add_result(
    scope: Scope, statement: Asking, name: str, kind: Literal["view", "insert", "query"]
) -> Result:
    """Plan a query and keep its blocks; the result is called by `name`."""
    refuse_open_functions(scope, statement.query, lambda node: place_of(node, statement))
    catalog = scope.remembered.catalog_for(statement.text, scope.catalog)
    bound = bind(statement.query, catalog, lambda node: place_of(node, statement))
    _note_columns(scope, statement, catalog, bound)
    for read in bound.relations:
        scope.read_table(read, statement.place)
    query = as_spark_reads(bound.query)
    numbered = _renamed(query, tuple(f"c{i}" for i in range(len(bound.columns))))
    schema = _schema(_labels(statement, bound), scope.analyse(numbered, statement), statement)
    note_compared(bound.query, scope.analyser(statement))
    plan: Plan = to_plan(bound, catalog)
    if isinstance(statement, sql.InsertInto):
        items = _assigned(scope, statement, plan, schema)
        schema = scope.catalog.get(statement.target, statement.place).written
        plan, query = Project(Alias(plan, "q"), items), _assigning(query, output(plan), items)
    elif isinstance(statement, sql.CreateView) and statement.columns:
        plan = _called(plan, schema.names)
    nodes = _store(scope, plan, name, schema, statement)
    result = Result(
        name=name,
        kind=kind,
        schema=schema,
        plan=plan,
        query_text=to_text(query),
        reads=bound.relations,
        nodes=tuple(node.name for node in nodes),
        append_only=_only_inserts(scope, bound, nodes),
        expires=any(_expires(scope, name) for name in bound.relations),
    )
    scope.results[name] = result
    return result


def _note_columns(scope: Scope, statement: Asking, catalog: Catalog, bound: Bound) -> None:
    """Write down what the statement sees of tables without a column list."""
    seen = {n: catalog.get(n, statement.place).schema.names for n in bound.relations if n in scope.described}
    scope.made_with[statement.text] = {**scope.made_with.get(statement.text, {}), **seen}


def _called(plan: Plan, names: tuple[str, ...]) -> Plan:
    """The plan with columns that are called as in State: rules read there what a block gave before."""
    given = zip((name.lower() for name in names), output(plan), strict=True)
    return Project(Alias(plan, "q"), tuple(Item(name, exp.column(old, table="q")) for name, old in given))


def _labels(statement: Asking, bound: Bound) -> tuple[str, ...]:
    """The names of the result's columns: as the user wrote them, each once."""
    renamed = statement.columns if isinstance(statement, sql.CreateView) else ()
    if renamed and len(renamed) != len(bound.columns):
        raise SqlError(
            f"the view names {len(renamed)} columns, its query has {len(bound.columns)}",
            detail=f"The query's columns are {', '.join(bound.columns)}.",
            place=statement.place,
        )
    labels = renamed or bound.columns
    repeated = [n for i, n in enumerate(labels) if n.lower() in (other.lower() for other in labels[:i])]
    if repeated and isinstance(statement, sql.CreateView):
        raise SqlError(
            f'the view has two columns named "{repeated[0]}"',
            hint=f"Rename one with AS: SELECT ... AS {repeated[0]}_2.",
            place=statement.place,
        )
    return unique_names(labels)


def _assigned(scope: Scope, statement: sql.InsertInto, plan: Plan, schema: Schema) -> tuple[Item, ...]:
    """The columns of an INSERT's target: by position, each cast to its type, the missing ones NULL."""
    target = scope.catalog.get(statement.target, statement.place)
    wanted = check_assignable(statement, schema, target)
    given = dict(zip((c.name.lower() for c in wanted), output(plan), strict=True))
    types = dict(zip(output(plan), (column.type for column in schema), strict=True))
    items = []
    for column in target.written:
        source = given.get(column.name.lower())
        value: exp.Expr = exp.column(source, table="q") if source else exp.Null()
        if source is None or types[source] != column.type:
            value = exp.cast(value, sql_type(column.type), dialect="spark")
        items.append(Item(column.name.lower(), value))
    return tuple(items)


def _assigning(query: exp.Query, names: tuple[str, ...], items: tuple[Item, ...]) -> exp.Query:
    """`SELECT CAST(q.a AS ...) FROM (query) AS q(a, ...)`."""
    chosen = [exp.alias_(item.expression.copy(), item.name) for item in items]
    whole = _renamed(query, names)
    whole.set("expressions", chosen)
    return whole


def _store(scope: Scope, plan: Plan, name: str, schema: Schema, statement: Asking) -> list[ViewNode]:
    """Add the blocks that keep a plan's result; the last one is the result itself."""
    nodes: list[ViewNode] = []
    analyse = scope.analyser(statement)

    def keep(block: Block) -> None:
        # What computed columns call is written elsewhere, and may not be asked for.
        refuse_open_functions(scope, query_of(block), lambda _: statement.place)
        origin = _origin(scope, block)
        keys = {relation: s.key for relation, s in scope.schemas().items() if s.key}
        node = maintained(block, keys, analyse)
        block = node.block
        if block.name == name:
            kept = schema
        else:
            kept = _inside(zip(block.columns, analyse(query_of(block)).values(), strict=True), statement)
        core_types = analyse(rows_of(block)) if node.measures is not None else {}
        made_from = fingerprint("view", to_text(query_of(block)), kept.to_json(), *origin[1:])
        beside = sums_schema(node, core_types) or near_schema(block, scope.schemas())
        _inside(((c.name, c.type) for c in beside or ()), statement)
        made = ViewNode(block.name, kept, node, made_from, beside)
        scope.views[block.name] = made
        nodes.append(made)

    def store(block: Block) -> str:
        origin = _origin(scope, block)
        part = scope.parts.get(origin)
        if part is None:
            # A view that was dropped may have left a part of its name to others.
            names = (f"{name}__part{number}" for number in itertools.count(1))
            taken = {other.lower() for other in scope.views}
            part = next(free for free in names if free.lower() not in taken)
            keep(replace(block, name=part))
            scope.parts[origin] = part
        elif scope.views[part] not in nodes:
            nodes.append(scope.views[part])
        return part

    keep(Cutter(name, store, lambda relation: scope.schemas()[relation], analyse).cut(plan))
    return nodes


def _origin(scope: Scope, block: Block) -> tuple[str, ...]:
    """What the rows of a block come from: its query, what the relations it reads come from, the functions it calls."""
    query = query_of(block)
    inputs = (scope.fingerprint(relation) for relation in block.inputs)
    return (to_text(query), *inputs, *map(str, used_functions(scope, query)))


def _only_inserts(scope: Scope, bound: Bound, nodes: list[ViewNode]) -> bool:
    """True if no row of the result ever goes: every table only inserts, and no block takes rows back."""
    tables = (
        _table_only_inserts(scope.tables[n]) if n in scope.tables else scope.results[n].append_only
        for n in bound.relations
    )
    return all(tables) and all(_only_adds(v.block) for v in nodes)


def _only_adds(block: Block) -> bool:
    """True if more rows of what a block reads never let a row of it go."""
    return bool(block.cores) and block.group is None


def _expires(scope: Scope, name: str) -> bool:
    """True if rows of a relation may go because they are not kept."""
    return has_limits(scope.tables[name]) if name in scope.tables else scope.results[name].expires


def _table_only_inserts(table: TableNode) -> bool:
    return only_inserts(table.type, table.table.options)


def _schema(labels: tuple[str, ...], types: Mapping[str, str], statement: Asking) -> Schema:
    """Columns and types of what is kept; a type that cannot be kept is an error now, not at the first row."""
    columns = tuple(Column(n, t) for n, t in zip(labels, types.values(), strict=True))
    for column in columns:
        try:
            arrow_type(column.type)
        except ValueError:
            raise SqlError(
                f'column "{column.name}" is of type {column.type}, which cannot be kept',
                hint=f"CAST it in the query, for example to STRING: CAST(... AS STRING) AS {column.name}.",
                place=statement.place,
            ) from None
    return Schema(columns)


def _inside(columns: Iterable[tuple[str, str]], statement: Asking) -> Schema:
    """Columns and types of what is kept for a result without being shown; the user knows no names of these."""
    made = tuple(Column(name, kind) for name, kind in columns)
    for column in made:
        if not can_keep(column.type):
            raise SqlError(
                f"a value of type {column.type} has to be kept inside of the query, which cannot be done",
                hint="CAST it where it is made, for example to STRING.",
                place=statement.place,
            )
    return Schema(made)


def _renamed(query: exp.Query, names: tuple[str, ...]) -> exp.Select:
    """`SELECT * FROM (query) AS q(a, ...)`: the same rows with columns of these names."""
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=[exp.to_identifier(n) for n in names])
    return exp.select("*").from_(exp.Subquery(this=query.copy(), alias=alias))
