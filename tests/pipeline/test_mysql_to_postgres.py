"""A view over two tables of MySQL, into Postgres. Oracle: the same query, asked of MySQL itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.mysql.world import Database as Mysql
from tests.pipeline.world import Bag, bag, pipeline, rows, sink
from tests.postgres.world import Database
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services, pytest.mark.jvm]

QUERY = (
    "SELECT c.name, COUNT(*) AS orders, SUM(o.total) AS total FROM customers c JOIN orders o"
    " ON o.customer = c.id GROUP BY c.name"
)
STEPS = (
    ["INSERT INTO orders VALUES (3, 2, 1.25), (4, 9, 7)", "UPDATE orders SET total = total + 1 WHERE id = 1"],
    [
        "INSERT INTO customers VALUES (9, 'zoe')",
        "UPDATE orders SET id = id + 100",
        "DELETE FROM orders WHERE id = 102",
    ],
    ["UPDATE customers SET id = 20 WHERE id = 2", "UPDATE orders SET customer = 20 WHERE customer = 2"],
    ["UPDATE customers SET name = 'ann' WHERE id = 9"],
    ["TRUNCATE orders", "INSERT INTO orders VALUES (1, 1, 5)"],
)


def script(mysql: Mysql, database: Database) -> str:
    """The pipeline: tables without column lists, a view, a sink."""
    tables = "".join(
        f"CREATE TABLE {name} WITH ('connector' = 'mysql-cdc', 'hostname' = '127.0.0.1', 'port' = '{mysql.server.port}',"
        f" 'username' = '{mysql.server.user}', 'password' = '{mysql.server.password}',"
        f" 'database-name' = '{mysql.name}', 'table-name' = '{name}');\n"
        for name in ("customers", "orders")
    )
    columns = "(name STRING, orders BIGINT, total DECIMAL(32, 2), PRIMARY KEY (name) NOT ENFORCED)"
    out = sink(database, "totals_out", columns)
    return f"{tables}CREATE VIEW totals AS {QUERY};\n{out}INSERT INTO totals_out SELECT * FROM totals;"


def asked(mysql: Mysql) -> Bag:
    """What MySQL itself answers."""
    return Counter(mysql.run(QUERY))


def test_a_view_over_mysql_follows_into_postgres(
    mysql: SharedMysql, database: Database, folder: Path
) -> None:
    shop = Mysql(mysql)
    shop.run(
        "CREATE TABLE customers (id int PRIMARY KEY, name varchar(20))",
        "CREATE TABLE orders (id int PRIMARY KEY, customer int, total decimal(10,2))",
        "INSERT INTO customers VALUES (1, 'ann'), (2, 'bob')",
        "INSERT INTO orders VALUES (1, 1, 10), (2, 2, 2.5)",
    )
    database.run("CREATE TABLE totals_out (name text PRIMARY KEY, orders bigint, total numeric(32, 2))")
    text = script(shop, database)
    with pipeline(text, folder) as running:
        for step in ([], *STEPS[:3]):
            shop.together(*step)
            running.run_once()
            assert rows(running, "totals") == asked(shop), step
            assert bag(database, "SELECT name, orders, total FROM totals_out") == asked(shop), step
    with pipeline(text, folder) as running:
        for step in STEPS[3:]:
            shop.together(*step)
            running.run_once()
            assert bag(database, "SELECT name, orders, total FROM totals_out") == asked(shop), step
    shop.close()
