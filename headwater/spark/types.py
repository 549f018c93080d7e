"""Between our schemas and Spark's."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType, _parse_datatype_string

from headwater.schema import WEIGHT, Schema, sql_type


def struct_of(schema: Schema, *, weighted: bool = False) -> StructType:
    """The Spark schema of a relation; with its weight if wanted."""
    fields = [StructField(c.name, _parse_datatype_string(sql_type(c.type))) for c in schema]
    if weighted:
        fields.append(StructField(WEIGHT, _parse_datatype_string("tinyint")))
    return StructType(fields)
