"""Weights cancel in one place, and there are laws for it. Oracle: weighted rows added up in Python."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from headwater.incremental.weights import bag, consolidated, union_all, view
from headwater.schema import WEIGHT
from headwater.spark.text import to_text
from tests.laws.batches import drawn
from tests.laws.on_duckdb import database
from tests.laws.rows import Row, Rows

COLUMNS = (("a", "INT"), ("s", "TEXT"), (WEIGHT, "TINYINT"))
NAMES = ("a", "s")

weighted_rows = st.lists(
    st.tuples(st.none() | st.integers(1, 2), st.sampled_from((None, "a", "b")), st.sampled_from((1, -1))),
    max_size=8,
).map(lambda rows: Rows(COLUMNS, tuple(rows)))


X, Y = (exp.select("*").from_(view(name)) for name in ("x", "y"))
"""`SELECT * FROM x`, and of `y`."""

ONCE = consolidated(X, NAMES)
UNIONS = (union_all([X, Y]), union_all([Y, X]), union_all([ONCE, consolidated(Y, NAMES)]))

# A query is turned into text once, and asked of many rows.
once, again, of_none, true = map(
    to_text, (ONCE, consolidated(ONCE, NAMES), consolidated(X, ()), bag(X, NAMES))
)
of_both = [to_text(consolidated(union, NAMES)) for union in UNIONS]


def found(text: str, **given_rows: Rows) -> Counter[Row]:
    """The rows of a query, in whatever order."""
    return Counter(database().ask(text, given_rows).rows)


@drawn
@given(weighted_rows)
def test_each_row_stands_there_as_often_as_its_weights_add_up_to(x: Rows) -> None:
    assert found(once, x=x) == Counter(x.consolidated().rows)


@drawn
@given(weighted_rows)
def test_to_consolidate_again_changes_nothing(x: Rows) -> None:
    assert found(again, x=x) == found(once, x=x)


@drawn
@given(weighted_rows, weighted_rows)
def test_neither_the_order_of_the_parts_counts_nor_whether_they_were_consolidated(x: Rows, y: Rows) -> None:
    for text in of_both:
        assert found(text, x=x, y=y) == Counter(x.added(y).consolidated().rows)


@drawn
@given(weighted_rows)
def test_rows_and_their_negation_are_nothing(x: Rows) -> None:
    assert found(once, x=x.added(x.negated())) == Counter()


@drawn
@given(weighted_rows)
def test_rows_without_columns_are_counted(x: Rows) -> None:
    bare = x.chosen([WEIGHT])
    total = sum(bare.values(WEIGHT))
    assert found(of_none, x=bare) == Counter({(1 if total > 0 else -1,): abs(total)})


@drawn
@given(weighted_rows)
def test_a_bag_holds_what_is_true_and_refuses_what_cannot_be(x: Rows) -> None:
    net = x.net()
    if all(weight > 0 for weight in net.values()):
        assert found(true, x=x) == Counter(net)
    else:
        with pytest.raises(duckdb.Error, match="went more often than it came"):
            found(true, x=x)
