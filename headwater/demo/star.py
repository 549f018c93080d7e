"""A shop on MySQL or MariaDB and its star schema in Postgres: the files, the services and the commands of one demo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
from psycopg2 import sql

from headwater.demo import classicmodels as shop
from headwater.demo.claims import connected
from headwater.demo.looks import Look
from headwater.demo.package_files import connector_file, sql_file
from headwater.demo.session import DemoFolder
from headwater.demo.stage import Ports
from headwater.errors import SourceError
from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer
from headwater.services.mysql_server import MysqlFamilyServer
from headwater.services.ports import HOST
from headwater.services.postgres import PostgresServer

NAME = "star"
CONNECTOR = "shop-connector"
TABLES = ("fact_orders", "dim_customers", "dim_products")
TOPICS = tuple(
    f"shop.{shop.DATABASE}.{table}"
    for table in ("customers", "products", "productlines", "orders", "orderdetails")
)
TRANSACTIONS_TOPIC = "shop.transaction"
"""Where Debezium tells the ends of transactions, so that a batch ends where they do over all five topics."""

EVERY_SECONDS = 0.5
FIRST_NUMBER = 200_000
"""What the shop numbers while the demo runs has more digits than what was there, and sorts after it as text too."""

KEY = ("orderNumber", "productCode")

NEWEST = 12
"""So many of the newest rows are shown."""

ALONE = "lines without customer or product"

SERVERS: dict[str, type[MysqlFamilyServer]] = {"mysql": MysqlServer, "mariadb": MariadbServer}
NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}
CONNECTORS = {
    "mysql": "io.debezium.connector.mysql.MySqlConnector",
    "mariadb": "io.debezium.connector.mariadb.MariaDbConnector",
}

OTHERS_WERE_FASTER = (1205, 1213)
"""MySQL's numbers for a lock that was waited for too long, and for a deadlock."""

_NUMBERS = """
SELECT greatest((SELECT coalesce(max(customerNumber), 0) FROM customers),
    (SELECT coalesce(max(orderNumber), 0) FROM orders),
    (SELECT coalesce(max(cast(substr(productLine, 6) AS unsigned)), 0) FROM productlines
     WHERE productLine LIKE 'Line %'))
"""
_HAS_ROWS = "SELECT EXISTS (SELECT * FROM orders), EXISTS (SELECT * FROM products)"

_NEWEST_FACTS = f"""
SELECT "orderNumber", "productCode", "customerName", "productName", status, "quantityOrdered", "priceEach"
FROM {shop.TARGET_SCHEMA}.fact_orders
LEFT JOIN {shop.TARGET_SCHEMA}.dim_customers USING ("customerNumber")
LEFT JOIN {shop.TARGET_SCHEMA}.dim_products USING ("productCode")
ORDER BY "orderNumber" DESC, "productCode" DESC LIMIT %s
"""


@dataclass(frozen=True)
class Way:
    """Which server the shop is on, and whether its changes go through Kafka."""

    server: str
    through_kafka: bool

    @property
    def variant(self) -> str:
        """How it is told: `with MySQL, through Kafka`."""
        return f"with {NAMES[self.server]}, {'through' if self.through_kafka else 'without'} Kafka"

    @property
    def sets(self) -> tuple[tuple[str, str], ...]:
        """The packages that have to be there, each after the part that needs them."""
        own = (self.server, self.server)
        if not self.through_kafka:
            return (own,)
        plugin = ("connect", f"debezium-{self.server}")
        return (own, ("kafka", "kafka"), plugin, ("headwater", "spark-kafka"))


class Shop:
    """The server of the shop, which has its tables once it runs."""

    def __init__(self, folder: DemoFolder, ports: Ports, *, server: str) -> None:
        self._server = SERVERS[server](folder.path / server, ports.mysql)

    @property
    def place(self) -> str:
        """Where it is to be found."""
        return self._server.address

    def start(self) -> None:
        """Start it and make the tables where there are none."""
        self._server.start()
        with connected_shop(self.place) as connection:
            shop.make_tables(connection)

    def stop(self) -> None:
        """Stop it; harmless when it is down."""
        self._server.stop()


@contextmanager
def connected_shop(address: str) -> Iterator[Any]:
    """A connection to the server at `host:port`; what it says becomes an error of ours."""
    host, _, port = address.partition(":")
    own = MysqlFamilyServer
    try:
        connection = pymysql.connect(
            host=host, port=int(port), user=own.user, password=own.password, charset="utf8mb4"
        )
        with connection:
            yield connection
    except pymysql.Error as failed:
        raise SourceError("the demo's database refused a change", detail=f"{failed.args[-1]}.") from failed


