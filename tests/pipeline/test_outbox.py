"""The outbox: orders sent as messages of their own transaction, read straight from the log, without a broker.

Oracle: the JSON that Postgres itself builds of the tables that the messages were built from.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.world import pipeline, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

SETUP = """
CREATE TABLE clients (id serial PRIMARY KEY, name text);
CREATE TABLE tables (id serial PRIMARY KEY, name text, seats int);
CREATE TABLE pizzas (id serial PRIMARY KEY, name text, price int);
CREATE TABLE table_assignment (
    id serial PRIMARY KEY, client_id int, table_id int, in_time timestamp, out_time timestamp);
CREATE TABLE orders (id serial, table_assignment_id int, order_time timestamp, pizzas int[]);
ALTER TABLE orders REPLICA IDENTITY FULL;
INSERT INTO clients (name) VALUES ('Ann'), ('Zoë "Z" O''Neil');
INSERT INTO tables (name, seats) VALUES ('Window', 4), (NULL, 2);
INSERT INTO pizzas (name, price) VALUES ('Margherita', 12), ('Diavola', 15), ('Salame', 14), ('Pesto', 13);
INSERT INTO table_assignment (client_id, table_id) VALUES (1, 1), (2, 2);
CREATE TABLE order_output (order_id int PRIMARY KEY, client_name text, table_name text, pizzas text);
"""

ORDER = """
DO $$
DECLARE made int; sent text;
BEGIN
  INSERT INTO orders (table_assignment_id, order_time, pizzas) VALUES ({table}, now(), '{pizzas}')
    RETURNING id INTO made;
  SELECT jsonb_build_object('order_id', o.id, 'client_name', c.name, 'table_name', t.name, 'pizzas',
      coalesce(jsonb_agg(jsonb_build_object('pizza', p.name, 'price', p.price)) FILTER (WHERE p.id > 0), '[]'))
    INTO sent FROM orders o
    JOIN table_assignment a ON a.id = o.table_assignment_id
    LEFT JOIN pizzas p ON p.id = ANY (o.pizzas)
    JOIN clients c ON c.id = a.client_id JOIN tables t ON t.id = a.table_id
    WHERE o.id = made GROUP BY o.id, c.name, t.name;
  PERFORM pg_logical_emit_message({transactional}, 'myprefix', sent);
END $$
"""

QUERY = """
INSERT INTO order_output
SELECT
    JSON_VALUE(content, '$.order_id' RETURNING INT),
    JSON_VALUE(content, '$.client_name'),
    JSON_VALUE(content, '$.table_name'),
    JSON_QUERY(content, '$.pizzas[*]')
FROM pg_messages;
"""


def order(database: Database, table: int, pizzas: str, *, transactional: str = "true") -> None:
    """Insert an order and tell of it, in one transaction."""
    database.run(ORDER.format(table=table, pizzas="{" + pizzas + "}", transactional=transactional))


def script(database: Database) -> str:
    """Messages and their table, side by side in one database, and a sink."""
    return (
        source(database, "", name="pg_messages", messages__prefix="myprefix")
        + source(database, "orders", "(id INT, pizzas ARRAY<INT>)")
        + sink(
            database,
            "order_output",
            "(order_id INT, client_name STRING, table_name STRING, pizzas STRING,"
            " PRIMARY KEY (order_id) NOT ENFORCED)",
        )
        + "CREATE VIEW untold AS SELECT id FROM orders WHERE id NOT IN"
        " (SELECT JSON_VALUE(content, '$.order_id' RETURNING INT) FROM pg_messages);" + QUERY
    )


def written(database: Database) -> list[tuple[object, ...]]:
    """What the sink holds, with the pizzas read from their JSON."""
    found = database.run("SELECT * FROM order_output ORDER BY 1")
    return [(number, client, table, json.loads(pizzas)) for number, client, table, pizzas in found]


def pizza(name: str, price: int) -> dict[str, object]:
    return {"pizza": name, "price": price}


def test_orders_come_out_of_the_log_with_no_one_and_many_pizzas(database: Database, folder: Path) -> None:
    database.run(SETUP)
    with pipeline(script(database), folder) as running:
        running.run_once()
        order(database, 1, "1,2")
        order(database, 2, "3")
        running.run_once()
        assert running.rows("untold", 10).num_rows == 0
        order(database, 2, "")
        running.run_once()
    order(database, 1, "4", transactional="false")
    with pipeline(script(database), folder) as running:
        running.run_once()
        assert running.rows("untold", 10).num_rows == 0
    assert written(database) == [
        (1, "Ann", "Window", [pizza("Margherita", 12), pizza("Diavola", 15)]),
        (2, 'Zoë "Z" O\'Neil', None, [pizza("Salame", 14)]),
        (3, 'Zoë "Z" O\'Neil', None, []),
        (4, "Ann", "Window", [pizza("Pesto", 13)]),
    ]
