"""The clerk of the shop does everything there is to do: each kind of change on each table, and the shop stays whole.

Oracle: triggers at the server that count what happened, and queries for rows whose partner is missing.
"""

from __future__ import annotations

import pytest

from headwater.demo.classicmodels import DDL, Clerk, first_rows
from tests.mysql.world import Database
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services]

WORKS = 150
KEYS = {
    "productlines": ("productLine",),
    "products": ("productCode",),
    "customers": ("customerNumber",),
    "orders": ("orderNumber",),
    "orderdetails": ("orderNumber", "productCode"),
}
ALONE = """
SELECT (SELECT count(*) FROM orders LEFT JOIN customers USING (customerNumber) WHERE customerName IS NULL)
    + (SELECT count(*) FROM orderdetails LEFT JOIN orders USING (orderNumber) WHERE orderDate IS NULL)
    + (SELECT count(*) FROM orderdetails LEFT JOIN products USING (productCode) WHERE productName IS NULL)
    + (SELECT count(*) FROM products LEFT JOIN productlines USING (productLine) WHERE textDescription IS NULL)
"""


def count_changes(database: Database) -> None:
    """Let the server write down what happens."""
    database.run("CREATE TABLE happened (name varchar(20), kind varchar(20))")
    for table, key in KEYS.items():
        same = " AND ".join(f"OLD.{column} = NEW.{column}" for column in key)
        kinds = {
            "insert": "'insert'",
            "update": f"CASE WHEN {same} THEN 'update' ELSE 'key' END",
            "delete": "'delete'",
        }
        for kind, said in kinds.items():
            database.run(
                f"CREATE TRIGGER {table}_{kind} AFTER {kind} ON {table} FOR EACH ROW"
                f" INSERT INTO happened VALUES ('{table}', {said})"
            )


def test_all_that_can_happen_to_each_table_happens(mariadb: SharedMysql) -> None:
    database = Database(mariadb)
    database.run(*DDL[2:])
    for table, rows in first_rows():
        database.many(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(rows[0]))})", rows)
    count_changes(database)
    with database.connect() as client:
        client.select_db(database.name)
        clerk = Clerk(client, seed=1)
        for _ in range(WORKS):
            clerk.work()
            assert database.run(ALONE) == [(0,)]
    happened = set(database.run("SELECT DISTINCT name, kind FROM happened"))
    assert happened == {(table, kind) for table in KEYS for kind in ("insert", "update", "delete", "key")}
    assert database.run("SELECT count(*) FROM products")[0][0] > 50
    database.close()
