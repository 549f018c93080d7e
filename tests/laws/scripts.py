"""What the laws are asked of: the example of every operator's page, and further queries over a few tables."""

from __future__ import annotations

import re
from pathlib import Path

from headwater.incremental.operators import OPERATORS
from tests.operators.page import Page, read_page

PAGES = Path(__file__).parent.parent.parent / "docs" / "operators"

TABLES = {
    "orders": "id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED",
    "customers": "name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED",
    "stock": "place INT, item STRING, amount INT, PRIMARY KEY (place, item) NOT ENFORCED",
    "loose": "a INT, b INT, s STRING",
    "scales": "s STRING, x DOUBLE",
}
"""One with a key of two columns, two without any: their rows come more than once."""

FURTHER = {
    "project": {
        "equal": "SELECT a % 2 AS odd, COALESCE(s, 'none') AS s FROM loose",
        "derived": """SELECT o.id + 1 AS next, CASE WHEN o.total > 2 THEN 'much' END AS how
            FROM (SELECT id, total FROM orders) o""",
    },
    "filter": {"open": "SELECT a, s FROM loose WHERE NOT (a > 2 OR s = 'a')"},
    "union": {
        "thrice": """SELECT a AS x FROM loose WHERE s = 'a' UNION ALL SELECT id FROM orders
            UNION ALL SELECT b FROM loose""",
    },
    "join": {
        "three": """SELECT o.id, c.city, l.a FROM orders o JOIN customers c ON o.customer = c.name
            JOIN loose l ON l.s = c.city AND l.a < o.total""",
        "itself": "SELECT x.a, y.b, x.s FROM loose x JOIN loose y ON x.a = y.b",
        "two columns": """SELECT k.place, k.amount, l.b FROM stock k
            JOIN loose l ON k.place = l.a AND k.item = l.s WHERE l.b > 1""",
        "no equality": "SELECT o.id, l.a FROM orders o CROSS JOIN loose l WHERE o.total < l.a",
        "and more": """SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer = c.name
            UNION ALL SELECT a, s FROM loose""",
        "with a view of itself": """CREATE VIEW counted AS
            SELECT s, COUNT(*) AS n, MAX(a) AS most FROM loose GROUP BY s;
            CREATE VIEW asked AS SELECT l.a, c.n, c.most FROM loose l JOIN counted c ON c.s = l.s""",
        "NULL meets NULL": "SELECT x.a, y.id FROM loose x JOIN orders y ON x.s <=> y.customer",
    },
    "aggregate": {
        "having": """SELECT s, COUNT(*) AS n, COUNT(a) AS known, AVG(a) AS mean, SUM(b) AS total
            FROM loose GROUP BY s HAVING COUNT(*) > 1""",
        "all": "SELECT COUNT(*) AS n, SUM(a) AS total, AVG(b) AS mean FROM loose WHERE s IS NOT NULL",
        "joined": """SELECT c.city, SUM(o.total) AS total, COUNT(*) FILTER (WHERE o.total > 2) AS large
            FROM orders o JOIN customers c ON o.customer = c.name GROUP BY c.city""",
        "floats": "SELECT s, SUM(x) AS total, AVG(x) AS mean FROM scales GROUP BY s",
        "two keys": "SELECT s, a % 2 AS odd, SUM(b) - COUNT(b) AS rest FROM loose GROUP BY s, a % 2",
        "of an aggregate": """SELECT n, COUNT(*) AS groups FROM
            (SELECT s, COUNT(*) AS n FROM loose GROUP BY s) g GROUP BY n""",
        "of what is matched": """SELECT c.city, COUNT(o.id) AS n, SUM(o.total) AS total FROM customers c
            LEFT JOIN orders o ON o.customer = c.name GROUP BY c.city""",
        "of what is far": """SELECT c.city, COUNT(l.a) AS n, SUM(l.b) AS total FROM orders o
            LEFT JOIN customers c ON o.customer = c.name LEFT JOIN loose l ON l.s = c.city GROUP BY c.city""",
    },
    "minmax": {
        "many": "SELECT s, MIN(a) AS least, MAX(b) AS most, COUNT(DISTINCT a) AS kinds FROM loose GROUP BY s",
        "all": "SELECT MAX(total) AS most, COUNT(*) AS n FROM orders",
        "joined": """SELECT c.city, MIN(o.total) AS least FROM orders o
            JOIN customers c ON o.customer = c.name GROUP BY c.city HAVING MIN(o.total) < 20""",
        "expression": "SELECT a + b AS sum, MAX(s) AS last FROM loose GROUP BY a + b",
    },
    "distinct": {
        "pairs": "SELECT DISTINCT a, s FROM loose",
        "union": "SELECT customer FROM orders UNION SELECT s FROM loose",
        "count": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT s FROM loose) d",
    },
    "outer-join": {
        "condition": """SELECT c.name, o.id FROM customers c
            LEFT JOIN orders o ON o.customer = c.name AND o.total > 2""",
        "right": "SELECT l.a, k.amount FROM loose l RIGHT JOIN stock k ON l.a = k.place AND l.s = k.item",
        "full": "SELECT x.a, y.id, y.total FROM loose x FULL JOIN orders y ON x.s = y.customer",
        "chain": """SELECT o.id, c.city, l.b FROM orders o LEFT JOIN customers c ON o.customer = c.name
            LEFT JOIN loose l ON l.s = c.city""",
        "no equality": "SELECT o.id, l.a FROM orders o LEFT JOIN loose l ON o.total < l.a",
    },
    "semi-join": {
        "exists": "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.name)",
        "in": "SELECT a, s FROM loose WHERE s IN (SELECT customer FROM orders WHERE total > 2)",
        "not in": "SELECT id, customer FROM orders WHERE customer NOT IN (SELECT s FROM loose)",
        "tied not in": """SELECT o.id FROM orders o
            WHERE o.total NOT IN (SELECT l.a FROM loose l WHERE l.s = o.customer)""",
        "or": """SELECT id FROM orders o WHERE o.total > 11
            OR EXISTS (SELECT 1 FROM loose l WHERE l.s = o.customer AND l.a = o.total)""",
    },
    "subquery": {
        "untied": "SELECT id FROM orders WHERE total > (SELECT AVG(a) FROM loose)",
        "of some": """SELECT o.customer, COUNT(*) AS n FROM orders o JOIN customers c ON c.name = o.customer
            WHERE c.city = 'a' AND o.total <= (SELECT AVG(i.total) FROM orders i WHERE i.customer = c.name)
            GROUP BY o.customer""",
        "of some that are there": """SELECT o.id FROM orders o LEFT JOIN loose l ON l.s = o.customer
            WHERE o.customer IN (SELECT name FROM customers WHERE city <> 'b') AND (l.a IS NULL OR l.a < o.total)""",
        "sum": """SELECT c.name, (SELECT SUM(o.total) FROM orders o WHERE o.customer = c.name) AS total
            FROM customers c""",
        "count": """SELECT l.a FROM loose l
            WHERE (SELECT COUNT(*) + 1 FROM orders o WHERE o.customer = l.s AND o.total > 1) = l.b""",
        "having": """SELECT s, COUNT(*) AS n FROM loose GROUP BY s
            HAVING COUNT(*) >= (SELECT COUNT(*) FROM customers)""",
    },
    "set-operation": {
        "intersect": "SELECT a, s FROM loose INTERSECT SELECT total, customer FROM orders",
        "intersect all": "SELECT s FROM loose INTERSECT ALL SELECT customer FROM orders",
        "except": "SELECT s FROM loose EXCEPT SELECT name FROM customers",
        "except all": "SELECT a, s FROM loose EXCEPT ALL SELECT b, s FROM loose",
        "expressions": "SELECT UPPER(s) AS s FROM loose EXCEPT ALL SELECT UPPER(customer) FROM orders",
    },
    "window": {
        "ties": """SELECT s, a, RANK() OVER (PARTITION BY s ORDER BY a DESC) AS place,
            DENSE_RANK() OVER (PARTITION BY s ORDER BY a DESC) AS step FROM loose""",
        "frame": """SELECT id, LAG(total) OVER (PARTITION BY customer ORDER BY id) AS before,
            SUM(total) OVER (PARTITION BY customer ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two
            FROM orders""",
        "joined": """SELECT o.id, COUNT(*) OVER (PARTITION BY c.city) AS n FROM orders o
            JOIN customers c ON o.customer = c.name""",
        "copies": """SELECT s, a FROM loose
            QUALIFY ROW_NUMBER() OVER (PARTITION BY s ORDER BY a, b) = 1""",
    },
    "top": {
        "one": "SELECT a, s FROM loose ORDER BY s, a LIMIT 1",
        "offset": "SELECT a, s FROM loose ORDER BY a DESC LIMIT 2 OFFSET 1",
        "joined": """SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer = c.name
            ORDER BY c.city, o.total DESC LIMIT 2""",
        "of an aggregate": "SELECT s, SUM(a) AS total FROM loose GROUP BY s ORDER BY total DESC NULLS FIRST LIMIT 1",
    },
    "generate": {
        "outer": "SELECT o.id, t.part FROM orders o LATERAL VIEW OUTER EXPLODE(SPLIT(o.customer, ',')) t AS part",
        "places": "SELECT l.a, t.place, t.part FROM loose l LATERAL VIEW POSEXPLODE(SPLIT(l.s, ',')) t AS place, part",
        "counted": """SELECT t.part, COUNT(*) AS n, SUM(l.a) AS total FROM loose l
            LATERAL VIEW EXPLODE(SPLIT(l.s, ',')) t AS part GROUP BY t.part""",
        "unnest": "SELECT l.s, u.n FROM loose l CROSS JOIN UNNEST(ARRAY(l.a, l.b)) AS u(n) WHERE u.n > 1",
        "joined": """SELECT p.id, c.city FROM (SELECT o.id, t.part FROM orders o
            LATERAL VIEW EXPLODE(SPLIT(o.customer, ',')) t AS part) p LEFT JOIN customers c ON c.name = p.part""",
    },
    "grouping-sets": {
        "cube": """SELECT s, a % 2 AS odd, COUNT(*) AS n, AVG(b) AS mean, GROUPING(s) AS of_all FROM loose
            GROUP BY CUBE (s, a % 2)""",
        "sets": "SELECT s, a, SUM(b) AS total FROM loose GROUP BY GROUPING SETS ((s), (a, s), ())",
        "most": "SELECT customer, MAX(total) AS most FROM orders GROUP BY ROLLUP (customer)",
    },
    "recompute": {
        "full": "SELECT o.id, l.a FROM orders o FULL JOIN loose l ON o.total < l.a",
        "tied by more": """SELECT l.a, (SELECT COUNT(*) FROM orders o WHERE o.total > l.a) AS more FROM loose l""",
        "above": """SELECT place, COUNT(*) AS n
            FROM (SELECT id, RANK() OVER (ORDER BY total) AS place FROM orders) r GROUP BY place""",
    },
}
"""Further queries by operator; each is a law of its own, so none has to show everything."""


def script_of(query: str) -> str:
    """The script that declares the tables a query names, and the query as a view, if it is not one yet."""
    named = [name for name in TABLES if re.search(rf"\b{name}\b", query)]
    tables = [f"CREATE TABLE {name} ({TABLES[name]}) WITH ('connector' = 'values');" for name in named]
    return "\n".join(
        [*tables, f"{query};" if query.startswith("CREATE") else f"CREATE VIEW asked AS {query};"]
    )


def page_of(operator: str) -> Page:
    """The page of an operator."""
    return read_page((PAGES / f"{operator}.md").read_text())


def scripts() -> dict[tuple[str, str], str]:
    """All scripts by operator and title; every operator has at least its page."""
    found = {}
    for operator in OPERATORS:
        found[operator.name, "page"] = page_of(operator.name).script
        for title, query in FURTHER.get(operator.name, {}).items():
            found[operator.name, title] = script_of(query)
    return found
