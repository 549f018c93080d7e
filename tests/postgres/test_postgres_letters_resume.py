"""A capture that dies while it reads first rows that do not all fit: letters are neither lost nor doubled.

Oracle: the rows of the table when the second one begins, those that fit and the others.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.postgres.letters import PARKS, folded, letters
from tests.postgres.test_postgres_earlier import CHANGES, fill, killed, resumed
from tests.postgres.world import Database, World, read_now

pytestmark = pytest.mark.services


def test_letters_of_what_was_read_are_kept_and_made_good(database: Database, world: World) -> None:
    """A tinyint holds some of the numbers that the changes make; some of the keys do not fit a smallint."""
    fill(database)
    database.run("UPDATE t SET n = 300 WHERE id % 50 = 0; UPDATE t SET id = id + 40000 WHERE id % 111 = 0")
    table = database.table("t", "id smallint, n tinyint, word string", "id", **PARKS)
    killed(database, world, table)
    for change in CHANGES:
        database.run(change)
    database.run("DELETE FROM t WHERE id % 111 = 6; UPDATE t SET n = 300 WHERE id % 77 = 0")
    with world.source(table) as source:
        said = read_now(source)
    assert resumed(world)
    fits = "id BETWEEN -32768 AND 32767 AND n BETWEEN -128 AND 127"
    assert folded(said, "t") == Counter(database.run(f"SELECT * FROM t WHERE {fits}"))
    left = Counter((row["id"], row["n"]) for _, _, row in letters(said))
    assert left == Counter(database.run(f"SELECT id::text, n::text FROM t WHERE NOT ({fits})"))
