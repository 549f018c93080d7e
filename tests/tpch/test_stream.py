"""The refresh stream says what it does, and the comparison sees what it must.

Oracle: DuckDB's EXCEPT ALL on the rows themselves, and bags written down by hand.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headwater.log.events import DELETE, INSERT, KIND
from tests.tpch.bags import Bag, bag_of, unequal
from tests.tpch.draft import key_numbers
from tests.tpch.queries import NAMES, query_texts, tables_read
from tests.tpch.stream import STEPS, Step, refresh, stream
from tests.tpch.tables import KEYS, Rows, make_data, read_data


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The tables at the scale that the views are tried at: at smaller ones some keys of the generator repeat."""
    folder = tmp_path_factory.mktemp("data")
    make_data(folder, scale=0.01)
    return read_data(folder)


@pytest.fixture(scope="module")
def steps(first: Rows, random_seed: str) -> list[Step]:
    print(f"--seed {random_seed}")
    return list(stream(first, random_seed))


def moments(first: Rows, steps: list[Step]) -> list[Rows]:
    """What the tables hold in the beginning and after each step."""
    return [first, *(step.rows for step in steps)]


def rows_without(one: pa.Table, other: pa.Table) -> int:
    """How many rows one bag has more than the other."""
    with duckdb.connect() as database:
        database.register("one", one)
        database.register("other", other)
        found = database.execute("SELECT COUNT(*) FROM (FROM one EXCEPT ALL FROM other)").fetchone()
    assert found is not None
    return int(found[0])


def said(changes: pa.Table, kind: str) -> pa.Table:
    """The rows that a transaction inserts, or deletes."""
    return changes.filter(pc.equal(changes.column(KIND), kind)).drop_columns([KIND])


def test_what_a_step_says_is_what_the_tables_hold_after_it(first: Rows, steps: list[Step]) -> None:
    assert len(steps) == len(STEPS) == 12
    for before, step in zip(moments(first, steps), steps, strict=False):
        for name, now in step.rows.items():
            assert len(key_numbers(name, now).unique()) == len(now)
            if name not in step.changes:
                assert now is before[name]
                continue
            came, gone = (said(step.changes[name], kind) for kind in (INSERT, DELETE))
            assert len(now) == len(before[name]) + len(came) - len(gone)
            # By the numbers above, no row is gone that was not there.
            assert not rows_without(pa.concat_tables([before[name], came]), pa.concat_tables([now, gone]))


def test_a_seed_always_tells_the_same(first: Rows, steps: list[Step], random_seed: str) -> None:
    def texts(told: list[Step]) -> list[dict[str, str]]:
        return [{name: str(changes.to_pylist()) for name, changes in step.changes.items()} for step in told]

    again = list(stream(first, random_seed))
    assert texts(again) == texts(steps)
    assert texts(list(stream(first, f"not {random_seed}"))) != texts(steps)


def test_every_table_sees_inserts_updates_and_deletes(first: Rows, steps: list[Step]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for before, after in pairwise(moments(first, steps)):
        for name in (n for n in KEYS if before[n] is not after[n]):
            old, new = (set(key_numbers(name, rows[name]).to_pylist()) for rows in (before, after))
            seen.update({(name, "insert"): len(new - old), (name, "delete"): len(old - new)})
            seen[name, "update"] += rows_without(after[name], before[name]) - len(new - old)
    print(seen)
    missing = [(n, what) for n in KEYS for what in ("insert", "update", "delete") if not seen[n, what]]
    assert missing == []
    assert any(len(step.changes) == len(KEYS) for step in steps)


def test_the_last_step_changes_one_line(steps: list[Step]) -> None:
    (changes,) = steps[-1].changes.values()
    assert changes.column(KIND).to_pylist() == [DELETE, INSERT]
    assert len(set(key_numbers("lineitem", changes).to_pylist())) == 1


def test_a_refresh_moves_a_share_of_the_orders_and_some_customers(first: Rows) -> None:
    count = len(first["orders"]) // 10
    (step,) = stream(first, 1, steps=[refresh(first, share=0.1, customers=20)], season=None)
    orders, customers = step.changes["orders"], step.changes["customer"]
    assert len(said(orders, INSERT)) == len(said(orders, DELETE)) == count
    assert len(said(customers, INSERT)) == len(said(customers, DELETE)) == 20
    assert set(step.changes) == {"orders", "lineitem", "customer"}
    sold = said(step.changes["lineitem"], INSERT).column("l_orderkey").unique()
    assert set(sold.to_pylist()) == set(said(orders, INSERT).column("o_orderkey").to_pylist())


def test_there_are_22_queries_and_one_depends_on_the_scale() -> None:
    small, large = query_texts(0.01), query_texts(1.0)
    assert [name for name in NAMES if small[name] != large[name]] == ["q11"]
    assert "* 0.0005\n" in small["q11"] and "* 0.000005\n" in large["q11"]
    assert tables_read(small["q15"]) == {"supplier", "lineitem"}
    assert frozenset().union(*(tables_read(text) for text in small.values())) == set(KEYS)


ONE: Bag = Counter({("a", 1.0, Decimal("1.10")): 2, ("b", 0.0, None): 1})


@pytest.mark.parametrize(
    ("other", "lines"),
    [
        (ONE, []),
        (Counter({("a", 1.0 + 1e-12, Decimal("1.10")): 2, ("b", 0.0, None): 1}), []),
        (
            Counter({("a", 1.0 + 1e-6, Decimal("1.10")): 2, ("b", 0.0, None): 1}),
            ["missing"] * 2 + ["extra"] * 2,
        ),
        (Counter({("a", 1.0, Decimal("1.10")): 1, ("b", 0.0, None): 1}), ["missing"]),
        (Counter({("a", 1.0, Decimal("1.10")): 3, ("b", 0.0, None): 1}), ["extra"]),
        (Counter({("a", 1.0, Decimal("1.11")): 2, ("b", 0.0, None): 1}), ["missing"] * 2 + ["extra"] * 2),
        (Counter({("a", 1.0, Decimal("1.10")): 2, ("b", 0.0, 0): 1}), ["missing", "extra"]),
        (Counter(), ["missing"] * 3),
    ],
)
def test_two_bags_are_compared_both_ways(other: Bag, lines: list[str]) -> None:
    assert [line.split(":")[0] for line in unequal(ONE, other)] == lines


def test_weights_add_up_in_a_bag() -> None:
    rows = pa.table({"n": [1, 1, 2, 3], "__hw_weight": pa.array([1, -1, 1, -1], pa.int8())})
    assert bag_of(rows) == {(2,): 1, (3,): -1}
