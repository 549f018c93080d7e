"""Which statements a cluster may spread over tasks. Oracle: the table below, said of each by what its aggregates do."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from headwater.spark.order import needs_order

KINDS = {"k": "string", "n": "int", "b": "bigint", "d": "decimal(10,2)", "x": "double", "s": "string"}
ROWS = f"(SELECT {', '.join(KINDS)} FROM t ORDER BY k, n)"

TIED = ROWS.replace(" ORDER BY", " WHERE t.k = q.k ORDER BY")


def types(query: exp.Query) -> list[str]:
    return [KINDS[name] for name in query.named_selects]


@pytest.mark.parametrize(
    ("query", "needs"),
    [
        ("SELECT k, SUM(x) FROM t GROUP BY k", False),
        (f"SELECT k, MAX(x), COUNT(s), SUM(n), SUM(d) AS total, AVG(d) FROM {ROWS} AS p GROUP BY k", False),
        (f"SELECT k, SUM(x) FROM {ROWS} AS p GROUP BY k", True),
        # Spark makes a floating number of a text.
        (f"SELECT k, SUM(s) FROM {ROWS} AS p GROUP BY k", True),
        (f"SELECT k, AVG(b) FROM {ROWS} AS p GROUP BY k", True),
        (f"SELECT k, MAX(n), COLLECT_LIST(n) FROM {ROWS} AS p GROUP BY k", True),
        (f"SELECT k, MAX(n), TRY_SUM(x) FROM {ROWS} AS p GROUP BY k", True),
        (f"SELECT k, COUNT(*) FROM {ROWS} AS p GROUP BY k HAVING SUM(x) > 1", True),
        (f"SELECT p.k, SUM(q.x) FROM {ROWS} AS p JOIN q ON p.k = q.k GROUP BY p.k", True),
        (f"SELECT k, SUM(n) OVER (PARTITION BY k ORDER BY b ROWS 1 PRECEDING) FROM {ROWS} AS p", False),
        (f"SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY b ROWS 1 PRECEDING) FROM {ROWS} AS p", True),
        (f"SELECT ROW_NUMBER() OVER (ORDER BY b) FROM {ROWS} AS p", True),
        (
            f"SELECT k, total FROM (SELECT k, SUM(n) AS total FROM {ROWS} AS p GROUP BY k) AS a JOIN q ON a.k = q.k",
            False,
        ),
        # What it reads of the rows around it has no types by itself.
        (f"SELECT k, (SELECT SUM(n) FROM {TIED} AS p) AS total FROM q", True),
        (f"SELECT k FROM q WHERE q.n IN (SELECT SUM(n) FROM {ROWS} AS p)", True),
        (f"WITH t AS (SELECT * FROM q) SELECT SUM(n) FROM {ROWS} AS p", True),
        ("SELECT k, COUNT(*) FROM (SELECT k FROM t ORDER BY k LIMIT 3) AS p GROUP BY k", True),
        ("SELECT k FROM t ORDER BY k LIMIT 3", True),
    ],
)
def test_only_what_depends_on_the_order_of_rows_stays_one_task(query: str, needs: bool) -> None:
    assert needs_order(parse_one(query, read="spark", into=exp.Select), types) is needs
