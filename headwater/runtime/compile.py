"""From statements to a Program: declare, bind, plan, cut into blocks, type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.errors import PySparkException
from sqlglot import exp

from headwater.errors import HeadwaterError, Place, SqlError
from headwater.incremental.batch import query_of, query_of_core
from headwater.incremental.differentiate import maintained
from headwater.incremental.flatten import flatten
from headwater.options import read_options
from headwater.plan.nodes import Alias, Item, Plan, Project, output
from headwater.runtime import answers
from headwater.runtime.assign import check_assignable
from headwater.runtime.program import (
    Program,
    Result,
    SinkNode,
    TableNode,
    ViewNode,
    fingerprint,
    sums_schema,
)
from headwater.schema import Column, Schema
from headwater.settings import Settings
from headwater.sinks.base import SinkTable
from headwater.sinks.registry import sink_type
from headwater.sources.base import SourceTable
from headwater.sources.registry import source_type
from headwater.spark.engine import Engine
from headwater.spark.problems import as_sql_error
from headwater.spark.text import to_text
from headwater.sql import statements as sql
from headwater.sql.bind import Bound, bind
from headwater.sql.catalog import Catalog, Computed, Relation
from headwater.sql.interpolate import resolve
from headwater.sql.places import place_of
from headwater.sql.to_plan import to_plan, unique_names


@dataclass
class Compiler:
    """Takes statements one by one; what they declare stays for the next."""

    engine: Engine
    settings: dict[str, str] = field(default_factory=dict)
    known_columns: Mapping[str, Schema] = field(default_factory=dict)
    """Columns of tables declared without a list, where they are known and the source is not to be asked."""
    catalog: Catalog = field(default_factory=Catalog)
    declared: dict[str, sql.CreateTable | sql.CreateView] = field(default_factory=dict)
    tables: dict[str, TableNode] = field(default_factory=dict)
    views: dict[str, ViewNode] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    sinks: list[SinkNode] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def take(self, statement: sql.Statement) -> None:
        """Carry out one statement."""
        match statement:
            case sql.Set() | sql.Reset():
                self.said += answers.settings(statement, self.settings)
            case sql.CreateTable():
                self._table(statement)
            case sql.CreateView():
                self._view(statement)
            case sql.InsertInto():
                self._insert(statement)
            case sql.Select():
                name = f"query_{sum(r.kind == 'query' for r in self.results.values()) + 1}"
                self._result(statement, statement.query, name, "query")
            case sql.StatementSet():
                for one in statement.statements:
                    self.take(one)
            case sql.Drop():
                self._drop(statement)
            case sql.Explain():
                self.said.append(self._explain(statement))
            case sql.Show():
                self.said.append(answers.show(statement, self.catalog, self.declared))
            case sql.Describe():
                relation = self.catalog.get(statement.name, statement.place)
                self.said.append(answers.describe(relation, self._types(relation)))
            case _:
                raise SqlError(
                    f"{type(statement).__name__.upper()} is not a statement of a script",
                    hint="On the command line, headwater verify --state DIR recomputes and compares.",
                    place=statement.place,
                )

    def program(self) -> Program:
        """Everything taken so far."""
        used = {name for view in self.views.values() for name in view.block.inputs}
        return Program(
            read_options(Settings, self.settings, owner="SET", place=None),
            {name: table for name, table in self.tables.items() if name in used},
            dict(self.views),
            dict(self.results),
            tuple(self.sinks),
            tuple(self.said),
        )

    def _table(self, statement: sql.CreateTable) -> None:
        if statement.if_not_exists and self.catalog.find(statement.name):
            return
        schema = self._declared_schema(statement)
        computed = tuple(Computed(c.name, c.expression, c.index) for c in statement.computed)
        self.catalog.add(Relation(statement.name, "table", schema, computed), statement.place)
        self.declared[statement.name.lower()] = statement

    def _declared_schema(self, statement: sql.CreateTable) -> Schema:
        if statement.columns is not None:
            return Schema(tuple(Column(c.name, c.type) for c in statement.columns), statement.key)
        known = self.known_columns.get(statement.name)
        if known is not None:
            return known
        kind = source_type(statement.options.get("connector"), statement.place)
        described = kind.describe(_options(statement, kind.options))
        return replace(described, key=statement.key or described.key)

    def _source(self, name: str, place: Place) -> None:
        """Make sure that a table which a query names can be read."""
        statement = self.declared.get(name.lower())
        if not isinstance(statement, sql.CreateTable) or name in self.tables:
            return
        connector = statement.options.get("connector")
        kind = source_type(connector, statement.place)
        relation = self.catalog.get(name, place)
        options = _options(statement, kind.options)
        table = SourceTable(name, relation.schema, options, statement.place)
        made_from = fingerprint(
            "table", relation.schema.to_json(), connector, kind.group(options), repr(options)
        )
        self.tables[name] = TableNode(name, relation.schema, str(connector), kind, table, made_from)

    def _view(self, statement: sql.CreateView) -> None:
        known = self.catalog.find(statement.name)
        if known is not None and statement.if_not_exists:
            return
        if known is not None and statement.or_replace:
            self._forget(statement.name)
        result = self._result(statement, statement.query, statement.name, "view")
        self.catalog.add(Relation(statement.name, "view", result.schema), statement.place)
        self.declared[statement.name.lower()] = statement

    def _insert(self, statement: sql.InsertInto) -> None:
        target = self.catalog.get(statement.target, statement.place)
        declared = self.declared[target.name.lower()]
        if not isinstance(declared, sql.CreateTable):
            raise SqlError(
                f'"{target.name}" is a view; only tables are written to',
                hint="Declare a table with a connector, and INSERT INTO that.",
                place=statement.place,
            )
        connector = declared.options.get("connector")
        kind = sink_type(connector, declared.place)
        options = _options(declared, kind.options)
        number = sum(node.table.name == target.name for node in self.sinks)
        name = f"insert_{target.name}" + (f"_{number + 1}" if number else "")
        result = self._result(statement, statement.query, name, "insert")
        table = SinkTable(target.name, target.schema, options, result.append_only, declared.place)
        self.sinks.append(SinkNode(result.name, str(connector), kind, table))

    def _result(self, statement: sql.Statement, query: exp.Query, name: str, kind: Any) -> Result:
        bound = bind(query, self.catalog, lambda node: place_of(node, statement))
        for read in bound.relations:
            self._source(read, statement.place)
        types = self._analyse(bound.query, statement)
        labels = self._labels(statement, bound)
        plan, schema, whole = to_plan(bound, self.catalog), _schema(labels, types), bound.query
        if isinstance(statement, sql.InsertInto):
            items, schema = (
                self._assigned(statement, plan, schema),
                self.catalog.get(statement.target, None).schema,
            )
            chosen = [exp.alias_(item.expression.copy(), item.name) for item in items]
            columns = [exp.to_identifier(n) for n in output(plan)]
            names = exp.TableAlias(this=exp.to_identifier("q"), columns=columns)
            plan = Project(Alias(plan, "q"), items)
            whole = exp.select(*chosen).from_(exp.Subquery(this=bound.query.copy(), alias=names))
        nodes = self._store(plan, name, schema, statement)
        is_insert_only = all(
            self.tables[n].type.append_only if n in self.tables else self.results[n].append_only
            for n in bound.relations
        ) and all(v.block.opaque is None and v.block.group is None for v in nodes)
        result = Result(
            name=name,
            kind=kind,
            schema=schema,
            plan=plan,
            query_text=to_text(whole),
            reads=bound.relations,
            nodes=tuple(node.name for node in nodes),
            append_only=is_insert_only,
        )
        self.results[name] = result
        return result

    def _labels(self, statement: sql.Statement, bound: Bound) -> tuple[str, ...]:
        renamed = statement.columns if isinstance(statement, sql.CreateView) else ()
        if renamed and len(renamed) != len(bound.columns):
            raise SqlError(
                f"the view names {len(renamed)} columns, its query has {len(bound.columns)}",
                detail=f"The query's columns are {', '.join(bound.columns)}.",
                place=statement.place,
            )
        labels = renamed or bound.columns
        repeated = [n for i, n in enumerate(labels) if n.lower() in (o.lower() for o in labels[:i])]
        if repeated and isinstance(statement, sql.CreateView):
            raise SqlError(
                f'the view has two columns named "{repeated[0]}"',
                hint=f"Rename one with AS: SELECT ... AS {repeated[0]}_2.",
                place=statement.place,
            )
        return unique_names(labels)

    def _assigned(self, statement: sql.InsertInto, plan: Plan, schema: Schema) -> tuple[Item, ...]:
        """The columns of an INSERT's target: by position, each cast to its type, the missing ones NULL."""
        target = self.catalog.get(statement.target, statement.place)
        wanted = check_assignable(statement, schema, target)
        given = dict(zip((c.name.lower() for c in wanted), output(plan), strict=True))
        items = []
        for column in target.schema:
            source = given.get(column.name.lower())
            value = exp.column(source, table="q") if source else exp.Null()
            items.append(Item(column.name.lower(), exp.cast(value, _sql_type(column.type), dialect="spark")))
        return tuple(items)

    def _store(self, plan: Plan, name: str, schema: Schema, statement: sql.Statement) -> list[ViewNode]:
        nodes: list[ViewNode] = []
        analyse = self._analyser(statement)
        for block in flatten(plan, name):
            keys = {n: s.key for n, s in self._schemas().items() if s.key}
            node = maintained(block, keys, analyse)
            kept = schema if block.name == name else _schema(block.columns, analyse(query_of(block)))
            core_types = analyse(query_of_core(block.cores[0])) if block.cores else {}
            text = to_text(query_of(block))
            inputs = [self._fingerprint(n) for n in block.inputs]
            made = ViewNode(
                block.name,
                kept,
                node,
                fingerprint("view", text, kept.to_json(), *inputs),
                sums_schema(node, core_types),
            )
            self.views[block.name] = made
            nodes.append(made)
        return nodes

    def _fingerprint(self, name: str) -> str:
        return (self.tables.get(name) or self.views[name]).fingerprint

    def _schemas(self) -> dict[str, Schema]:
        known = {relation.name: relation.schema for relation in self.catalog}
        return known | {name: view.schema for name, view in self.views.items()}

    def _analyser(self, statement: sql.Statement) -> Callable[[exp.Query], Mapping[str, str]]:
        return lambda query: self._analyse(query, statement)

    def _analyse(self, query: exp.Query, statement: sql.Statement) -> dict[str, str]:
        named = {".".join(p.name for p in t.parts).lower() for t in query.find_all(exp.Table)}
        schemas = {n: s for n, s in self._schemas().items() if n.lower() in named}
        try:
            return self.engine.analyse(schemas, query)
        except PySparkException as problem:
            functions = [f.name for f in self.engine.spark.catalog.listFunctions()]
            raise as_sql_error(problem, functions, _place_of_call(problem, statement)) from None

    def _types(self, relation: Relation) -> list[tuple[str, str]]:
        if not relation.computed:
            return [(c.name, c.type) for c in relation.schema]
        whole = exp.select("*").from_(exp.to_table(relation.name, dialect="spark"))
        statement = self.declared[relation.name.lower()]
        types = self._analyse(bind(whole, self.catalog, lambda _: statement.place).query, statement)
        return list(zip(relation.columns, types.values(), strict=True))

    def _explain(self, statement: sql.Explain) -> str:
        """Compile the statement aside, print it, and leave nothing of it behind."""
        aside = Compiler(self.engine, dict(self.settings), self.known_columns)
        aside.catalog = Catalog({r.name.lower(): r for r in self.catalog})
        aside.declared, aside.tables = dict(self.declared), dict(self.tables)
        aside.views, aside.results = dict(self.views), dict(self.results)
        aside.take(statement.statement)
        made = [result for name, result in aside.results.items() if name not in self.results]
        return "\n\n".join(answers.explain(result, aside.views) for result in made)

    def _drop(self, statement: sql.Drop) -> None:
        relation = self.catalog.find(statement.name)
        if relation is None and statement.if_exists:
            return
        relation = self.catalog.get(statement.name, statement.place)
        if relation.kind != statement.kind:
            raise SqlError(
                f'"{relation.name}" is a {relation.kind}',
                hint=f"Use DROP {relation.kind.upper()} {relation.name}.",
                place=statement.place,
            )
        readers = [r.name for r in self.results.values() if relation.name in r.reads]
        writers = [node.relation for node in self.sinks if node.table.name == relation.name]
        if readers or writers:
            raise SqlError(
                f'"{relation.name}" is still used by "{(readers + writers)[0]}"',
                hint="Drop what uses it first.",
                place=statement.place,
            )
        self._forget(relation.name)

    def _forget(self, name: str) -> None:
        self.catalog.drop(name)
        self.declared.pop(name.lower(), None)
        self.tables.pop(name, None)
        result = self.results.pop(name, None)
        for node in result.nodes if result is not None else ():
            self.views.pop(node, None)


