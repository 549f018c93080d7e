"""What an address asks of a view. Oracle: the condition, written by hand."""

from __future__ import annotations

import pytest

from headwater.errors import UsageError
from headwater.schema import Column, Schema
from headwater.server.asked_rows import AskedRows, query_of

MOMENTS = Schema((Column("at", "timestamp"),))


def condition(filter: str, value: str) -> str:
    query = query_of("v", MOMENTS, AskedRows(((filter, value),)), limit=1, offset=0)
    return query.args["where"].this.sql(dialect="spark")  # type: ignore[no-any-return]  # sqlglot's own


@pytest.mark.parametrize(
    "moment",
    [
        "2024-01-31T10:00:00Z",
        "2024-01-31T10:00:00",
        "2024-01-31 10:00:00.123456",
        "2024-01-31T10:00:00+05:30",
        "2024-01-31T10:00:00-05:00",
        "2024-01-31",
    ],
)
def test_a_moment_may_have_any_zone_or_none(moment: str) -> None:
    assert condition("at__gt", moment) == f"`at` > CAST('{moment}' AS TIMESTAMP_LTZ)"


@pytest.mark.parametrize("moment", ["2024-01-31T10:00:00-5", "2024-13-31", "now", "2024-01-31T25:00:00", ""])
def test_what_is_no_moment_is_refused(moment: str) -> None:
    with pytest.raises(UsageError, match="is not of type timestamp"):
        condition("at", moment)
