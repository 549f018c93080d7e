"""The generator itself, without Spark: what it promises, whatever the seed."""

from __future__ import annotations

from collections import Counter
from math import inf, nan
from pathlib import Path
from random import Random

import pytest
from sqlglot import parse_one

from tests.random_queries.campaign import after, history
from tests.random_queries.compare import differences
from tests.random_queries.found import story
from tests.random_queries.queries import OPERATORS, new_dice, whole_query
from tests.random_queries.shrink import Case, between, moments
from tests.random_queries.smaller import smaller
from tests.random_queries.tables import BY_NAME, TABLES
from tests.random_queries.trial import Failure, View, needed
from tests.random_queries.words import Source
from tests.stories.story import parse, signed


@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_every_operator_comes_at_least_ten_times_in_150_queries(seed: str) -> None:
    dice = new_dice(seed)
    for number in range(150):
        made = whole_query(dice)
        dice.used += dice.using
        if number % 15 == 0:
            dice.relations = {name: dice.relations[name] for name in BY_NAME}
        name = f"view{number % 15 + 1}"
        dice.relations[name] = Source(name, name, made.columns, 10)
    assert {name: dice.used[name] for name in OPERATORS if dice.used[name] < 10} == {}
    assert set(dice.used) <= set(OPERATORS), "what is counted is also asked for"


def test_a_seed_always_makes_the_same_queries_and_the_same_changes() -> None:
    one, two = ([whole_query(dice).sql for _ in range(20)] for dice in (new_dice("s"), new_dice("s")))
    assert one == two
    assert one != [whole_query(dice).sql for dice in [new_dice("t")] for _ in range(20)]
    assert repr(history(Random("s"))) == repr(history(Random("s")))


def test_a_history_empties_a_table_and_ends_with_rows_in_all() -> None:
    for seed in range(20):
        found = moments(history(Random(f"{seed}")))
        assert any(not bag for bags in found for bag in bags.values())
        assert all(found[-1].values())


def test_rows_are_compared_as_bags_with_floating_numbers_to_nine_digits() -> None:
    assert differences(Counter({(1, 0.1 + 0.2): 2}), Counter({(1, 0.3): 2})) == ([], [])
    assert differences(Counter({(1, 0.3): 1}), Counter({(1, 0.3): 2})) == ([(1, 0.3)], [])
    assert differences(Counter({(1, 0.3): 1}), Counter({(1, 0.3001): 1})) == ([(1, 0.3001)], [(1, 0.3)])
    assert differences(Counter({(nan, inf): 1}), Counter({(nan, inf): 1})) == ([], [])
    assert differences(Counter({(nan,): 1}), Counter({(None,): 1})) == ([(None,)], [(nan,)])
    assert differences(Counter({((0.3, None),): 1}), Counter({((0.1 + 0.2, None),): 1})) == ([], [])
    assert differences(Counter({(1e17,): 1}), Counter({(inf,): 1})) == ([(inf,)], [(1e17,)])


def test_a_history_told_moment_by_moment_ends_the_same() -> None:
    steps = history(Random("s"))
    again = between(moments(steps))
    assert len(again) == len(steps)
    assert moments(again) == moments(steps)
    assert after(again).truth == after(steps).truth


def test_smaller_queries_have_one_part_less() -> None:
    sql = "SELECT a.k AS c0, MAX(a.x) AS c1 FROM t AS a JOIN u AS b ON a.k = b.k WHERE a.x > 1 OR b.x > 2 GROUP BY a.k"
    found = list(smaller(sql))
    for text in (
        sql.partition(" WHERE")[0] + " GROUP BY a.k",
        sql.replace(" JOIN u AS b ON a.k = b.k", ""),
        sql.replace(" OR b.x > 2", ""),
        sql.replace(", MAX(a.x) AS c1", ""),
    ):
        assert text in found
    assert sql not in found and len(found) == len(set(found))
    assert all(parse_one(text, dialect="spark") for text in found)


def test_views_are_tried_with_those_they_read() -> None:
    one, two, three = (
        View("view1", "SELECT 1"),
        View("view2", "SELECT 2"),
        View("view3", "SELECT * FROM view1"),
    )
    four = View("view4", "SELECT * FROM (SELECT * FROM view3)")
    assert needed(four, [one, two, three, four]) == [one, three, four]


def test_what_was_found_can_be_told_as_a_story(tmp_path: Path) -> None:
    steps = history(Random("s"))
    case = Case(
        (View("view1", "SELECT n.w AS c0, i.s AS c1 FROM notes AS n JOIN items AS i ON n.k = i.k"),), steps
    )
    path = tmp_path / "found.story"
    path.write_text(story(case, Failure(case.views[0], 2, "missing 1")), encoding="utf-8")
    blocks = parse(path)
    assert [block.text for block in blocks].count("step") == len(steps)
    assert {block.text for block in blocks if block.text.startswith("change")} == {
        "change notes",
        "change items",
    }
    told = [signed(block.expected) for block in blocks if block.text == "change notes"]
    given = [transaction["notes"] for step in steps for transaction in step if transaction.get("notes")]
    assert [len(rows) for rows in told] == [len(rows) for rows in given]
    assert set(told[0][0][1]) == {column.name for column in TABLES[-1].columns}
