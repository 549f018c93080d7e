"""The laws that every rule obeys, for every operator, on rows that Hypothesis draws; no Spark is needed.

Oracles: DuckDB, which runs each view's own query from nothing over the rows that its tables hold; and the rules
themselves by another way: from nothing, two batches in one, forward and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.incremental.change_plan import Input, Version
from headwater.incremental.differentiate import differentiate
from headwater.incremental.operators import OPERATORS, Operator
from headwater.incremental.rules import top
from headwater.runtime.answers import explain
from tests.laws.batches import Course, both, courses, drawn, negated
from tests.laws.on_duckdb import Kept, States, Stepped, compile_on_duckdb
from tests.laws.rows import Row
from tests.laws.scripts import FURTHER, page_of, scripts
from tests.operators.on_paper import first_part

EXAMPLES = 5
"""So many courses of each script, and other ones each time."""

each_script = pytest.mark.parametrize(
    "script", [pytest.param(text, id=f"{operator}: {title}") for (operator, title), text in scripts().items()]
)


@dataclass(frozen=True)
class Walk:
    """A script filled with the first rows of a course, and brought up to date after each of its two batches."""

    kept: Kept
    course: Course
    begin: Stepped
    middle: Stepped
    end: Stepped

    def views(self, states: States) -> dict[str, Mapping[Row, int]]:
        """What every view holds, and how often."""
        return {name: states[name].net() for name in self.kept.program.views}

    def changes(self, step: Stepped) -> dict[str, Mapping[Row, int]]:
        """What changed in every view."""
        return {name: rows.net() for name, rows in step.changes.items() if name in self.kept.program.views}


def walked(kept: Kept, course: Course) -> Walk:
    """Begin, one batch, the other batch."""
    one, other = course.batches
    begin = kept.filled(course.first)
    middle = kept.stepped(begin.states, one)
    return Walk(kept, course, begin, middle, kept.stepped(middle.states, other))


def law_of_truth(walk: Walk) -> None:
    """What is kept is what the query gives from nothing, and a change is what it gives now less what it gave before."""
    before = {name: Counter[Row]() for name in walk.kept.program.results}
    for step in (walk.begin, walk.middle, walk.end):
        after = {name: Counter(rows.rows) for name, rows in walk.kept.results(step.states).items()}
        assert {name: step.states[name].net() for name in after} == after
        changes = walk.changes(step)
        for name, rows in after.items():
            difference = {row: rows[row] - before[name][row] for row in rows | before[name]}
            assert changes.get(name, {}) == {row: weight for row, weight in difference.items() if weight}
        before = after


def law_of_consolidation(walk: Walk) -> None:
    """In the change of a view nothing comes and goes: each row stands there as often as it came, or as it went."""
    for step in (walk.begin, walk.middle, walk.end):
        for name, net in walk.changes(step).items():
            assert len(step.changes[name].rows) == sum(map(abs, net.values()))


def law_of_ways(walk: Walk) -> None:
    """From nothing, the change is the same; and what is kept then, and compacted, is as good as what was added up."""
    anew = walk.kept.stepped(walk.begin.states, walk.course.batches[0], anew=walk.kept.program.views)
    assert walk.changes(anew) == walk.changes(walk.middle)
    after = walk.kept.stepped(walk.kept.compacted(anew.states), walk.course.batches[1])
    assert walk.changes(after) == walk.changes(walk.end)


def law_of_cuts(walk: Walk) -> None:
    """Wherever the changes are cut into batches, they end the same."""
    whole = walk.kept.stepped(walk.begin.states, both(*walk.course.batches))
    assert walk.views(whole.states) == walk.views(walk.end.states)


def law_of_return(walk: Walk) -> None:
    """A batch and then its negation leave everything as it was; both in one change nothing."""
    one = walk.course.batches[0]
    back = walk.kept.stepped(walk.middle.states, negated(one))
    assert walk.views(back.states) == walk.views(walk.begin.states)
    assert all(weight > 0 for net in walk.views(back.states).values() for weight in net.values())
    assert walk.changes(walk.kept.stepped(walk.begin.states, both(one, negated(one)))) == {}


LAWS = (law_of_truth, law_of_consolidation, law_of_ways, law_of_cuts, law_of_return)


def check(kept: Kept, course: Course) -> None:
    """All laws on one course: they share its steps."""
    walk = walked(kept, course)
    for law in LAWS:
        law(walk)


@cache
def kept_of(script: str) -> Kept:
    return Kept(compile_on_duckdb(script))


@each_script
@settings(drawn, max_examples=EXAMPLES)
@given(data=st.data())
def test_the_laws_hold(script: str, data: st.DataObject) -> None:
    kept = kept_of(script)
    check(kept, data.draw(courses(kept.schemas), label="course"))


def test_the_laws_hold_where_a_row_on_the_way_changes_what_is_read_behind_it() -> None:
    # What is read of the last table depends on the one before it, as it was and as it is; luck seldom leads here.
    first = {"orders": ((1, "a", 1),), "customers": (("a", "b"),), "loose": ((1, 1, "b"), (2, 2, "a"))}
    moved = {"orders": (), "customers": (("a", "b", -1), ("a", "a", 1)), "loose": ()}
    gone = {"orders": (), "customers": (("a", "a", -1),), "loose": ((2, 2, "a", -1),)}
    check(kept_of(scripts()["outer-join", "chain"]), Course(first, (moved, gone)))


def test_the_laws_hold_for_first_rows_when_few_are_kept_beside_them() -> None:
    with pytest.MonkeyPatch.context() as patch:
        # As many are kept as are asked for, and as many again: a few changes use them up.
        patch.setattr(top, "_SPARE", 0)
        patch.setattr(top, "_MOST", 0)
        kept = Kept(compile_on_duckdb(scripts()["top", "one"]))

        # Of the last row that is kept more copies go than are kept, while another comes before it.
        last = Course(
            {"loose": ((1, 1, "a"), *[(2, 1, "b")] * 3)},
            ({"loose": ((2, 1, "b", -1), (2, 1, "b", -1), (3, 1, "a", 1))}, {"loose": ((1, 1, "a", -1),)}),
        )

        # What was the last row before, and went, is still stored beside what says so.
        copies = Course(
            {"loose": ((1, 1, "a"), (1, 1, "a"), (1, 1, None))},
            (
                {"loose": ((1, 1, "a", -1), (None, 1, "a", 1), (1, 1, "a", -1), (1, 1, None, 1))},
                {"loose": ()},
            ),
        )

        @example(copies)
        @example(last)
        @settings(drawn, max_examples=30)
        @given(courses(kept.schemas, rows=8))
        def hold(course: Course) -> None:
            check(kept, course)

        hold()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_the_laws_are_asked_of_the_plan_that_the_page_shows(operator: Operator) -> None:
    page = page_of(operator.name)
    program = kept_of(page.script).program
    told = explain(program.results[page.view], program.views, program.tables)
    assert first_part(told, page.view) == page.maintained


def test_every_further_query_belongs_to_an_operator() -> None:
    assert set(FURTHER) <= {operator.name for operator in OPERATORS}


# Seen to fail.


def tampered(script: str, changed: set[str], change: Callable[[Input], Input]) -> Kept:
    """A script of one view, whose plan for some changed tables reads other inputs than it should."""
    kept = Kept(compile_on_duckdb(script))
    (view,) = kept.program.views.values()
    plan = differentiate(view.maintained, changed)
    statements = [replace(s, inputs=tuple(map(change, s.inputs))) for s in plan.statements]
    kept.plans[view.name, frozenset(changed)] = replace(plan, statements=tuple(statements))
    return kept


ORDERS, CUSTOMERS = ((1, "ann", 5),), (("bob", "Kiel"),)
COURSE = Course(
    {"orders": ORDERS, "customers": CUSTOMERS},
    (
        {"orders": ((2, "cat", 7, 1),), "customers": (("cat", "Ulm", 1),)},
        {"orders": ((1, "ann", 5, -1),), "customers": (("bob", "Kiel", -1),)},
    ),
)


def test_a_join_that_forgets_what_came_on_both_sides_is_seen() -> None:
    page = page_of("join")

    def as_before(read: Input) -> Input:
        return replace(read, version=Version.OLD) if read.version is Version.NEW else read

    check(tampered(page.script, {"orders", "customers"}, lambda read: read), COURSE)
    with pytest.raises(AssertionError):
        law_of_truth(walked(tampered(page.script, {"orders", "customers"}, as_before), COURSE))


def test_a_plan_that_reads_too_little_is_seen() -> None:
    page = page_of("outer-join")

    def too_little(read: Input) -> Input:
        if read.restriction is None or read.relation != "customers":
            return read
        return replace(read, restriction=replace(read.restriction, column="city"))

    check(tampered(page.script, {"orders", "customers"}, lambda read: read), COURSE)
    with pytest.raises(AssertionError):
        law_of_truth(walked(tampered(page.script, {"orders", "customers"}, too_little), COURSE))
