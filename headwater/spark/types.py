"""Between our schemas and Spark's."""

from __future__ import annotations

import re

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, _parse_datatype_string

from headwater.schema import WEIGHT, Schema, sql_type

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def type_text(of: DataType) -> str:
    """A type of Spark's as our schemas write it; unlike Spark's own text it can be read again.

    >>> type_text(StructType([StructField("a b", ArrayType(StringType()))]))
    'struct<`a b`:array<string>>'
    """
    match of:
        case StructType():
            return f"struct<{','.join(f'{_field(f.name)}:{type_text(f.dataType)}' for f in of.fields)}>"
        case ArrayType():
            return f"array<{type_text(of.elementType)}>"
        case MapType():
            return f"map<{type_text(of.keyType)},{type_text(of.valueType)}>"
    return of.simpleString()


def _field(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def collected(frame: DataFrame) -> pa.Table:
    """The rows of a frame; Arrow refuses NULL for a struct whose fields are never NULL, so all of them may be."""
    said, wanted = frame.schema, frame.schema.toNullable()
    is_strict = any(one.dataType != other.dataType for one, other in zip(said, wanted, strict=True))
    return (frame.to(wanted) if is_strict else frame).toArrow()


def struct_of(schema: Schema, *, weighted: bool = False) -> StructType:
    """The Spark schema of a relation; with its weight if wanted."""
    fields = [StructField(c.name, _parse_datatype_string(sql_type(c.type))) for c in schema]
    if weighted:
        fields.append(StructField(WEIGHT, _parse_datatype_string("tinyint")))
    return StructType(fields)
