"""The answer a terminal holds. Oracle: the rows added up by hand."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headwater.changes.change_set import ChangeSet
from headwater.cli.answer import LONG_AGO, Answer
from headwater.schema import Column, Schema
from tests.cli.fakes import COSTS, Signed, change_set

NO_KEY = Schema(COSTS.columns)


def follow(schema: Schema, *changes: ChangeSet) -> Answer:
    """The answer after each change set, the first at second 1, the next at second 2 and so on."""
    answer = Answer("costs", schema)
    for second, change in enumerate(changes, start=1):
        answer.apply(change.table(), float(second))
    return answer


def cells(answer: Answer) -> list[tuple[object, ...]]:
    return [row.cells for row in answer.rows()]


def test_rows_stand_in_order_with_null_last() -> None:
    answer = follow(COSTS, change_set(("+", "b", 2.0), ("+", None, 1.0), ("+", "a", 3.0)))
    assert cells(answer) == [("a", 3.0), ("b", 2.0), (None, 1.0)]


def test_a_row_that_went_is_gone() -> None:
    answer = follow(COSTS, change_set(("+", "a", 1.0), ("+", "b", 2.0)), change_set(("-", "a", 1.0)))
    assert cells(answer) == [("b", 2.0)]
    assert len(answer) == 1


def test_only_the_cell_that_changed_is_stamped() -> None:
    answer = follow(COSTS, change_set(("+", "a", 1.0)), change_set(("-", "a", 1.0), ("+", "a", 2.0)))
    assert [row.changed for row in answer.rows()] == [(1.0, 2.0)]


def test_what_it_was_filled_with_is_no_news() -> None:
    answer = Answer("costs", COSTS)
    answer.fill(change_set(("+", "a", 1.0)).table())
    answer.apply(change_set(("-", "a", 1.0), ("+", "a", 2.0)).table(), 5.0)
    assert [row.changed for row in answer.rows()] == [(LONG_AGO, 5.0)]


def test_rows_without_a_key_may_repeat() -> None:
    answer = follow(NO_KEY, change_set(("+", "a", 1.0), ("+", "a", 1.0)), change_set(("-", "a", 1.0)))
    assert cells(answer) == [("a", 1.0)]


def test_nan_cancels_nan() -> None:
    nan = float("nan")
    answer = follow(COSTS, change_set(("+", "a", nan)), change_set(("-", "a", nan), ("+", "a", 1.0)))
    assert cells(answer) == [("a", 1.0)]


rows = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1.0, 2.0, None]))


@given(st.lists(st.lists(rows, max_size=4), max_size=5))
def test_an_answer_is_always_the_sum_of_its_changes(
    states: list[list[tuple[str | None, float | None]]],
) -> None:
    # Oracle: each state is listed whole; the changes are the difference to the one before.
    before: Counter[tuple[str | None, float | None]] = Counter()
    changes = []
    for state in states:
        after = Counter(state)
        gone: list[Signed] = [("-", *row) for row in (before - after).elements()]
        come: list[Signed] = [("+", *row) for row in (after - before).elements()]
        changes.append(change_set(*gone, *come, schema=NO_KEY))
        before = after
    answer = follow(Schema((Column("animal", "string"), Column("total", "double"))), *changes)
    assert Counter(cells(answer)) == before
