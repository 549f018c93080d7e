"""What kind of value an expression of a bound query gives, as far as it can be told without Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from headwater.plan.walk import note_type, table_name

Types = Callable[[str, str], str | None]
"""The type of a relation's column, as Spark writes it."""

Columns = Mapping[int, exp.DataType | None]
"""The type of each column node of a query, by the node's id."""


class Kind(StrEnum):
    """The kinds that some function treats in its own way."""

    TEXT = "text"
    BYTES = "bytes"
    BOOLEAN = "boolean"
    DATE = "date"
    NTZ = "timestamp without a zone"
    LTZ = "timestamp"
    OTHER = "other"


BYTES_TYPES = (exp.DataType.Type.BINARY, exp.DataType.Type.VARBINARY)
_BYTES_NODES = (exp.HexString, exp.ByteString, exp.Unhex, exp.FromBase64, exp.Encode)
_BYTES_CALLS = ("UNHEX", "UNBASE64", "ENCODE")

_BY_TYPE = {
    **dict.fromkeys(exp.DataType.TEXT_TYPES, Kind.TEXT),
    **dict.fromkeys(BYTES_TYPES, Kind.BYTES),
    exp.DataType.Type.BOOLEAN: Kind.BOOLEAN,
    exp.DataType.Type.DATE: Kind.DATE,
    exp.DataType.Type.TIMESTAMPNTZ: Kind.NTZ,
    # Spark prints its timestamp with a zone without the letters.
    exp.DataType.Type.TIMESTAMP: Kind.LTZ,
    exp.DataType.Type.TIMESTAMPTZ: Kind.LTZ,
    exp.DataType.Type.TIMESTAMPLTZ: Kind.LTZ,
}
_BY_CALL = {
    **dict.fromkeys(("REGEXP_LIKE", "EXISTS", "STARTSWITH", "ENDSWITH", "IS_VALID_UTF8"), Kind.BOOLEAN),
    **dict.fromkeys(("TIMESTAMP_SECONDS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"), Kind.LTZ),
    **dict.fromkeys(("DATE_FORMAT", "FROM_UNIXTIME", "TO_JSON", "RAISE_ERROR", "MAKE_VALID_UTF8"), Kind.TEXT),
    **dict.fromkeys(_BYTES_CALLS, Kind.BYTES),
    "TO_UTC_TIMESTAMP": Kind.LTZ,
    "TRY_TO_DATE": Kind.DATE,
}


_TYPES = {Kind.TEXT: "string", Kind.BYTES: "binary", Kind.BOOLEAN: "boolean", Kind.DATE: "date"}


def note_types(query: exp.Query, types: Types) -> None:
    """Let every column of a query know its type, as far as it is known."""
    columns = columns_of(query, types)
    for column in query.find_all(exp.Column):
        if (found := columns.get(id(column))) is not None:
            note_type(column, found)


def columns_of(query: exp.Query, types: Types) -> Columns:
    """The types of all columns of a query whose columns name their tables."""
    found: dict[int, exp.DataType | None] = {}
    for scope in traverse_scope(query):
        for column in scope.columns:
            found[id(column)] = _type_in(column, scope, types, found)
    return found


def _type_in(column: exp.Column, scope: Scope | None, types: Types, found: Columns) -> exp.DataType | None:
    """The type of a column where it stands; scopes come from the inside out, so those below are in `found`."""
    table, name = column.table, column.name
    while scope is not None and table not in scope.sources:
        scope = scope.parent
    source = scope.sources[table] if scope is not None else None
    if isinstance(source, exp.Table):
        kind = types(table_name(source), name)
        return exp.DataType.build(kind, dialect="spark") if kind else None
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Query):
        return None
    item = next((item for item in source.expression.selects if item.alias_or_name == name), None)
    inner = item.unalias() if item is not None else None
    if isinstance(inner, exp.Column):
        return _type_in(inner, source, types, found)
    if inner is None or isinstance(inner, exp.Cast):
        return None if inner is None else inner.to
    kind = _TYPES.get(kind_of(inner, found))
    return None if kind is None else exp.DataType.build(kind, dialect="spark")


def kind_of(node: exp.Expr, columns: Columns) -> Kind:
    """The kind of a value; what is not known is OTHER."""
    match node:
        case exp.Column() | exp.Dot():
            found = _type_of(node, columns)
            return _BY_TYPE.get(found.this, Kind.OTHER) if found is not None else Kind.OTHER
        case exp.Cast():
            return _BY_TYPE.get(node.to.this, Kind.OTHER)
        case exp.Literal():
            return Kind.TEXT if node.is_string else Kind.OTHER
        case exp.Boolean() | exp.Predicate() | exp.Connector() | exp.Not():
            return Kind.BOOLEAN
        case exp.Paren() | exp.Min() | exp.Max() | exp.Add() | exp.Sub() | exp.Nullif():
            return kind_of(node.this, columns)
        case exp.Coalesce():
            return _first_known([node.this, *node.expressions], columns)
        case exp.Case():
            return _first_known([branch.args["true"] for branch in node.args["ifs"]], columns)
        case exp.If():
            return _first_known([node.args["true"], node.args.get("false")], columns)
        case exp.Anonymous():
            return _BY_CALL.get(node.name.upper(), Kind.OTHER)
        case _ if isinstance(node, _BYTES_NODES):
            return Kind.BYTES
        case exp.DPipe() | exp.Concat() if _are_bytes(parts_of(node), columns):
            return Kind.BYTES
        case exp.DPipe() | exp.Concat() | exp.Upper() | exp.Lower() | exp.Substring() | exp.Trim():
            return Kind.TEXT
    return Kind.OTHER


def may_hold_bytes(node: exp.Expr, columns: Columns) -> bool:
    """True unless it is certain that no bytes are in a value, or in what it is computed from."""
    return any(_gives_bytes(inner, columns) for inner in node.walk())


def _gives_bytes(node: exp.Expr, columns: Columns) -> bool:
    match node:
        case exp.Column():
            kind = columns.get(id(node))
            return kind is None or any(part.this in BYTES_TYPES for part in kind.find_all(exp.DataType))
        case exp.DataType():
            return node.this in BYTES_TYPES
    return isinstance(node, _BYTES_NODES) or (
        isinstance(node, exp.Anonymous) and node.name.upper() in _BYTES_CALLS
    )


def parts_of(node: exp.Expr) -> list[exp.Expr]:
    """What is joined by `||`, CONCAT or CONCAT_WS."""
    return [node.left, node.right] if isinstance(node, exp.DPipe) else list(node.expressions)


def _are_bytes(nodes: list[exp.Expr], columns: Columns) -> bool:
    return all(kind_of(node, columns) is Kind.BYTES for node in nodes)


def _first_known(nodes: list[exp.Expr | None], columns: Columns) -> Kind:
    kinds = (kind_of(node, columns) for node in nodes if node is not None)
    return next((kind for kind in kinds if kind is not Kind.OTHER), Kind.OTHER)


def _type_of(node: exp.Expr, columns: Columns) -> exp.DataType | None:
    """The type of a column, or of a field of a row."""
    if isinstance(node, exp.Column):
        return columns.get(id(node))
    if not isinstance(node, exp.Dot):
        return None
    row = _type_of(node.this, columns)
    for field in row.expressions if row is not None else ():
        if isinstance(field, exp.ColumnDef) and field.name.lower() == node.expression.name.lower():
            return field.kind
    return None
