"""MySQL's types: what they are in Spark, how their values are read, and how they stand in the log."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.log import mysql_values
from headwater.log.binlog_rows import Code, LogType, RowColumn
from headwater.log.text_values import RAW
from headwater.sources.jdbc.mysql_types import column_of
from headwater.sources.mysql.catalog import ServerColumn

GEOMETRIES = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geomcollection",
    "geometrycollection",
)

_FAMILIES = {
    "tinyint": mysql_values.DIGITS,
    "bit": mysql_values.BITS,
    "float": mysql_values.REAL,
    "double": mysql_values.REAL,
    "date": mysql_values.DATE,
    "time": "other",
    "year": "number",
    "vector": RAW,
} | dict.fromkeys(GEOMETRIES, mysql_values.GEOMETRY)

_CODECS = {
    # MySQL's name of a character set: Python's
    "latin1": "cp1252",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin7": "iso8859-13",
    "greek": "iso8859-7",
    "hebrew": "iso8859-8",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
    "macroman": "mac_roman",
    "macce": "mac_latin2",
    "tis620": "tis-620",
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
    "big5": "big5",
    "sjis": "shift_jis",
    "cp932": "cp932",
    "ujis": "euc_jp",
    "eucjpms": "euc_jp",
    "euckr": "euc_kr",
    "ucs2": "utf-16-be",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
}
_AS_IT_IS = ("", "binary", "ascii", "utf8", "utf8mb3", "utf8mb4")
_LABEL = re.compile(r"'((?:[^']|'')*)'")

_CODES = {
    # type of a column: how the log has it
    "tinyint": Code.TINY,
    "smallint": Code.SHORT,
    "mediumint": Code.INT24,
    "int": Code.LONG,
    "bigint": Code.LONGLONG,
    "decimal": Code.NEWDECIMAL,
    "float": Code.FLOAT,
    "double": Code.DOUBLE,
    "year": Code.YEAR,
    "date": Code.DATE,
    "datetime": Code.DATETIME2,
    "timestamp": Code.TIMESTAMP2,
    "time": Code.TIME2,
    "bit": Code.BIT,
    "enum": Code.ENUM,
    "set": Code.SET,
    "json": Code.JSON,
    "varchar": Code.VARCHAR,
    "varbinary": Code.VARCHAR,
    "char": Code.STRING,
    "binary": Code.STRING,
    "vector": Code.VECTOR,
} | dict.fromkeys(GEOMETRIES, Code.GEOMETRY)
_BLOBS = {"tiny": 1, "": 2, "medium": 3, "long": 4}
"""How many bytes the length of a text or blob takes, by how its type begins."""


def spark_type(column: ServerColumn) -> str:
    """What a column is in Spark if nobody says otherwise."""
    if column.kind in GEOMETRIES:
        return "string"
    if column.kind == "vector":
        return "binary"
    found = column_of(
        column.name, column.kind, column.shown.lower(), precision=column.precision, scale=column.scale
    )
    return found.type


def family(column: ServerColumn, zone: str) -> str:
    """How the values of a column are read, at a server whose clock shows the time of a zone."""
    match column.kind:
        case "datetime":
            return mysql_values.LOCAL + zone
        case "timestamp":
            return mysql_values.MOMENT + zone
    if column.kind in _FAMILIES:
        return _FAMILIES[column.kind]
    return column_of(column.name, column.kind, column.shown.lower()).families[0]


def unread(column: ServerColumn) -> str | None:
    """Why the values of a column cannot be read; None if they can."""
    if column.kind in _FAMILIES or column.kind in ("datetime", "timestamp"):
        return None
    if column.charset not in _AS_IT_IS and column.charset not in _CODECS:
        return f"Its character set {column.charset} is not known here."
    found = column_of(column.name, column.kind, column.shown.lower())
    if column.kind in ("uuid", "inet4", "inet6"):
        return "The log has its values in a form of MariaDB's own."
    return found.unread or None


def row_column(column: ServerColumn) -> RowColumn:
    """What has to be known of a column to read it from the log."""
    return RowColumn(
        column.name,
        unsigned="unsigned" in column.shown,
        labels=labels_of(column.shown) if column.kind in ("enum", "set") else (),
        codec=_CODECS.get(column.charset) if column.kind not in ("enum", "set") else None,
        padded=column.kind == "binary",
    )


def labels_of(shown: str) -> tuple[bytes, ...]:
    """The words of an ENUM or SET: `enum('a','b')`."""
    return tuple(label.replace("''", "'").encode() for label in _LABEL.findall(shown))


def fits(column: ServerColumn, logged: LogType) -> bool:
    """True if a column of the catalog can be the one the log has at its place."""
    blob = re.fullmatch(r"(tiny|medium|long|)(text|blob)", column.kind)
    if blob:
        return logged.code == Code.BLOB and logged.first == _BLOBS[blob[1]]
    if _CODES.get(column.kind) != logged.code:
        # MariaDB has JSON as a long text, and types of its own as bytes.
        return column.kind not in _CODES and logged.code in (Code.STRING, Code.BLOB)
    if column.kind == "decimal":
        return (logged.first, logged.second) == (column.precision, column.scale)
    if column.kind in ("datetime", "timestamp", "time"):
        digits = re.search(r"\((\d)\)", column.shown)
        return logged.first == (int(digits[1]) if digits else 0)
    if column.kind in ("binary", "varbinary"):
        size = re.search(r"\((\d+)\)", column.shown)
        return size is None or logged.first == int(size[1])
    return True


def selected(column: ServerColumn) -> exp.Expr:
    """How a column is asked for, so that its text is what the log gives."""
    wanted: exp.Expr = exp.column(column.name, quoted=True)
    # Of a FLOAT the server writes six digits; of what is computed from it, all there are.
    return exp.Add(this=wanted, expression=exp.Literal.number("0e0")) if column.kind == "float" else wanted
