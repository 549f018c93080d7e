"""`headwater demo star` as a program, straight from the server's log.

Oracle: what the queries of the star give when they are asked of the shop's own database.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pymysql
import pytest

from headwater.demo.classicmodels import DATABASE, ORPHANS, TARGET_SCHEMA
from tests.demo.played import HEADWATER, PATIENCE, Demo, wait_for
from tests.faults.star import QUERIES

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

Bag = Counter[tuple[Any, ...]]


@contextmanager
def shop_at_rest(port: int) -> Iterator[dict[str, Bag]]:
    """What the star should be; nobody changes the shop while the block runs."""
    client = pymysql.connect(
        host="127.0.0.1", port=port, user="headwater", password="headwater", database=DATABASE
    )
    with client, client.cursor() as cursor:
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        wanted = {}
        for table, query in QUERIES.items():
            cursor.execute(query)
            wanted[table] = Counter(cursor.fetchall())
        yield wanted


def star(uri: str) -> dict[str, Bag]:
    """What the star is now; no line of an order in it stands alone."""
    client = psycopg2.connect(uri)
    try:
        with client, client.cursor() as cursor:
            found = {}
            for table in QUERIES:
                cursor.execute(f"SELECT * FROM {TARGET_SCHEMA}.{table}")
                found[table] = Counter(cursor.fetchall())
            cursor.execute(ORPHANS)
            assert cursor.fetchone() == (0,)
            return found
    finally:
        client.close()


def mysql(demo: Demo, sql: str) -> subprocess.CompletedProcess[str]:
    """What the demo's own client answers."""
    command = [*HEADWATER, "demo", "mysql", "star", "--state", str(demo.folder / "demo"), "-c", sql]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def test_the_star_follows_the_shop_and_is_whole(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own / "star"
    folder.mkdir()
    with Demo("star", folder, "--no-kafka") as demo:
        demo.says("+ orderNumber=20")
        by_hand = "INSERT INTO customers VALUES (7, 'By Hand', '', '', '', '', NULL, 'Faro', NULL, NULL, '', NULL, 1)"
        assert mysql(demo, by_hand).returncode == 0
        assert mysql(demo, "SELECT nope").returncode != 0
        with shop_at_rest(demo.ports["mysql"]) as wanted:
            assert wait_for(lambda: star(demo.uri) == wanted, PATIENCE), demo.told()
        assert "By Hand" in demo.psql("SELECT * FROM dim_customers WHERE city = 'Faro'")
        assert "lines without customer or product: 0\n" in demo.told()
    demo.leaves_nothing()
    other = Demo("star", folder, "--no-kafka", "--mariadb")
    assert other.end() == 2
    assert "this demo was begun with MySQL, without Kafka" in other.told()