def compile_script(
    script: list[sql.Statement], engine: Engine, *, known_columns: Mapping[str, Schema] | None = None
) -> Program:
    """The program of a whole script."""
    compiler = Compiler(engine, known_columns=known_columns or {})
    for statement in script:
        compiler.take(statement)
    return compiler.program()


def _options(statement: sql.CreateTable, kind: type) -> Any:
    given = {k: v for k, v in statement.options.items() if k != "connector"}
    owner = f"connector '{statement.options.get('connector')}'"
    resolved = resolve(given, statement.place)
    try:
        return read_options(kind, resolved, owner=owner, place=statement.place)
    except HeadwaterError as problem:
        named = next((n for n in given if f"'{n}'" in problem.message), None)
        problem.place = statement.option_places.get(named or "", problem.place or statement.place)
        raise


def _schema(labels: tuple[str, ...], types: Mapping[str, str]) -> Schema:
    return Schema(tuple(Column(n, t) for n, t in zip(labels, types.values(), strict=True)))


def _sql_type(kind: str) -> str:
    return "timestamp_ltz" if kind == "timestamp" else kind


def _place_of_call(problem: PySparkException, statement: sql.Statement) -> Place:
    """The place of the function that Spark does not know, else of the statement."""
    name = (problem.getMessageParameters() or {}).get("routineName", "").strip("`").lower()
    query = getattr(statement, "query", None)
    calls = query.find_all(exp.Anonymous) if name and query is not None else ()
    return place_of(next((call for call in calls if call.name.lower() == name), None), statement)
