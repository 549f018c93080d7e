"""From SQL trees to the text that Spark runs and EXPLAIN prints."""

from __future__ import annotations

import re

from sqlglot import ErrorLevel, exp

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_TAKEN = frozenset(
    [
        "all",
        "and",
        "anti",
        "any",
        "as",
        "between",
        "by",
        "case",
        "cast",
        "cross",
        "distinct",
        "else",
        "end",
        "except",
        "exists",
        "false",
        "filter",
        "for",
        "from",
        "full",
        "group",
        "having",
        "in",
        "inner",
        "intersect",
        "into",
        "is",
        "join",
        "lateral",
        "left",
        "like",
        "limit",
        "minus",
        "natural",
        "not",
        "null",
        "offset",
        "on",
        "or",
        "order",
        "right",
        "select",
        "semi",
        "set",
        "some",
        "table",
        "then",
        "to",
        "true",
        "union",
        "unique",
        "using",
        "values",
        "when",
        "where",
        "window",
        "with",
        "timestamp",
        "date",
        "interval",
        "current_date",
        "current_timestamp",
    ]
)


def to_text(query: exp.Query, *, pretty: bool = False) -> str:
    """A query as Spark SQL; names that are not plain words are quoted."""
    quoted = query.copy()
    for name in quoted.find_all(exp.Identifier):
        if not _PLAIN.match(name.name) or name.name in _TAKEN:
            name.set("quoted", True)
    # What the library would leave out with a warning is an error: an argument more or less is another query.
    return quoted.sql(dialect="spark", pretty=pretty, unsupported_level=ErrorLevel.RAISE)
