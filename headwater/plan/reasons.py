"""Why a query can only be recomputed: the whole list. EXPLAIN names one of these, and docs/operators explains them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """What no rule maintains."""

    RECURSION = "a recursive WITH"
    LOOSE_WINDOW = "a window over all rows"
    LOOSE_FULL_JOIN = "a FULL JOIN without an equality"
    CORRELATION = "a subquery that is tied to the query around it by more than equalities"
    CONVERSION = "a subquery that is compared with another type"
    SUBQUERY_PLACE = "a subquery where none can be taken apart"
    LATERAL = "a LATERAL subquery"
    NATURAL_JOIN = "a NATURAL JOIN"
    GENERATOR = "a function that makes rows in the select list"
    TABLE_FUNCTION = "a table function"
    PIVOT = "PIVOT or UNPIVOT"
    SAMPLE = "TABLESAMPLE"
    DISTINCT_ON = "DISTINCT ON"
    LIMIT = "a LIMIT that is not a number"
    UNGROUPED = "an expression outside of GROUP BY"
    SHAPE = "a form of query that no rule knows"


@dataclass(frozen=True)
class NotMaintained(Exception):
    """Raised while a query is planned, and caught where the query that is run as it stands is made."""

    reason: Reason
