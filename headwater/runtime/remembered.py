"""The columns that statements were made with, where the script does not list them but the server has them.

A table declared without a column list has the columns it had when it was first read, until a statement that reads it is
new or edited, or it is read again; then it has those of the server. A statement that stays as it is keeps its own:

    orders (id, total)              CREATE VIEW a AS SELECT * FROM orders       a (id, total)
    orders (id, total, note)        CREATE VIEW b AS SELECT * FROM orders       a (id, total)   b (id, total, note)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headwater.runtime.progress import FILE, Progress
from headwater.runtime.uses import uses
from headwater.schema import Schema, schema_from_json
from headwater.sql import statements as sql
from headwater.sql.catalog import Catalog, Relation
from headwater.storage.book import has_book

COLUMNS = "columns"
"""The text that keeps them."""

MadeWith = Mapping[str, Sequence[str]]
"""The columns that a statement sees of each table without a list."""


@dataclass(frozen=True)
class Remembered:
    """What was written down at the last start."""

    tables: Mapping[str, Schema] = field(default_factory=dict)
    statements: Mapping[str, MadeWith] = field(default_factory=dict)
    """By the text of the statement."""
    inserts: Mapping[str, str] = field(default_factory=dict)
    """The names under which the rows of INSERTs are kept, by the text of the statement."""
    reserved: frozenset[str] = frozenset()
    """Those of INSERTs that are in the script now."""
    made_from: Mapping[str, str] = field(default_factory=dict)
    """The fingerprints of tables whose rows are kept."""

    def catalog_for(self, text: str, catalog: Catalog) -> Catalog:
        """The catalog as a statement saw it that was there before; as it is for all others."""
        made = self.statements.get(text)
        if not made:
            return catalog
        return Catalog({r.name.lower(): _narrowed(r, made.get(r.name)) for r in catalog})

    def without_new_readers(self, script: Sequence[sql.Statement]) -> Remembered:
        """Only the tables that no statement reads which is new or was edited."""
        asking = [
            one for one in _flat(script) if isinstance(one, sql.CreateView | sql.InsertInto | sql.Select)
        ]
        new = [one for one in asking if one.text not in self.statements]
        declared = {one.name: one for one in script if isinstance(one, sql.CreateTable)}

        def is_read_by(name: str, reader: sql.Statement) -> bool:
            # A table of a catalog is not declared: which statement names it is seen only when that is bound.
            return name not in declared or uses(reader, declared[name])

        kept = {n: schema for n, schema in self.tables.items() if not any(is_read_by(n, one) for one in new)}
        here = {one.text for one in asking}
        reserved = frozenset(name for text, name in self.inserts.items() if text in here)
        return replace(self, tables=kept, reserved=reserved)

    def with_inserts(self, inserts: Mapping[str, str]) -> dict[str, str]:
        """Those of now, and those that are gone whose names nobody took: one that comes again finds its rows."""
        taken = set(inserts.values())
        return {t: name for t, name in self.inserts.items() if name not in taken} | dict(inserts)


def remembered(folder: Path) -> Remembered:
    """What the pipeline of a folder was made with; nothing if there is none."""
    if not has_book(folder / FILE):
        return Remembered()
    progress = Progress(folder)
    try:
        return remembered_in(progress)
    finally:
        progress.close()


def remembered_in(progress: Progress) -> Remembered:
    """What progress remembers."""
    said = json.loads(progress.text(COLUMNS) or "{}")
    return Remembered(
        {name: schema_from_json(schema) for name, schema in said.get("tables", {}).items()},
        said.get("statements", {}),
        said.get("inserts", {}),
        made_from={name: saved.fingerprint for name, saved in progress.relations.items()},
    )


def to_text(
    tables: Mapping[str, Schema], statements: Mapping[str, MadeWith], inserts: Mapping[str, str]
) -> str:
    """A form that is kept."""
    known = {name: schema.to_json() for name, schema in tables.items()}
    made_with = {text: dict(made) for text, made in statements.items()}
    return json.dumps({"tables": known, "statements": made_with, "inserts": dict(inserts)})


def _flat(script: Sequence[sql.Statement]) -> list[sql.Statement]:
    return [one for s in script for one in (s.statements if isinstance(s, sql.StatementSet) else (s,))]


def _narrowed(relation: Relation, names: Sequence[str] | None) -> Relation:
    """A relation with those of its columns that a statement knows."""
    if names is None:
        return relation
    columns = tuple(column for column in relation.schema if column.name in names)
    key = relation.schema.key if set(relation.schema.key) <= set(names) else ()
    return replace(relation, schema=Schema(columns, key))
