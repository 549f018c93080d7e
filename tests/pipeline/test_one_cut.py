"""All jdbc sinks of a database show one cut. Oracle: a reader who adds up one sink and looks at the other."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.world import both, pipeline, sink, source
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

ADDED_UP, TOTAL = "SELECT SUM(total), SUM(claims)::int FROM by_animal", "SELECT total, claims FROM whole"


class Reader:
    """Someone who looks at both sinks all the while, each time in one snapshot."""

    def __init__(self, database: Database) -> None:
        self.seen: set[object] = set()
        self.looks = 0
        self.wrong: list[object] = []
        self._database = database

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look until the block ends."""
        ended = threading.Event()

        def look() -> None:
            with self._database.client() as client:
                client.set_session(isolation_level="REPEATABLE READ", readonly=True)
                while not ended.wait(0.005):
                    self._look(client)

        thread = threading.Thread(target=look, name="reader")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _look(self, client: Any) -> None:
        with client, client.cursor() as cursor:
            cursor.execute(ADDED_UP)
            added = cursor.fetchone()
            cursor.execute(TOTAL)
            total = cursor.fetchone() or (None, None)
        self.looks += 1
        self.seen.add(total)
        self.wrong += [] if added == total else [(added, total)]


def change(database: Database, dice: random.Random) -> None:
    """One transaction that moves an amount from one animal to another, and sometimes adds one."""
    amount = dice.randint(1, 500)
    one, other = dice.sample(range(40), 2)
    database.together(
        f"UPDATE claims SET total = total - {amount} WHERE id = {one}",
        f"UPDATE claims SET total = total + {amount}, animal = 'a{dice.randint(0, 7)}' WHERE id = {other}",
        *([f"INSERT INTO claims VALUES (DEFAULT, 'a8', {amount})"] * dice.randint(0, 1)),
        "DELETE FROM claims WHERE id > 60",
    )


def test_two_sinks_of_one_database_always_agree(database: Database, folder: Path) -> None:
    database.run("CREATE TABLE claims (id serial PRIMARY KEY, animal text, total int)")
    database.run("INSERT INTO claims SELECT n, 'a' || n % 8, n * 10 FROM generate_series(0, 40) n")
    database.run("SELECT setval('claims_id_seq', 40)")
    database.run("CREATE TABLE by_animal (animal text PRIMARY KEY, total bigint, claims bigint)")
    database.run("CREATE TABLE whole (one int PRIMARY KEY, total bigint, claims bigint)")
    script = (
        source(database, "claims")
        + sink(
            database,
            "by_animal",
            "(animal STRING, total BIGINT, claims BIGINT, PRIMARY KEY (animal) NOT ENFORCED)",
        )
        + sink(database, "whole", "(one INT, total BIGINT, claims BIGINT, PRIMARY KEY (one) NOT ENFORCED)")
        + """
        INSERT INTO by_animal SELECT animal, SUM(total), COUNT(*) FROM claims GROUP BY animal;
        INSERT INTO whole SELECT 1, SUM(total), COUNT(*) FROM claims;
        """
    )
    reader, dice = Reader(database), random.Random(7)
    with pipeline(script, folder) as running, reader.looking():
        deadline = time.monotonic() + 180
        while len(reader.seen) < 8:
            assert time.monotonic() < deadline, f"the reader saw only {reader.seen}"
            change(database, dice)
            change(database, dice)
            running.step(wait=0.2)
        running.run_once()
        # Nothing changes any more: the reader sees something again, however slow it is.
        wait_for(lambda: reader.looks > len(reader.seen))
    assert reader.wrong == []
    one, other = both(database, TOTAL, "SELECT SUM(total), COUNT(*) FROM claims")
    assert one == other
