"""Spark's complaints about a query, told as ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.errors import PySparkException

from headwater.errors import Place, SqlError
from headwater.nearest import did_you_mean


def as_sql_error(problem: PySparkException, functions: Sequence[str], place: Place | None) -> SqlError:
    """The error a user should read when Spark refuses a query's names or types."""
    condition = problem.getCondition() or ""
    parameters = problem.getMessageParameters() or {}
    if condition.startswith("UNRESOLVED_ROUTINE"):
        name = parameters.get("routineName", "").strip("`")
        return SqlError(
            f"function {name} does not exist",
            hint=did_you_mean(name, functions, otherwise="Spark's built-in functions are known here."),
            place=place,
        )
    said = re.sub(r"^\[[A-Z_.0-9]+\] ", "", str(problem).strip().split(" SQLSTATE")[0].splitlines()[0])
    if "DATATYPE_MISMATCH" in condition or "CAST" in condition:
        return SqlError(
            "the types do not fit", detail=said, hint="CAST one side to the type of the other.", place=place
        )
    if condition.startswith("MISSING_AGGREGATION") or "GROUP_BY" in condition:
        return SqlError(
            "a selected column is neither grouped nor aggregated",
            detail=said,
            hint="Add it to GROUP BY, or put it into an aggregate such as MAX(...).",
            place=place,
        )
    return SqlError("the query is not valid", detail=said, place=place)
