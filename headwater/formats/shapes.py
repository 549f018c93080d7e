"""The shape of a column's type, as a tree.

shape_of("array<struct<a:int>>")    # ArrayOf(RowOf((("a", Atom("int")),)))
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from headwater.schema import sql_type


@dataclass(frozen=True)
class Atom:
    """A type without parts; `name` is Spark's text for it."""

    name: str

    @property
    def is_decimal(self) -> bool:
        """True for every precision and scale."""
        return self.name.startswith("decimal")

    @property
    def precision_and_scale(self) -> tuple[int, int]:
        """The two numbers of a decimal."""
        precision, scale = self.name.removeprefix("decimal(").removesuffix(")").split(",")
        return int(precision), int(scale)


@dataclass(frozen=True)
class ArrayOf:
    """ARRAY<element>."""

    element: Shape


@dataclass(frozen=True)
class MapOf:
    """MAP<key, value>."""

    key: Shape
    value: Shape


@dataclass(frozen=True)
class RowOf:
    """ROW<name type, ...>."""

    fields: tuple[tuple[str, Shape], ...]


Shape = Atom | ArrayOf | MapOf | RowOf


def shape_of(kind: str) -> Shape:
    """The tree of a type text."""
    return _shape(sqlglot.parse_one(sql_type(kind), into=exp.DataType, dialect="spark"))


def _shape(node: exp.Expr) -> Shape:
    assert isinstance(node, exp.DataType)
    match node.this:
        case exp.DataType.Type.ARRAY | exp.DataType.Type.LIST:
            return ArrayOf(_shape(node.expressions[0]))
        case exp.DataType.Type.MAP:
            key, value = node.expressions
            return MapOf(_shape(key), _shape(value))
        case exp.DataType.Type.STRUCT:
            return RowOf(tuple((field.this.name, _shape(field.args["kind"])) for field in node.expressions))
        case exp.DataType.Type.TIMESTAMPLTZ:
            return Atom("timestamp")
        case exp.DataType.Type.DECIMAL:
            given = [int(size.name) for size in node.expressions]
            precision, scale = (given + [10, 0][len(given) :])[:2]
            return Atom(f"decimal({precision},{scale})")
    return Atom(node.sql(dialect="spark").lower())


def type_text(shape: Shape) -> str:
    """How a shape is written in SQL, field names quoted."""
    match shape:
        case Atom(name):
            return sql_type(name)
        case ArrayOf(element):
            return f"array<{type_text(element)}>"
        case MapOf(key, value):
            return f"map<{type_text(key)},{type_text(value)}>"
        case RowOf(fields):
            return f"struct<{field_list(fields)}>"


def field_list(fields: tuple[tuple[str, Shape], ...]) -> str:
    """Fields and their types as they stand between `struct<` and `>`."""
    return ",".join(f"{quoted(name)}:{type_text(shape)}" for name, shape in fields)


def quoted(name: str) -> str:
    """A name that is safe in a type text, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"
