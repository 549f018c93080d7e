"""From statements to a Program: one dispatch, statement by statement."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from headwater.errors import Place, SqlError
from headwater.options import read_options
from headwater.runtime import answers
from headwater.runtime.catalogs import create_catalog, drop_catalog, use
from headwater.runtime.dead_letters import declare_dead_letters, parks_messages
from headwater.runtime.functions import create_function, drop_function
from headwater.runtime.hidden import Hidden
from headwater.runtime.history import histories
from headwater.runtime.metadata import metadata_of
from headwater.runtime.naming import named, own_name, relation_of, written_out
from headwater.runtime.program import Program, Question, SinkNode, Subscription
from headwater.runtime.recomputing import notes_on_recompute
from headwater.runtime.remembered import Remembered, to_text
from headwater.runtime.results import add_result
from headwater.runtime.scope import Scope
from headwater.runtime.showing import show
from headwater.runtime.versions import computed_of
from headwater.schema import Schema
from headwater.settings import Settings
from headwater.sinks.base import SinkTable
from headwater.sinks.registry import sink_type
from headwater.sources.dead_letters import TABLE as DEAD_LETTERS
from headwater.spark.engine import Engine
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation
from headwater.sql.volatile import refuse_volatile


@dataclass
class Compiler:
    """Takes statements one by one; what they declare stays for the next."""

    scope: Scope
    settings: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)

    def take(self, statement: sql.Statement) -> None:
        """Carry out one statement."""
        before = set(self.scope.results)
        self._carry_out(statement)
        new = [name for name in self.scope.results if name not in before]
        self.said += notes_on_recompute(self.scope, new, self.settings, statement)

    def _carry_out(self, statement: sql.Statement) -> None:
        match statement:
            case sql.Set() | sql.Reset():
                self.said += answers.settings(statement, self.settings)
            case sql.CreateTable():
                _table(self.scope, statement)
            case sql.CreateCatalog():
                create_catalog(self.scope, statement)
            case sql.CreateFunction():
                create_function(self.scope, statement)
            case sql.Use():
                use(self.scope, statement)
            case sql.CreateView():
                _view(self.scope, statement)
            case sql.InsertInto():
                _insert(self.scope, statement)
            case sql.Select():
                name = _free_name(self.scope, "query")
                add_result(self.scope, named(self.scope, statement), name, "query")
            case sql.StatementSet():
                for one in statement.statements:
                    self.take(one)
            case sql.Drop():
                _drop(self.scope, statement)
            case sql.Explain():
                self.said.append(self._explain(statement))
            case sql.Show():
                self.said.append(show(self.scope, statement))
            case sql.Describe():
                relation = relation_of(self.scope, statement.name, statement.place)
                self.said.append(answers.describe(relation, self.scope.types(relation)))
            case sql.StopJob():
                raise _no_jobs(statement)
            case sql.Verify() | sql.Analyze() | sql.Subscribe():
                self._ask(statement)
            case _:
                raise SqlError(
                    f"{type(statement).__name__.upper()} is not a statement of a script",
                    place=statement.place,
                )

    def program(self) -> Program:
        """Everything taken so far."""
        scope = self.scope
        used = {name for view in scope.views.values() for name in view.block.inputs}
        if parks_messages(table for name, table in scope.tables.items() if name in used):
            used.add(DEAD_LETTERS)
        used |= set(histories(table for name, table in scope.tables.items() if name in used))
        return Program(
            read_options(Settings, self.settings, owner="SET", place=None),
            {name: table for name, table in scope.tables.items() if name in used},
            dict(scope.views),
            dict(scope.results),
            tuple(scope.sinks),
            tuple(self.said),
            tuple(self.questions),
            to_text(scope.described, scope.made_with, scope.remembered.with_inserts(scope.inserts)),
            tuple(self.subscriptions),
        )

    def _ask(self, statement: sql.Verify | sql.Analyze | sql.Subscribe) -> None:
        """Note what is asked of a view, or wanted of it, once the pipeline runs."""
        view = self._view(statement)
        match statement:
            case sql.Subscribe():
                self.subscriptions.append(Subscription(view, statement.after))
            case sql.Verify():
                self.questions.append(Question("truth", view))
            case sql.Analyze():
                self.questions.append(Question("cost", view))

    def _view(self, statement: sql.Verify | sql.Analyze | sql.Subscribe) -> str:
        """The name of the result that is meant; what is no result has nothing to be asked."""
        relation = relation_of(self.scope, statement.name, statement.place)
        if relation.name not in self.scope.results:
            raise SqlError(
                f'"{statement.name}" is a {relation.kind}: its rows are what its source says',
                hint="Name a view.",
                place=statement.place,
            )
        return relation.name

    def _explain(self, statement: sql.Explain) -> str:
        """Compile the statement aside, print it, and leave nothing of it behind."""
        aside = Compiler(self.scope.aside(), dict(self.settings))
        aside.take(statement.statement)
        made = [result for name, result in aside.scope.results.items() if name not in self.scope.results]
        return "\n\n".join(answers.explain(result, aside.scope.views, aside.scope.tables) for result in made)


def compile_script(
    script: list[sql.Statement],
    engine: Engine,
    *,
    hidden: Hidden | None = None,
    known_columns: Mapping[str, Schema] | None = None,
    remembered: Remembered | None = None,
) -> Program:
    """The program of a whole script; what its options refer to is hidden."""
    known = (remembered or Remembered()).without_new_readers(script)
    compiler = Compiler(Scope(engine, known_columns or {}, hidden=hidden or Hidden(), remembered=known))
    for statement in script:
        compiler.take(statement)
    return compiler.program()


def _no_jobs(statement: sql.StopJob) -> SqlError:
    hint = "Stop the command that runs it (Ctrl-C); the next start goes on where it stopped."
    return SqlError("a script has no jobs to stop", hint=hint, place=statement.place)


def _table(scope: Scope, statement: sql.CreateTable) -> None:
    statement = replace(statement, name=own_name(scope, statement.name, statement.place))
    if statement.if_not_exists and scope.catalog.find(statement.name):
        return
    _refuse_taken(scope, statement)
    statement = written_out(scope, statement)
    schema = scope.stored_schema(statement)
    computed, moments = computed_of(statement.computed)
    for column in statement.computed:
        if column.name not in moments:
            refuse_volatile(column.expression, _always(column.place or statement.place))
    virtual = tuple(c.name for c in statement.columns or () if c.virtual)
    relation = Relation(statement.name, "table", schema, computed, virtual, moments)
    scope.catalog.add(relation, statement.place)
    scope.declared[statement.name.lower()] = statement
    declare_dead_letters(scope, statement)


def _free_name(scope: Scope, what: str) -> str:
    """The name of a statement that has none: `query_1`, `insert_agg`, `insert_agg_2`."""
    numbered = itertools.chain((what,), (f"{what}_{number}" for number in itertools.count(2)))
    names = numbered if what.startswith("insert_") else (f"{what}_{n}" for n in itertools.count(1))
    return next(n for n in names if _is_free(scope, n) and n not in scope.remembered.reserved)


def _is_free(scope: Scope, name: str) -> bool:
    return name not in scope.results and scope.catalog.find(name) is None


def _name_of_insert(scope: Scope, statement: sql.InsertInto) -> str:
    """The name it had before, whatever was written in front of it since: the sink has its rows under this name."""
    before = scope.remembered.inserts.get(statement.text)
    is_known = before is not None and _is_free(scope, before)
    name = before if before and is_known else _free_name(scope, f"insert_{statement.target}")
    scope.inserts[statement.text] = name
    return name


def _refuse_taken(scope: Scope, statement: sql.CreateTable | sql.CreateView) -> None:
    taken = scope.results.get(statement.name.lower())
    if taken is not None and taken.kind != "view":
        raise SqlError(
            f'"{statement.name}" is the name of a statement above',
            detail="A SELECT is kept as query_1, query_2 and so on, an INSERT as insert_ and its table.",
            hint="Give it another name, or declare it before that statement.",
            place=statement.place,
        )


def _always(place: Place) -> Callable[[object], Place]:
    return lambda _: place


def _view(scope: Scope, statement: sql.CreateView) -> None:
    statement = replace(statement, name=own_name(scope, statement.name, statement.place))
    known = scope.catalog.find(statement.name)
    if known is not None and statement.if_not_exists:
        return
    if known is not None and statement.or_replace:
        _refuse_used(scope, known, statement)
        scope.forget(known.name)
    elif known is not None:
        scope.catalog.add(known, statement.place)  # says that the name is taken
    _refuse_taken(scope, statement)
    result = add_result(scope, named(scope, statement), statement.name, "view")
    scope.catalog.add(Relation(statement.name, "view", result.schema), statement.place)
    scope.declared[statement.name.lower()] = statement


def _insert(scope: Scope, statement: sql.InsertInto) -> None:
    target = relation_of(scope, statement.target, statement.place)
    statement = replace(named(scope, statement), target=target.name)
    declared = scope.declared[target.name.lower()]
    if not isinstance(declared, sql.CreateTable):
        raise SqlError(
            f'"{target.name}" is a view; only tables are written to',
            hint="Declare a table with a connector, and INSERT INTO that.",
            place=statement.place,
        )
    connector = declared.options.get("connector")
    kind = sink_type(connector, declared.place)
    options = scope.options_of(declared, kind.options)
    result = add_result(scope, statement, _name_of_insert(scope, statement), "insert")
    metadata = metadata_of(declared, kind)
    table = SinkTable(
        target.name, target.written, options, result.append_only, declared.place, metadata=metadata
    )
    if result.expires and kind.takes_back(table):
        table = replace(table, append_only=False)
    scope.sinks.append(SinkNode(result.name, str(connector), kind, table))


def _drop(scope: Scope, statement: sql.Drop) -> None:
    if statement.kind == "catalog":
        drop_catalog(scope, statement)
        return
    if statement.kind == "function":
        drop_function(scope, statement)
        return
    name = own_name(scope, statement.name, statement.place)
    if scope.catalog.find(name) is None and statement.if_exists:
        return
    relation = scope.catalog.get(name, statement.place)
    if relation.kind != statement.kind:
        raise SqlError(
            f'"{relation.name}" is a {relation.kind}',
            hint=f"Use DROP {relation.kind.upper()} {relation.name}.",
            place=statement.place,
        )
    _refuse_used(scope, relation, statement)
    scope.forget(relation.name)


def _refuse_used(scope: Scope, relation: Relation, statement: sql.Statement) -> None:
    readers = [result.name for result in scope.results.values() if relation.name in result.reads]
    writers = [node.relation for node in scope.sinks if node.table.name == relation.name]
    if readers or writers:
        raise SqlError(
            f'"{relation.name}" is still used by "{(readers + writers)[0]}"',
            hint="Drop what uses it first.",
            place=statement.place,
        )
