"""Which queries leave it open what they give. Oracle: the literal table below, of what SQL says about an order."""

from __future__ import annotations

import pytest

from headwater.incremental.open_order import is_open
from tests.operators.on_paper import compile_on_paper

TABLES = """
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
"""

OPEN = [
    "SELECT customer, COLLECT_LIST(total) AS totals FROM orders GROUP BY customer",
    "SELECT customer, MAX_BY(id, total) FILTER (WHERE id > 1) AS id FROM orders GROUP BY customer",
    "SELECT customer, LISTAGG(id, '+') WITHIN GROUP (ORDER BY total) AS ids FROM orders GROUP BY customer",
    "SELECT id, LAST_VALUE(id) IGNORE NULLS OVER (PARTITION BY customer ORDER BY total) AS last FROM orders",
    "SELECT c.name, o.id FROM customers c"
    " LEFT JOIN (SELECT customer, ANY_VALUE(id) AS id FROM orders GROUP BY customer) o ON o.customer = c.name",
]
SAID = [
    "SELECT customer, SUM(total) AS total, MAX(id) AS id FROM orders GROUP BY customer",
    "SELECT customer, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY total) AS middle FROM orders GROUP BY customer",
    "SELECT id, RANK() OVER (PARTITION BY customer ORDER BY total) AS place FROM orders",
    "SELECT id, (SELECT city FROM customers c WHERE c.name = o.customer) AS city FROM orders o",
]


@pytest.mark.parametrize(
    ("query", "expected"), [*((query, True) for query in OPEN), *((query, False) for query in SAID)]
)
def test_an_answer_is_open_where_an_order_decides_it_that_nobody_says(query: str, expected: bool) -> None:
    program = compile_on_paper(f"{TABLES}CREATE VIEW v AS {query};")
    assert is_open(program.results["v"].plan) is expected
