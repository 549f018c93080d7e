"""Floating sums inside of what is run again on slices: what was computed over many rows, with generated code, is taken
back by what is computed over a few, without.

Oracle: VERIFY, which runs the queries from nothing, and how many groups there are.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import headwater
from headwater.sources.values import STORES, ValuesStore

pytestmark = pytest.mark.jvm

CUSTOMERS, ORDERS, STEPS = 40, 20_000, 4
"""More orders than a statement runs over as it stands."""

SCRIPT = """
CREATE TABLE customers (name STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values', 'name' = 'floats');
CREATE TABLE orders (id INT, customer STRING, item INT, x DOUBLE, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = 'floats');
CREATE VIEW shown AS SELECT c.name, SUM(o.x) AS s, STDDEV(o.x) AS d, COUNT(DISTINCT o.item) AS n
FROM customers c LEFT JOIN orders o ON o.customer = c.name GROUP BY c.name;
CREATE VIEW hidden AS SELECT SUM(o.x) AS s, COUNT(DISTINCT o.item) AS n
FROM customers c LEFT JOIN orders o ON o.customer = c.name GROUP BY c.name;
CREATE VIEW below AS SELECT 'x' || c.name AS name, q.s, q.n FROM customers c LEFT JOIN
(SELECT customer, SUM(x) AS s, COUNT(DISTINCT item) AS n FROM orders GROUP BY customer) q ON q.customer = c.name;
CREATE VIEW summed AS SELECT q.n > 0 AS some, SUM(q.s) AS s, COUNT(*) AS n FROM customers c LEFT JOIN
(SELECT customer, SUM(x) AS s, COUNT(DISTINCT item) AS n FROM orders GROUP BY customer) q ON q.customer = c.name
GROUP BY q.n > 0;
"""


def test_sums_over_many_rows_are_taken_back_by_steps_of_a_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(7)
    store = ValuesStore()
    monkeypatch.setitem(STORES, "floats", store)
    orders = [order(dice, number) for number in range(ORDERS)]
    names = [("+", {"name": f"c{number}"}) for number in range(CUSTOMERS)]
    store.append({"customers": names, "orders": [("+", one) for one in orders]})
    running = headwater.open(tmp_path)
    try:
        running.sql(SCRIPT)
        running.step()
        for _ in range(STEPS):
            old = orders[place := dice.randrange(ORDERS)]
            orders[place] = {**old, "x": dice.uniform(-1, 1), "item": dice.randrange(500)}
            store.append({"orders": [("-", old), ("+", orders[place])]})
            running.step()
        for view in ("shown", "hidden", "below"):
            assert running.table(view).count() == CUSTOMERS
        for view in ("shown", "hidden", "below", "summed"):
            assert str(running.sql(f"VERIFY {view}")).startswith("equal"), view
    finally:
        running.close()


def order(dice: random.Random, number: int) -> dict[str, object]:
    """One with an amount of some size or other: in another order they add up to other last bits."""
    amount = dice.uniform(-1, 1) * 10.0 ** dice.randrange(-3, 6)
    return {
        "id": number,
        "customer": f"c{dice.randrange(CUSTOMERS)}",
        "item": dice.randrange(500),
        "x": amount,
    }
