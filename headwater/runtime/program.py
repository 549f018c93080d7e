"""A compiled script: what is read, what is kept, what is written, in the order in which it is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from headwater.incremental.block import Block
from headwater.incremental.change_plan import sums_relation
from headwater.incremental.differentiate import Maintained
from headwater.plan.nodes import Plan
from headwater.schema import Column, Schema
from headwater.settings import Settings
from headwater.sinks.base import SinkTable, SinkType
from headwater.sources.base import SourceTable, SourceType
from headwater.sources.history import HISTORY


@dataclass(frozen=True)
class TableNode:
    """A table that is read: how its source sees it and by which connector."""

    name: str
    schema: Schema
    connector: str
    type: SourceType
    table: SourceTable
    fingerprint: str

    @property
    def source(self) -> str:
        """The name of the source that delivers it: tables that share a position share it."""
        return f"{self.connector} {self.type.group(self.table.options)}"


@dataclass(frozen=True)
class ViewNode:
    """A stored relation that is computed: a block, its schema, and what it was made from."""

    name: str
    schema: Schema
    maintained: Maintained
    fingerprint: str
    sums_schema: Schema | None = None
    """What is kept beside the result: partial sums, or the rows next to the first ones."""

    @property
    def block(self) -> Block:
        """Its block."""
        return self.maintained.block


@dataclass(frozen=True)
class Result:
    """What a user asked for by name: a view, an INSERT INTO or a live SELECT, with its plan and its own query."""

    name: str
    kind: Literal["view", "insert", "query"]
    schema: Schema
    plan: Plan
    query_text: str
    """The bound query, to be run from nothing over the relations it names."""
    reads: tuple[str, ...]
    nodes: tuple[str, ...]
    """The stored relations that keep it, hidden ones first, its own last."""
    append_only: bool = False
    """True if no row of it ever goes, but for what is not kept of a history."""
    expires: bool = False
    """True if it reads a history of which not everything is kept."""


@dataclass(frozen=True)
class SinkNode:
    """An INSERT INTO: the relation whose changes go to a table of a sink."""

    relation: str
    connector: str
    type: SinkType
    table: SinkTable

    @property
    def sink(self) -> str:
        """The name of the sink that writes it: tables that commit together share it."""
        return f"{self.type.family or self.connector} {self.type.group(self.table.options)}"


@dataclass(frozen=True)
class Function:
    """A Python function that SQL may call, and what it was made from."""

    name: str
    path: str
    type: str
    is_deterministic: bool
    source: str


@dataclass(frozen=True)
class Question:
    """What only a pipeline that runs can answer: is a result true, what did its last step cost."""

    about: Literal["truth", "cost"]
    result: str


@dataclass(frozen=True)
class Subscription:
    """A view whose changes are to be shown: from its rows on, or from a cut on."""

    view: str
    after: str | None = None


@dataclass(frozen=True)
class Program:
    """Everything a script declares."""

    settings: Settings
    tables: Mapping[str, TableNode]
    views: Mapping[str, ViewNode]
    results: Mapping[str, Result]
    sinks: tuple[SinkNode, ...]
    answers: tuple[str, ...] = ()
    """What EXPLAIN, SHOW and DESCRIBE said, in order."""
    questions: tuple[Question, ...] = ()
    """What was asked of the running pipeline, in order."""
    columns: str = ""
    """What the statements were made with where the script does not say it, in a form that is kept."""
    subscriptions: tuple[Subscription, ...] = ()
    """The views whose changes are to be shown, in order."""

    @property
    def queries(self) -> tuple[str, ...]:
        """The live SELECTs in order."""
        return tuple(r.name for r in self.results.values() if r.kind == "query")

    @property
    def readable(self) -> dict[str, tuple[Literal["table", "view"], Schema]]:
        """The tables and views that a reader may ask for by name, histories left out."""
        tables = {name: node for name, node in self.tables.items() if node.type is not HISTORY}
        views = [result.name for result in self.results.values() if result.kind == "view"]
        return {
            **{name: ("table", node.schema) for name, node in tables.items()},
            **{name: ("view", self.views[name].schema) for name in views},
        }


def fingerprints(program: Program) -> dict[str, str]:
    """What each stored relation was made from; partial sums share it with their view."""
    known = {name: table.fingerprint for name, table in program.tables.items()}
    for name, view in program.views.items():
        known[name] = view.fingerprint
        if view.sums_schema is not None:
            known[sums_relation(name)] = view.fingerprint
    return known


def sums_schema(node: Maintained, schemas: Mapping[str, str]) -> Schema | None:
    """The schema of a block's partial sums; `schemas` types the core items."""
    columns = node.sum_columns
    if columns is None or node.block.group is None:
        return None
    keys = [Column(key, schemas[key]) for key in node.block.group.keys]
    return Schema((*keys, *[Column(name, kind) for name, kind in columns]))


def near_schema(block: Block, schemas: Mapping[str, Schema]) -> Schema | None:
    """The schema of the rows that a block of first rows keeps beside them."""
    if block.first is None:
        return None
    scan = block.first.scan
    found = [schemas[scan.relation].find(name) for name in scan.columns]
    return Schema(
        tuple(Column(name, c.type) for name, c in zip(scan.columns, found, strict=True) if c is not None)
    )


def fingerprint(*parts: Any) -> str:
    """A short name for what something was made from: equal parts, equal name."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:16]
