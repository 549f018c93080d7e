"""Types on both sides: what a Spark type is to Postgres, and what a type of Postgres is to Spark."""

from __future__ import annotations

import re

BOOL, BYTEA, INT8, INT2, INT4, TEXT, OID, JSON = 16, 17, 20, 21, 23, 25, 26, 114
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 700, 701, 705, 1042, 1043
DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID, JSONB = 1082, 1114, 1184, 1700, 2950, 3802

ARRAYS = {
    1000: BOOL,
    1001: BYTEA,
    1005: INT2,
    1007: INT4,
    1016: INT8,
    1009: TEXT,
    1015: VARCHAR,
    1021: FLOAT4,
    1022: FLOAT8,
    1115: TIMESTAMP,
    1182: DATE,
    1185: TIMESTAMPTZ,
    1231: NUMERIC,
    2951: UUID,
    3807: JSONB,
}
"""The types of arrays, and of what."""

_TO_POSTGRES = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "binary": "bytea",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}

_TO_SPARK = {
    BOOL: "BOOLEAN",
    BYTEA: "BINARY",
    INT2: "SMALLINT",
    INT4: "INT",
    INT8: "BIGINT",
    OID: "BIGINT",
    FLOAT4: "FLOAT",
    FLOAT8: "DOUBLE",
    DATE: "DATE",
    TIMESTAMP: "TIMESTAMP_NTZ",
    TIMESTAMPTZ: "TIMESTAMP_LTZ",
}


def postgres_type(kind: str) -> str:
    """A Spark type as Postgres writes it; what Postgres does not have is JSON, or a text.

    >>> postgres_type("decimal(10,2)"), postgres_type("array<int>"), postgres_type("map<string,int>")
    ('numeric(10,2)', 'integer[]', 'jsonb')
    """
    if kind in _TO_POSTGRES:
        return _TO_POSTGRES[kind]
    if decimal := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind):
        return f"numeric({decimal[1]},{decimal[2]})"
    if array := re.fullmatch(r"array<(.*)>", kind):
        # Arrays of arrays need not be rectangles, as those of Postgres are.
        return "jsonb" if array[1].startswith("array<") else f"{postgres_type(array[1])}[]"
    return "jsonb" if kind.startswith(("struct<", "map<")) else "text"


def spark_type(oid: int) -> str:
    """The Spark type of a parameter that is no number of free length: texts are texts."""
    return _TO_SPARK.get(oid, "STRING")
