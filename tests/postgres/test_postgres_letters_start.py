"""Letters when a source starts again, otherwise declared, or over a table that changed.

Oracle: the rows of the server that fit, and the letters, written down by hand.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from headwater.errors import HeadwaterError, SourceError
from headwater.log.letters import DEAD_LETTERS
from tests.postgres.letters import COLUMNS, PARKS, folded, letters, make
from tests.postgres.world import Database, World, brief, events, read_now, read_to

pytestmark = pytest.mark.services


def test_letters_are_the_same_after_a_restart_and_never_doubled(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id", **PARKS)
    with world.source(table) as source:
        first = read_now(source)
        database.run("INSERT INTO t VALUES (4, 4000, 'd'), (5, 5, 'e')")
        said = first + read_now(source, after=first[-1].position)
    with world.source(table) as source:
        again = read_to(source, said[-1].position)
        assert events(again, DEAD_LETTERS) == events(said, DEAD_LETTERS)
        assert brief(again, "t") == brief(said, "t")
        database.run("UPDATE t SET n = 6000 WHERE id = 5")
        more = read_now(source, after=again[-1].position)
    assert brief(more, "t") == [("delete", 5, 5, "e")]
    assert [row["id"] for _, _, row in letters(more)] == ["5"]


def test_who_stops_at_errors_can_go_on_with_letters_but_not_back(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id bigint PRIMARY KEY, n numeric, name text); INSERT INTO t VALUES (1, 1, 'a')"
    )
    strict, lenient = database.table("t", COLUMNS, "id"), database.table("t", COLUMNS, "id", **PARKS)
    with world.source(strict) as source:
        first = read_now(source)
        database.run("INSERT INTO t VALUES (2, 2000, 'b')")
        with pytest.raises(SourceError, match="column 'n' of table 't' does not fit") as stopped:
            read_now(source, after=first[-1].position)
    assert "'errors' = 'dead-letter'" in stopped.value.hint
    with world.source(lenient, after=first[-1].position) as source:
        then = read_now(source, after=first[-1].position)
    assert (brief(then, "t"), [row["id"] for _, _, row in letters(then)]) == ([], ["2"])
    with (
        pytest.raises(SourceError, match="rows of table 't' were put aside") as refused,
        world.source(strict, after=then[-1].position),
    ):
        pass
    assert "resnapshot t" in refused.value.hint


def test_a_column_that_is_lost_stops_all_of_the_table(database: Database, world: World) -> None:
    """Rows that only this column kept out would go without ever having been there."""
    make(database)
    with world.source(database.table("t", COLUMNS, "id", **PARKS)) as source:
        first = read_now(source)
        database.run("ALTER TABLE t DROP COLUMN n; DELETE FROM t WHERE id = 2")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "t") == []
    assert [(loss.table, loss.column) for one in then for loss in one.losses] == [("t", None)]


def test_first_rows_alone_have_letters_too(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id", scan__startup__mode="snapshot", **PARKS)
    with world.source(table) as source:
        said = read_to(source, source.now())
    assert brief(said, "t") == [("insert", 1, 1, "ann")]
    assert [row["id"] for _, _, row in letters(said)] == ["2", "3"]


def test_a_letter_of_a_pattern_says_which_table(database: Database, world: World) -> None:
    for name in ("t_1", "t_2"):
        database.run(
            f"CREATE TABLE {name} (id int PRIMARY KEY, n numeric); INSERT INTO {name} VALUES (1, 1), (2, 'NaN')"
        )
    table = database.table(
        "t", "shard string, id int, n decimal(3,0)", "shard", "id", table_name=r"t_\d", **PARKS
    )
    with world.source(replace(table, metadata={"shard": "table_name"})) as source:
        first = read_now(source)
        database.run(
            "UPDATE t_1 SET n = 2000 WHERE id = 1; UPDATE t_2 SET n = 5; DELETE FROM t_1 WHERE id = 2"
        )
        said = first + read_now(source, after=first[-1].position)
    assert folded(said, "t", keys=2) == {("t_2", 1, 5): 1, ("t_2", 2, 5): 1}
    assert Counter((name, row["id"]) for name, _, row in letters(said)) == {("t", "2"): 2, ("t", "1"): 1}
    shown = {letter["error"].split("does not")[0] for letter in events(said, DEAD_LETTERS)}
    assert shown == {f"a value of column 'n' of table 't (public.t_{i})' " for i in (1, 2)}


def test_messages_have_no_letters(database: Database) -> None:
    with pytest.raises(HeadwaterError, match="'dead-letter' has no meaning for messages"):
        database.options("", messages__prefix="p", **PARKS)
