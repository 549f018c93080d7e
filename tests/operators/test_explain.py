"""What EXPLAIN says beside the statements, and what may be recomputed. Oracle: the answers, written down by hand."""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from tests.operators.on_paper import compile_on_paper, explain_on_paper

TABLES = """
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE visits (customer STRING) WITH ('connector' = 'values');
"""
RANKED = "CREATE VIEW ranked AS SELECT id, RANK() OVER (ORDER BY total) AS place FROM orders;"


def paragraphs(view: str) -> list[list[str]]:
    """What EXPLAIN says of a view, cut at its empty lines."""
    return [part.splitlines() for part in explain_on_paper(f"{TABLES}{view}").split("\n\n")]


def headings(view: str) -> list[str]:
    """For each set of changed relations the first line of what is said about it."""
    return [lines[0] for lines in paragraphs(view) if " change" in lines[0]]


def keys(view: str) -> list[str]:
    """What EXPLAIN says of the keys."""
    (found,) = [lines[1:] for lines in paragraphs(view) if lines[0] == "-- keys"]
    return [line.removeprefix("--   ") for line in found]


def test_explain_names_the_keys_of_what_is_read_and_the_groups_that_are_kept() -> None:
    view = """CREATE VIEW cities AS
    SELECT c.city, SUM(o.total) AS total FROM orders o JOIN customers c ON o.customer = c.name GROUP BY c.city;"""
    assert keys(view) == ["orders: unique by id", "customers: unique by name", "cities: grouped by c.city"]


def test_explain_names_what_a_view_is_sliced_by() -> None:
    view = """CREATE VIEW seen AS
    SELECT c.name, v.customer FROM customers c LEFT JOIN visits v ON v.customer = c.name;"""
    assert keys(view) == [
        "customers: unique by name",
        "visits: no key",
        "seen: sliced by c.name, v.customer",
    ]


def test_explain_says_that_there_is_only_one_group() -> None:
    assert keys("CREATE VIEW s AS SELECT SUM(total) AS total FROM orders;") == [
        "orders: unique by id",
        "s: one group",
    ]


def test_explain_has_the_statements_for_each_table_and_for_all_of_them_in_one_batch() -> None:
    view = """CREATE VIEW places AS
    SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer = c.name;"""
    assert headings(view) == [
        '-- places: bilinear; when "orders" changes',
        '-- places: bilinear; when "customers" changes',
        '-- places: bilinear; when "orders" and "customers" change',
    ]
    together = paragraphs(view)[-1]
    # The change of the second meets the rows of the first as they are after the batch.
    assert "--   o__new_2 is orders, new, only where customer is in c__change_2.name" in together
    assert "--   c__old_1 is customers, old, only where name is in o__change_1.customer" in together


def test_explain_of_one_table_says_nothing_twice() -> None:
    assert headings("CREATE VIEW v AS SELECT id FROM orders;") == ['-- v: linear; when "orders" changes']


def test_recompute_is_allowed_in_silence() -> None:
    assert compile_on_paper(TABLES + RANKED).answers == ()


def test_recompute_is_told_where_that_was_asked_for() -> None:
    program = compile_on_paper(f"{TABLES}SET 'headwater.recompute' = 'warn';{RANKED}")
    assert program.answers == (
        '"ranked" is computed anew whenever what it reads changes, because of a window over all rows',
    )


def test_recompute_is_refused_where_that_was_asked_for() -> None:
    with pytest.raises(SqlError) as told:
        compile_on_paper(f"{TABLES}SET 'headwater.recompute' = 'forbid';\n{RANKED}")
    assert told.value.message == '"ranked" can only be kept by computing it anew, and that is forbidden'
    assert told.value.detail == "It has a window over all rows."
    assert "SET 'headwater.recompute' = 'allow'" in told.value.hint
    assert told.value.place is not None and told.value.place.line == 6


def test_what_has_a_change_plan_is_not_told_and_not_refused() -> None:
    for wanted in ("warn", "forbid"):
        program = compile_on_paper(
            f"{TABLES}SET 'headwater.recompute' = '{wanted}'; CREATE VIEW v AS SELECT DISTINCT customer FROM visits;"
        )
        assert program.answers == ()


def test_the_setting_holds_for_what_stands_behind_it() -> None:
    again = RANKED.replace("VIEW ranked", "VIEW again")
    script = f"{TABLES}{RANKED}SET 'headwater.recompute' = 'warn';{again}"
    (told,) = compile_on_paper(script).answers
    assert told.startswith('"again" ')