class Shopkeeper:
    """The clerk of a shop that may be closed and opened again, and in which others work too."""

    def __init__(self, connection: Any) -> None:
        connection.select_db(shop.DATABASE)
        with connection.cursor() as cursor:
            cursor.execute(_NUMBERS)
            last = max(FIRST_NUMBER, int(cursor.fetchone()[0]))
        connection.commit()
        self._connection = connection
        # A demo that goes on does not repeat itself.
        self._clerk = shop.Clerk(connection, seed=last, last=last)

    def work(self, most: int) -> int:
        """One transaction, unless somebody else took all products away or was faster."""
        with self._connection.cursor() as cursor:
            cursor.execute(_HAS_ROWS)
            has_orders, has_products = cursor.fetchone()
        # The clerk's transaction is to see what is there when it begins.
        self._connection.rollback()
        if not has_products:
            return 0
        try:
            return self._clerk.work(most) if has_orders else self._clerk.sell()
        except pymysql.IntegrityError:
            self._connection.rollback()
        except pymysql.OperationalError as failed:
            if failed.args[0] not in OTHERS_WERE_FASTER:
                raise
            self._connection.rollback()
        return 0


def make_star(uri: str) -> bool:
    """Make the empty tables of the star where there are none."""
    with connected(uri) as connection, connection, connection.cursor() as cursor:
        cursor.execute(shop.TARGET_DDL)
    return True


class Watcher:
    """Looks at the star, and remembers how many lines ever stood without their customer or product."""

    def __init__(self) -> None:
        self._worst = 0

    def look(self, cursor: Any) -> Look:
        """How much there is of everything, and the newest lines of orders."""
        counts = {table: _count(cursor, table) for table in TABLES}
        cursor.execute(shop.ORPHANS)
        self._worst = max(self._worst, cursor.fetchone()[0])
        cursor.execute(_NEWEST_FACTS, [NEWEST])
        names = [column.name for column in cursor.description]
        rows = {f"{row[0]} {row[1]}": dict(zip(names, row, strict=True)) for row in cursor.fetchall()}
        return Look({**counts, ALONE: self._worst}, rows)


def _count(cursor: Any, table: str) -> int:
    cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(shop.TARGET_SCHEMA, table)))
    (count,) = cursor.fetchone()
    return int(count)


@dataclass(frozen=True)
class Files:
    """What one demo runs, written where people can read it and edit a copy."""

    pipeline: Path
    connector: Path | None


def write_files(folder: DemoFolder, ports: Ports, *, way: Way) -> Files:
    """Write the demo's files with the addresses and users it has."""
    own = MysqlFamilyServer
    tables = "star_tables_kafka.sql" if way.through_kafka else "star_tables.sql"
    more = {
        "'hostname' = 'mysql'": f"'hostname' = '{HOST}'",
        "'port' = '3306'": f"'port' = '{ports.mysql}'",
        "'username' = 'root'": f"'username' = '{own.user}'",
        "'password' = 'debezium'": f"'password' = '{own.password}'",
        "'username' = 'postgresuser'": f"'username' = '{PostgresServer.user}'",
        "'password' = 'adminpwrd'": f"'password' = '{PostgresServer.password}'",
    }
    pipeline = folder.path / "star.sql"
    texts = [sql_file(name, ports, more=more) for name in (tables, "star.sql")]
    pipeline.write_text("\n".join(texts), encoding="utf-8")
    if not way.through_kafka:
        return Files(pipeline, None)
    connector = folder.path / "register-mysql.json"
    options = {
        "connector.class": CONNECTORS[way.server],
        "database.port": str(ports.mysql),
        "database.user": own.user,
        "database.password": own.password,
        "schema.history.internal.kafka.bootstrap.servers": ports.broker,
    }
    connector.write_text(connector_file("register-mysql.json", ports, more=options), encoding="utf-8")
    return Files(pipeline, connector)


def commands(folder: DemoFolder, ports: Ports, *, way: Way) -> Sequence[str]:
    """What to type in another terminal to look inside."""
    kafka = [
        f"curl {ports.worker}/connectors/{CONNECTOR}/status",
        f"headwater tail {TOPICS[-1]} --bootstrap {ports.broker}",
    ]
    return [
        *(kafka if way.through_kafka else []),
        f"headwater demo mysql {NAME}{folder.flag} -c \"UPDATE orders SET status = 'Lost' ORDER BY orderNumber DESC"
        ' LIMIT 3"',
        f'headwater demo psql {NAME}{folder.flag} -c "SELECT status, count(*) FROM fact_orders GROUP BY status"',
    ]
