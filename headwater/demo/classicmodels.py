"""The classicmodels tables of a MySQL database, with rows made up from a seed, and people who work on them."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

SEED = 20240304
DATABASE, TARGET_SCHEMA = "classicmodels", "classicmodels_star_schema"
CUSTOMERS, PRODUCTS, ORDERS = 122, 110, 326

LINES = ("Classic Cars", "Motorcycles", "Planes", "Ships", "Trains", "Trucks and Buses", "Vintage Cars")
STATUSES = ("Shipped", "In Process", "On Hold", "Resolved", "Cancelled", "Disputed")
_CITIES = (
    ("Nantes", None, "France"),
    ("Boston", "MA", "USA"),
    ("Oslo", None, "Norway"),
    ("Perth", "WA", "Australia"),
)
_WORDS = ("Blue", "Fast", "Grand", "Old", "Royal", "Silver", "Straße", "Tiny")
_THINGS = ("Baron", "Comet", "Falcon", "Galaxy", "Harrier", "Meteor", "Phantom", "Zeppelin")

DDL = (
    f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4",
    f"USE {DATABASE}",
    "CREATE TABLE IF NOT EXISTS productlines (productLine varchar(50) PRIMARY KEY, textDescription varchar(4000),"
    " htmlDescription mediumtext, image mediumblob)",
    "CREATE TABLE IF NOT EXISTS products (productCode varchar(15) PRIMARY KEY, productName varchar(70) NOT NULL,"
    " productLine varchar(50) NOT NULL, productScale varchar(10) NOT NULL, productVendor varchar(50) NOT NULL,"
    " productDescription text NOT NULL, quantityInStock smallint NOT NULL, buyPrice decimal(10,2) NOT NULL,"
    " MSRP decimal(10,2) NOT NULL, FOREIGN KEY (productLine) REFERENCES productlines (productLine))",
    "CREATE TABLE IF NOT EXISTS customers (customerNumber int PRIMARY KEY, customerName varchar(50) NOT NULL,"
    " contactLastName varchar(50) NOT NULL, contactFirstName varchar(50) NOT NULL, phone varchar(50) NOT NULL,"
    " addressLine1 varchar(50) NOT NULL, addressLine2 varchar(50), city varchar(50) NOT NULL, state varchar(50),"
    " postalCode varchar(15), country varchar(50) NOT NULL, salesRepEmployeeNumber int, creditLimit decimal(10,2))",
    "CREATE TABLE IF NOT EXISTS orders (orderNumber int PRIMARY KEY, orderDate date NOT NULL,"
    " requiredDate date NOT NULL, shippedDate date, status varchar(15) NOT NULL, comments text,"
    " customerNumber int NOT NULL, FOREIGN KEY (customerNumber) REFERENCES customers (customerNumber))",
    "CREATE TABLE IF NOT EXISTS orderdetails (orderNumber int, productCode varchar(15), quantityOrdered int NOT NULL,"
    " priceEach decimal(10,2) NOT NULL, orderLineNumber smallint NOT NULL, PRIMARY KEY (orderNumber, productCode),"
    " FOREIGN KEY (orderNumber) REFERENCES orders (orderNumber),"
    " FOREIGN KEY (productCode) REFERENCES products (productCode))",
)

TARGET_DDL = f"""
CREATE SCHEMA IF NOT EXISTS {TARGET_SCHEMA};
CREATE TABLE IF NOT EXISTS {TARGET_SCHEMA}.fact_orders ("orderNumber" int, "productCode" varchar(15),
    "customerNumber" int, "orderDate" date, "requiredDate" date, "shippedDate" date, status varchar(15), comments text,
    "orderLineNumber" smallint, "quantityOrdered" int, "priceEach" decimal(10,2),
    PRIMARY KEY ("orderNumber", "productCode"));
CREATE TABLE IF NOT EXISTS {TARGET_SCHEMA}.dim_customers ("customerNumber" int PRIMARY KEY, "customerName" varchar(50),
    "contactLastName" varchar(50), "contactFirstName" varchar(50), phone varchar(50), "addressLine1" varchar(50),
    "addressLine2" varchar(50), city varchar(50), state varchar(50), "postalCode" varchar(15), country varchar(50),
    "salesRepEmployeeNumber" int, "creditLimit" decimal(10,2));
CREATE TABLE IF NOT EXISTS {TARGET_SCHEMA}.dim_products ("productCode" varchar(15) PRIMARY KEY,
    "productName" varchar(70), "productLine" varchar(50), "productScale" varchar(10), "productVendor" varchar(50),
    "productDescription" text, "quantityInStock" smallint, "buyPrice" decimal(10,2), "MSRP" decimal(10,2),
    "productLineDescription" varchar(4000));
