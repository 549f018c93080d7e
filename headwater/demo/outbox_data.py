"""The tables of a pizza place and their first rows: few, and some with quotes, letters from everywhere, and NULL."""

from __future__ import annotations

DDL = """
CREATE TABLE IF NOT EXISTS tables (id serial PRIMARY KEY, name text, seats int);
CREATE TABLE IF NOT EXISTS pizzas (id serial PRIMARY KEY, name text, price int);
CREATE TABLE IF NOT EXISTS clients (id serial PRIMARY KEY, name text);
CREATE TABLE IF NOT EXISTS table_assignment (
    id serial PRIMARY KEY,
    client_id int REFERENCES clients (id),
    table_id int REFERENCES tables (id),
    in_time timestamp,
    out_time timestamp
);
CREATE TABLE IF NOT EXISTS orders (
    id serial,
    table_assignment_id int REFERENCES table_assignment (id),
    order_time timestamp,
    pizzas integer[]
);
ALTER TABLE tables REPLICA IDENTITY FULL;
ALTER TABLE pizzas REPLICA IDENTITY FULL;
ALTER TABLE clients REPLICA IDENTITY FULL;
ALTER TABLE table_assignment REPLICA IDENTITY FULL;
ALTER TABLE orders REPLICA IDENTITY FULL;
"""

TABLES = (("Window", 4), ("Garden", 6), ("Bar", 2), (None, 8), ('The "Corner"', 3))
PIZZAS = (
    ("Margherita", 9),
    ("Marinara", 8),
    ("Diavola", 11),
    ("Quattro Stagioni", 13),
    ("Funghi", 10),
    ("'Nduja", 12),
)
CLIENTS = (("Alba Castle",), ("Bruno O'Hara",), ("Carla Niño",), ("Дарья",), ("Edda \\ Søn",), (None,))
SEATED = ((1, 1), (2, 2), (3, 3), (4, 5), (5, 4), (6, 1))
"""Who sits where: a client and a table."""

INSERTS = {
    "INSERT INTO tables (name, seats) VALUES %s": TABLES,
    "INSERT INTO pizzas (name, price) VALUES %s": PIZZAS,
    "INSERT INTO clients (name) VALUES %s": CLIENTS,
    "INSERT INTO table_assignment (client_id, table_id, in_time) VALUES %s": tuple(
        (client, table, "2024-03-01 19:00:00") for client, table in SEATED
    ),
    "INSERT INTO orders (table_assignment_id, order_time, pizzas) VALUES %s": (
        (1, "2024-03-01 19:10:00", [1, 3]),
        (2, "2024-03-01 19:12:00", [2]),
    ),
}
"""The first rows; the two orders were told to nobody, as they came before anyone listened."""
