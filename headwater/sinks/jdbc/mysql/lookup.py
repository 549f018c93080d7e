"""The tables of a MySQL: found by name, described, and made if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from headwater.errors import SinkError
from headwater.nearest import nearest
from headwater.options import Secret
from headwater.schema import Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.columns import FoundColumn, UniqueIndex
from headwater.sinks.jdbc.mysql.types import EXACT, MysqlColumn, key_type, mysql_type
from headwater.sinks.jdbc.server import BATCHES

ENGINE = "InnoDB"

_TABLE = "SELECT engine FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"
_TABLES = (
    "SELECT concat(table_schema, '.', table_name) FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    " AND table_name <> %s AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')"
    " ORDER BY 1"
)
_COLUMNS = (
    "SELECT column_name, lower(data_type), lower(column_type), numeric_scale, datetime_precision,"
    " coalesce(character_octet_length, numeric_precision), collation_name, is_nullable = 'YES',"
    " is_nullable = 'NO' AND column_default IS NULL AND extra NOT LIKE '%%auto_increment%%',"
    " coalesce(generation_expression, '') <> ''"
    " FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
)
_INDEXES = (
    "SELECT index_name, column_name, sub_part FROM information_schema.statistics"
    " WHERE table_schema = %s AND table_name = %s AND non_unique = 0 ORDER BY index_name, seq_in_index"
)
_REFERRING = (
    "SELECT concat(constraint_schema, '.', table_name) FROM information_schema.referential_constraints"
    " WHERE unique_constraint_schema = %s AND referenced_table_name = %s"
    " AND delete_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT') ORDER BY 1"
)
_COLLATIONS = "SELECT collation_name FROM information_schema.collations"


@dataclass(frozen=True)
class Name:
    """A table's name; what others call a schema is a database here."""

    database: str
    table: str

    @property
    def shown(self) -> str:
        """For messages."""
        return f"{self.database}.{self.table}"

    @property
    def tree(self) -> exp.Table:
        """For statements."""
        return exp.table_(self.table, db=self.database, quoted=True)


def name_of(table: SinkTable, database: str) -> Name:
    """What a sink table calls its table; without a name before the dot it is in the url's database."""
    text = table.options.table_name
    first, dot, rest = (text.reveal() if isinstance(text, Secret) else text).partition(".")
    return Name(first, rest) if dot else Name(database, first)


def engine_of(cursor: Any, name: Name) -> str | None:
    """The engine that keeps a table, `view` for a view, None if there is no such table."""
    cursor.execute(_TABLE, [name.database, name.table])
    row = cursor.fetchone()
    return None if row is None else row[0] or "view"


def create(cursor: Any, name: Name, schema: Schema) -> None:
    """Make a table with the columns and the key of a schema."""
    exact = exact_collation(cursor)
    columns = [
        new_column(
            column.name,
            key_type(column.type) if column.name in schema.key else mysql_type(column.type),
            null=column.name not in schema.key,
        )
        for column in schema
    ]
    cursor.execute(make_table(name, columns, key=schema.key, collation=exact).sql(dialect="mysql"))


def make_table(
    name: Name, columns: Sequence[exp.ColumnDef], *, key: Sequence[str], collation: str
) -> exp.Create:
    """The statement that makes a table, if nobody was faster."""
    primary = [exp.PrimaryKey(expressions=[exp.to_identifier(k, quoted=True) for k in key])] if key else []
    kept = [
        exp.EngineProperty(this=exp.Var(this=ENGINE)),
        exp.CharacterSetProperty(this=exp.Var(this="utf8mb4"), default=True),
        exp.CollateProperty(this=exp.Var(this=collation)),
    ]
    return exp.Create(
        this=exp.Schema(this=name.tree, expressions=[*columns, *primary]),
        kind="TABLE",
        exists=True,
        properties=exp.Properties(expressions=kept),
    )


def new_column(name: str, kind: str, *, null: bool) -> exp.ColumnDef:
    """A column of a table to be made."""
    # Without the word NULL some servers give the first TIMESTAMP a default of their own.
    constraint = exp.ColumnConstraint(kind=exp.NotNullColumnConstraint(allow_null=null))
    return exp.ColumnDef(
        this=exp.to_identifier(name, quoted=True),
        kind=exp.DataType.build(kind, dialect="mysql"),
        constraints=[constraint],
    )


def exact_collation(cursor: Any) -> str:
    """The collation of new tables: the one of this server in which only equal texts are equal."""
    cursor.execute(_COLLATIONS)
    known = {name for (name,) in cursor.fetchall()}
    return next((name for name in EXACT if name in known), "utf8mb4_bin")


def missing(cursor: Any, table: SinkTable, name: Name) -> SinkError:
    """The error of a table that is not there and may not be made."""
    cursor.execute(_TABLES, [BATCHES])
    known = [row[0] for row in cursor.fetchall()]
    near = nearest(name.shown, known)
    return SinkError(
        f"table '{name.shown}' of sink table '{table.name}' does not exist",
        detail=f"The tables that the user sees are {', '.join(known[:20])}."
        if known
        else "There is no table that the user sees.",
        hint=(f"Did you mean 'table-name' = '{near}'? Or " if near else "Create it, or ")
        + "let it be made: 'sink.create-table' = 'true'.",
        place=table.place,
    )


def columns_of(cursor: Any, name: Name) -> list[FoundColumn[MysqlColumn]]:
    """The columns of a table."""
    cursor.execute(_COLUMNS, [name.database, name.table])
    return [
        FoundColumn(
            MysqlColumn(column, kind, shown, scale, digits, length, collation, bool(nullable)),
            bool(required),
            bool(computed),
        )
        for column, kind, shown, scale, digits, length, collation, nullable, required, computed in cursor.fetchall()
    ]


def indexes_of(cursor: Any, name: Name) -> list[UniqueIndex]:
    """The unique indexes of a table."""
    cursor.execute(_INDEXES, [name.database, name.table])
    found: dict[str, UniqueIndex] = {}
    for index, column, prefix in cursor.fetchall():
        before = found.get(index, UniqueIndex(frozenset()))
        is_plain = before.is_plain and column is not None and prefix is None
        found[index] = UniqueIndex(before.columns | ({column} - {None}), is_plain)
    return list(found.values())


def referring(cursor: Any, name: Name) -> list[str]:
    """The tables whose rows go, or change, when a row of this one is deleted."""
    cursor.execute(_REFERRING, [name.database, name.table])
    return [row[0] for row in cursor.fetchall()]
