"""Which way a step takes, from what the steps before it took. Oracle: the seconds that are told, compared by hand."""

from __future__ import annotations

import pytest

from headwater.runtime.costs import Cost, CostModel, Way


def told(model: CostModel, way: Way, *steps: tuple[int, float]) -> None:
    """Steps that were done one way: how many rows, and how long they took."""
    for rows, seconds in steps:
        model.note("v", Cost(way, "sql", 0, {}, 0, seconds), rows=rows)


def chosen(model: CostModel, *, changed: int = 100, total: int = 1_000) -> Way:
    """The way of the next step."""
    return model.choose("v", changed=changed, total=total)


def test_what_was_never_done_by_its_change_plan_is() -> None:
    model = CostModel()
    assert chosen(model) is Way.CHANGE
    told(model, Way.ANEW, (1_000, 0.001))
    assert chosen(model) is Way.CHANGE


def test_the_change_plan_is_left_where_computing_anew_is_clearly_cheaper() -> None:
    model = CostModel()
    told(model, Way.ANEW, (1_000, 2.0))
    told(model, Way.CHANGE, (100, 2.5), (100, 2.5))
    assert chosen(model) is Way.CHANGE
    told(model, Way.CHANGE, *[(100, 4.0)] * 8)
    assert chosen(model) is Way.ANEW
    assert chosen(model, total=10_000) is Way.ANEW, "one size tells nothing of others"


def test_a_first_slow_step_is_given_a_second_one() -> None:
    model = CostModel()
    told(model, Way.ANEW, (1_000, 2.0))
    told(model, Way.CHANGE, (100, 10.0))
    assert chosen(model) is Way.CHANGE
    told(model, Way.CHANGE, (100, 1.0))
    assert model.expected("v", Way.CHANGE, rows=100) == pytest.approx(1.0)
    assert chosen(model) is Way.CHANGE


def test_a_first_step_that_is_far_slower_is_enough() -> None:
    model = CostModel()
    told(model, Way.ANEW, (1_000, 2.0))
    told(model, Way.CHANGE, (100, 30.0))
    assert chosen(model) is Way.ANEW


def test_what_takes_little_is_not_thought_about() -> None:
    model = CostModel()
    told(model, Way.ANEW, (1_000, 0.01), (1_000, 0.01))
    told(model, Way.CHANGE, (100, 0.4), (100, 0.4))
    assert chosen(model) is Way.CHANGE


def test_a_line_through_the_steps_tells_of_other_sizes() -> None:
    model = CostModel()
    told(model, Way.CHANGE, (7, 9.0), (100, 1.0), (200, 1.5))
    assert model.expected("v", Way.CHANGE, rows=1_000) == pytest.approx(5.5)
    told(model, Way.ANEW, (1_000, 2.0))
    assert chosen(model, changed=100) is Way.CHANGE
    assert chosen(model, changed=1_000) is Way.ANEW


def test_who_forbids_it_never_computes_anew() -> None:
    model = CostModel(may_recompute=False)
    told(model, Way.ANEW, (1_000, 0.1))
    told(model, Way.CHANGE, (100, 10.0), (100, 10.0))
    assert chosen(model) is Way.CHANGE


def test_what_was_seen_outlives_the_process() -> None:
    model, other = CostModel(), CostModel()
    told(model, Way.ANEW, (1_000, 2.0))
    told(model, Way.CHANGE, (100, 10.0), (100, 9.0))
    other.take_text(model.to_text())
    assert chosen(other) is Way.ANEW and other.last == model.last
    told(other, Way.CHANGE, (100, 9.0))
    assert other.expected("v", Way.CHANGE, rows=100) == pytest.approx(9.0)