"""

ORPHANS = f"""
SELECT count(*) FROM {TARGET_SCHEMA}.fact_orders f
LEFT JOIN {TARGET_SCHEMA}.dim_customers c USING ("customerNumber")
LEFT JOIN {TARGET_SCHEMA}.dim_products p USING ("productCode")
WHERE c."customerNumber" IS NULL OR p."productCode" IS NULL
"""
"""Lines of orders without their customer or product: never any."""

KEYS = (
    ("productlines", "productLine", "products"),
    ("products", "productCode", "orderdetails"),
    ("customers", "customerNumber", "orders"),
    ("orders", "orderNumber", "orderdetails"),
)
"""A table, its key, and the table whose rows refer to it."""

Row = Sequence[Any]


def first_rows() -> Iterator[tuple[str, list[Row]]]:
    """The first rows of each table, in an order in which references hold."""
    dice = random.Random(SEED)
    yield "productlines", [(line, f"All our {line.lower()}.", None, line.encode()) for line in LINES]
    yield "products", [product(dice, number) for number in range(PRODUCTS)]
    yield "customers", [customer(dice, 100 + number) for number in range(CUSTOMERS)]
    yield "orders", [order(dice, 10_100 + number) for number in range(ORDERS)]
    details = []
    for number in range(ORDERS):
        chosen = dice.sample(range(PRODUCTS), dice.randint(1, 17))
        details += [detail(dice, 10_100 + number, code(p), place) for place, p in enumerate(chosen, 1)]
    yield "orderdetails", details


def code(number: int) -> str:
    """The code of a product."""
    return f"S{10 + number % 70}_{1000 + number}"


def product(dice: random.Random, number: int) -> Row:
    """A product of some line."""
    price = dice.randint(1500, 10_000) / 100
    name = f"{dice.choice(_WORDS)} {dice.choice(_THINGS)} {1900 + number}"
    return (
        code(number),
        name,
        dice.choice(LINES),
        dice.choice(("1:10", "1:24")),
        "Toys & Sons",
        f'"{name}"\nin detail',
        dice.randint(0, 9999),
        price,
        price * 2,
    )


def customer(dice: random.Random, number: int) -> Row:
    """A customer somewhere."""
    city, state, country = dice.choice(_CITIES)
    name = f"{dice.choice(_WORDS)} {dice.choice(_THINGS)} Ltd"
    return (
        number,
        name,
        dice.choice(_THINGS),
        dice.choice(_WORDS),
        f"+{number}",
        f"{number} Main St",
        None,
        city,
        state,
        None if dice.random() < 0.3 else f"{number}00",
        country,
        None,
        dice.randint(0, 20_000_000) / 100,
    )


def order(dice: random.Random, number: int) -> Row:
    """An order of some customer."""
    day = datetime.date(2003, 1, 6) + datetime.timedelta(days=dice.randrange(870))
    shipped = None if dice.random() < 0.1 else day + datetime.timedelta(days=dice.randint(1, 6))
    comment = None if dice.random() < 0.7 else "Customer said: 'soon'"
    wanted = day + datetime.timedelta(days=9)
    return (number, day, wanted, shipped, dice.choice(STATUSES), comment, 100 + dice.randrange(CUSTOMERS))


def detail(dice: random.Random, number: int, product_code: str, place: int) -> Row:
    """A line of an order."""
    return (number, product_code, dice.randint(1, 97), dice.randint(2600, 21_400) / 100, place)


def make_tables(connection: Any) -> bool:
    """Make the tables and their first rows where there are none; True if rows were made."""
    with connection.cursor() as cursor:
        for statement in DDL:
            cursor.execute(statement)
        cursor.execute("SELECT EXISTS (SELECT * FROM customers)")
        if int(cursor.fetchone()[0]):
            return False
        for table, rows in first_rows():
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    connection.commit()
    return True


class Clerk:
    """Works on all five tables, one transaction at a time: orders come, change and go, with all that belongs to them."""

    def __init__(self, connection: Any, seed: int = SEED, *, last: int | None = None) -> None:
        """Numbers that are given out follow `last`, or one that belongs to the seed."""
        connection.autocommit(False)
        self._connection, self._dice = connection, random.Random(seed)
        self._next = 20_000 + seed % 1000 * 1000 if last is None else last

    def work(self, most: int = 1) -> int:
        """One transaction of some kind."""
        kind = self._dice.choice(
            (
                self._new_order,
                self._new_customer,
                self._new_product,
                self._changed,
                self._gone,
                self._withdrawn,
                self._renamed,
            )
        )
        return self._done(kind)

    def sell(self) -> int:
        """An order comes, as the first one does."""
        return self._done(self._new_order)

    def _done(self, kind: Callable[[Any], None]) -> int:
        with self._connection.cursor() as cursor:
            kind(cursor)
        self._connection.commit()
        return 1

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _some(self, cursor: Any, query: str) -> Any:
        cursor.execute(f"{query} ORDER BY rand({self._dice.randrange(10**6)}) LIMIT 1")
        return cursor.fetchone()

    def _insert(self, cursor: Any, table: str, row: Row) -> None:
        cursor.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)

    def _new_order(self, cursor: Any) -> None:
        """A customer nobody knew orders something."""
        number = self._number()
        self._insert(cursor, "customers", customer(self._dice, number))
        placed = list(order(self._dice, number))
        placed[-1] = number
        self._insert(cursor, "orders", placed)
        for place in range(1, self._dice.randint(2, 4)):
            (chosen,) = self._some(
                cursor,
                "SELECT productCode FROM products WHERE productCode NOT IN"
                f" (SELECT productCode FROM orderdetails WHERE orderNumber = {number})",
            )
            self._insert(cursor, "orderdetails", detail(self._dice, number, chosen, place))

    def _new_customer(self, cursor: Any) -> None:
        self._insert(cursor, "customers", customer(self._dice, self._number()))

    def _new_product(self, cursor: Any) -> None:
        """A line, a product of it, and someone who orders it at once."""
        number = self._number()
        line = f"Line {number}"
        self._insert(cursor, "productlines", (line, f"New: {line}", None, b"\x00"))
        made = list(product(self._dice, number))
        made[2] = line
        self._insert(cursor, "products", made)
        (placed,) = self._some(cursor, "SELECT orderNumber FROM orders")
        self._insert(cursor, "orderdetails", detail(self._dice, placed, str(made[0]), 99))

    def _changed(self, cursor: Any) -> None:
        """Something else than the key, of a row of each table."""
        (number,) = self._some(cursor, "SELECT customerNumber FROM customers")
        cursor.execute(
            "UPDATE customers SET creditLimit = creditLimit + 1 WHERE customerNumber = %s", (number,)
        )
        cursor.execute(
            "UPDATE orders SET status = %s WHERE customerNumber = %s", (self._dice.choice(STATUSES), number)
        )
        chosen, line = self._some(cursor, "SELECT productCode, productLine FROM products")
        cursor.execute("UPDATE products SET MSRP = MSRP + 1 WHERE productCode = %s", (chosen,))
        cursor.execute("UPDATE orderdetails SET priceEach = priceEach + 1 WHERE productCode = %s", (chosen,))
        cursor.execute(
            "UPDATE productlines SET textDescription = left(concat('~', textDescription), 4000)"
            " WHERE productLine = %s",
            (line,),
        )

    def _gone(self, cursor: Any) -> None:
        """An order is taken back, and its customer leaves if there is no other."""
        number, owner = self._some(cursor, "SELECT orderNumber, customerNumber FROM orders")
        cursor.execute("DELETE FROM orderdetails WHERE orderNumber = %s", (number,))
        cursor.execute("DELETE FROM orders WHERE orderNumber = %s", (number,))
        cursor.execute(
            "DELETE FROM customers WHERE customerNumber = %s"
            " AND customerNumber NOT IN (SELECT customerNumber FROM orders)",
            (owner,),
        )

    def _withdrawn(self, cursor: Any) -> None:
        """A product is no longer sold, not even to those who ordered it, and its line goes if it was the last."""
        cursor.execute("SELECT count(*) FROM products")
        if int(cursor.fetchone()[0]) < PRODUCTS // 2:
            return self._new_product(cursor)
        old, line = self._some(
            cursor, "SELECT max(productCode), productLine FROM products GROUP BY productLine"
        )
        cursor.execute("DELETE FROM orderdetails WHERE productCode = %s", (old,))
        cursor.execute("DELETE FROM products WHERE productCode = %s", (old,))
        cursor.execute(
            "DELETE FROM productlines WHERE productLine = %s"
            " AND productLine NOT IN (SELECT productLine FROM products)",
            (line,),
        )

    def _renamed(self, cursor: Any) -> None:
        """The key of a row changes, and with it that of all rows that refer to it."""
        table, key, owned = self._dice.choice(KEYS)
        (old,) = self._some(cursor, f"SELECT {key} FROM {table}")
        number = self._number()
        new = {"productCode": code(number), "productLine": f"Line {number}"}.get(key, number)
        # The keys refuse such a change whichever row comes first; in the end all of them hold.
        cursor.execute("SET foreign_key_checks = 0")
        try:
            for changed in (table, owned):
                cursor.execute(f"UPDATE {changed} SET {key} = %s WHERE {key} = %s", (new, old))
        finally:
            cursor.execute("SET foreign_key_checks = 1")
