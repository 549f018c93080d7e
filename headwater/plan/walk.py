"""What queries and expressions name: relations and columns."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

_NOTED = "type"
_ALONE = "sees one value"


def table_name(table: exp.Table) -> str:
    """The name of a table reference as one text: `a.b` for a qualified one."""
    return ".".join(part.name for part in table.parts)


def named_columns(*expressions: exp.Expr) -> set[tuple[str, str]]:
    """The columns that expressions name, by qualifier and name."""
    return {(column.table, column.name) for e in expressions for column in e.find_all(exp.Column)}


def note_type(node: exp.Expr, kind: exp.DataType) -> None:
    """Let an expression remember its type, wherever it is copied to; as a text, which is not copied along."""
    node.meta[_NOTED] = kind.sql(dialect="spark")


def noted_type(node: exp.Expr) -> exp.DataType | None:
    """The type that an expression, most often a column, remembers; None if it was never told."""
    found = node.meta.get(_NOTED)
    return None if found is None else _type_of(found)


@lru_cache(maxsize=1_000)
def _type_of(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="spark")


def note_alone(call: exp.Expr) -> None:
    """Let an aggregate remember that it sees one value, or that it is an error to ask for it."""
    call.meta[_ALONE] = True


def is_alone(call: exp.Expr) -> bool:
    """True if that was noted."""
    return bool(call.meta.get(_ALONE))


def is_map(node: exp.Expr) -> bool:
    """True for what is known to be a map."""
    kind = noted_type(node.unnest())
    return kind is not None and kind.this == exp.DataType.Type.MAP


def as_ordered(column: exp.Column, what: exp.Expr) -> exp.Expr:
    """Something to order by in the place of a column, which stands for `what`: maps have no order, their texts do."""
    kind = noted_type(what.unnest())
    has_map = kind is not None and any(
        part.this == exp.DataType.Type.MAP for part in kind.find_all(exp.DataType)
    )
    return exp.cast(column, "string") if has_map else column


def relations_of(query: exp.Query) -> list[exp.Table]:
    """The references to declared relations; a name that WITH gives is none of them where it is known."""
    found = [s for scope in traverse_scope(query) for s in scope.sources.values() if isinstance(s, exp.Table)]
    unique = {id(table): table for table in found if isinstance(table.this, exp.Identifier)}
    return [table for table in unique.values() if not (table.args.get("pivots") and _is_given(table))]


def _is_given(table: exp.Table) -> bool:
    """True if WITH gives the name of a table; asked only where scopes do not tell, as for one that is pivoted."""
    above = table.parent
    while above is not None:
        given = above.args.get("with_")
        if given is not None and any(cte.alias.lower() == table.name.lower() for cte in given.expressions):
            return True
        above = above.parent
    return False


def rename(table: exp.Table, name: str) -> None:
    """Let a reference mean another relation; what it is called in the query, and how it is read, stays."""
    alias = table.alias_or_name
    table.set("this", exp.to_identifier(name))
    table.set("db", None)
    table.set("catalog", None)
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
