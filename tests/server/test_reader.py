"""Queries from outside over everything that runs.

Oracle: the transactions that were handed in; what they add up to is known, and a transfer adds up to nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.runtime.pipeline import Pipeline
from headwater.server.reader import Answer, Held, Limits, Reader
from tests.postgres.world import wait_for
from tests.server.reading_world import BANK, SHOP, World, made_world

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A shop with three orders, and a bank with a few transfers."""
    with made_world(tmp_path_factory.mktemp("world")) as made:
        shop, bank = made.deploy("shop", SHOP), made.deploy("bank", BANK)
        rows = [(1, "ann", "10.50"), (2, "ann", "4.50"), (3, "bob", "7.00")]
        orders = [{"id": i, "customer": c, "total": Decimal(n), "at": None} for i, c, n in rows]
        shop.store.append({"orders": [("+", order) for order in orders]})
        transfer(made, 0)
        shop.catch_up()
        bank.catch_up()
        yield made


def transfer(world: World, number: int) -> None:
    """Two entries that add up to nothing, in one transaction."""
    entries = [(2 * number, "a", number + 1), (2 * number + 1, "b", -number - 1)]
    told = [("+", {"id": i, "account": a, "amount": n}) for i, a, n in entries]
    world.deployed["bank"].store.append({"entries": told})


def query(text: str) -> exp.Query:
    parsed = sqlglot.parse_one(text, dialect="spark")
    assert isinstance(parsed, exp.Query)
    return parsed


def rows(answer: Answer) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in answer.table.columns), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT customer, total FROM shop.totals ORDER BY customer", [("ann", 15), ("bob", 7)]),
        ("SELECT count(*) FROM customers", [(3,)]),
        ("SELECT c.customer FROM shop.customers AS c ORDER BY 1", [("ann",), ("ann",), ("bob",)]),
        (
            "WITH big AS (SELECT * FROM orders WHERE total > 5) SELECT big.id, t.orders FROM big "
            "JOIN shop.totals t ON t.customer = big.customer ORDER BY 1",
            [(1, 2), (3, 1)],
        ),
        ("SELECT id, id FROM ORDERS WHERE id IN (SELECT MAX(id) FROM orders)", [(3, 3)]),
        ("SELECT NULL AS nothing, 1 AS one", [(None, 1)]),
        ("SELECT totals.orders FROM shop.totals WHERE customer = 'bob'", [(1,)]),
        ("SELECT col FROM explode(array(1, 2))", [(1,), (2,)]),
    ],
)
def test_a_query_gives_what_the_rows_say(world: World, text: str, expected: list[tuple[object, ...]]) -> None:
    assert rows(Reader(world).select(query(text))) == expected


def test_an_answer_tells_its_cut_and_its_columns(world: World) -> None:
    answer = Reader(world).select(query("SELECT id, total FROM orders"))
    assert (answer.cut, [(c.name, c.type) for c in answer.schema]) == (
        "1",
        [("id", "int"), ("total", "decimal(10,2)")],
    )
    both = Reader(world).select(query("SELECT 1 FROM shop.totals, bank.totals"))
    assert both.cut.startswith("shop: 1; bank: ")


def test_relations_are_listed_with_their_kind_and_columns(world: World) -> None:
    found = {r.full_name: (r.kind, r.schema.names) for r in Reader(world).relations()}
    assert found["shop.orders"] == ("table", ("id", "customer", "total", "at"))
    assert found["shop.totals"] == ("view", ("customer", "total", "orders"))
    assert set(found) == {
        *(f"shop.{name}" for name in ("orders", "totals", "customers")),
        *(f"bank.{name}" for name in ("entries", "totals", "credits", "debits")),
    }


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("SELECT * FROM order", 'relation "order" does not exist', "Did you mean 'orders'?"),
        ("SELECT * FROM shop.total", 'relation "shop.total" does not exist', "shop.totals"),
        ("SELECT * FROM totals", "more than one pipeline", "Write bank.totals."),
        ("SELECT * FROM parquet.`/etc/passwd`", "does not exist", ""),
        ("SELECT * FROM csv.`/etc/passwd` AS orders", "does not exist", ""),
        ("SELECT * FROM read_files('/etc')", "cannot be read here", ""),
        ("SELECT * FROM IDENTIFIER('shop.orders')", "", ""),
        ("SELECT reflect('java.lang.System', 'exit', 1)", "function reflect cannot be called", ""),
        ("SELECT builtin.java_method('java.lang.System', 'exit', 1)", "java_method cannot be called", ""),
        ("SELECT `reflect`('java.lang.System', 'exit', 1) FROM orders", "reflect cannot be called", ""),
        ("SELECT TRANSFORM(id) USING 'cat' AS (a) FROM orders", "only reads", ""),
        ("SELECT id FROM orders WHERE id = ?", "parameter without a value", ""),
        ("SELECT nope FROM orders", "not valid", ""),
        ("SELECT nope(1)", "function NOPE does not exist", ""),
        ("SELECT *", "the query has no columns", "FROM"),
        ("SELECT 1 / 0", "cannot be computed", "try_divide"),
    ],
)
def test_what_does_not_read_our_relations_is_an_error(
    world: World, text: str, message: str, hint: str
) -> None:
    with pytest.raises(HeadwaterError) as told:
        Reader(world).select(query(text))
    assert message in told.value.message
    assert hint in told.value.hint
    assert "hw_read" not in told.value.message + told.value.detail


@pytest.mark.parametrize(
    "text", ["DROP TABLE orders", "INSERT INTO orders SELECT 1", "SET a = 1", "CACHE TABLE a"]
)
def test_a_command_is_an_error(world: World, text: str) -> None:
    with pytest.raises(HeadwaterError, match="only queries"):
        Reader(world).select(sqlglot.parse_one(text, dialect="spark"))  # type: ignore[arg-type]  # that is the case


def test_more_rows_or_bytes_than_allowed_are_an_error(world: World) -> None:
    with pytest.raises(HeadwaterError, match="more than 2 rows"):
        Reader(world).select(query("SELECT id FROM orders"), Limits(rows=2))
    with pytest.raises(HeadwaterError, match="more than 1 MB"):
        Reader(world).select(query("SELECT repeat('x', 2000000) FROM orders"), Limits(bytes=1 << 20))
    assert Reader(world).select(query("SELECT id FROM orders"), Limits(rows=3)).table.num_rows == 3


def test_a_query_that_takes_too_long_is_stopped_and_the_next_is_answered(world: World) -> None:
    endless = "SELECT count(*) FROM range(100000000000) a WHERE hash(a.id) = 5"
    with pytest.raises(HeadwaterError, match="took longer than 1 s and was stopped"):
        Reader(world).select(query(endless), Limits(seconds=1.0))
    assert rows(Reader(world).select(query("SELECT count(*) FROM orders"))) == [(3,)]


def test_a_query_that_finds_no_memory_ends_alone(world: World) -> None:
    with pytest.raises(HeadwaterError, match="needs more memory than Spark has"):
        Reader(world).select(query("SELECT max(size(sequence(id, 1000000000))) FROM orders"))
    assert rows(Reader(world).select(query("SELECT count(*) FROM orders"))) == [(3,)]
    # A Java that is about to end takes no more of these.
    java: Any = world.deployed["shop"].pipeline.engine.spark._jvm
    java.java.lang.Runtime.getRuntime().addShutdownHook(java.java.lang.Thread())


def test_whoever_holds_gets_the_same_answer_twice_while_the_wheel_turns(world: World) -> None:
    text = query("SELECT c.total, d.total, t.total FROM credits c, debits d, bank.totals t")
    with Reader(world).held() as held:
        before = rows(held.select(text))
        transfer(world, 1)
        world.deployed["bank"].catch_up()
        assert rows(held.select(text)) == before == [(1, -1, 0)]
    assert rows(Reader(world).select(text)) == [(3, -3, 0)]


def test_readers_in_many_threads_never_see_half_a_transaction(world: World) -> None:
    text = query(
        "SELECT c.total + d.total, t.total, (SELECT sum(amount) FROM entries) "
        "FROM credits c, debits d, bank.totals t"
    )
    reader, done, seen, wrong = Reader(world), threading.Event(), list[int](), list[object]()

    def read() -> None:
        while not done.is_set():
            answer = reader.select(text)
            seen.append(answer.batch_id)
            if rows(answer) != [(0, 0, 0)]:
                wrong.append(rows(answer))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for one in readers:
        one.start()
    try:
        wait_for(lambda: bool(seen), seconds=120)
        for number in range(2, 7):
            transfer(world, number)
            world.deployed["bank"].catch_up()
        # A question may take as long as all the transfers: it is the next one that sees a later batch.
        wait_for(lambda: len(set(seen)) >= 2, seconds=120)
    finally:
        done.set()
        for one in readers:
            one.join()
    assert wrong == []


def test_nothing_is_held_that_nobody_runs() -> None:
    class Nothing:
        def readable(self) -> dict[str, Pipeline]:
            return {}

    with Reader(Nothing()).held() as held:
        assert isinstance(held, Held) and held.relations() == []
        with pytest.raises(HeadwaterError, match='relation "orders" does not exist'):
            held.select(query("SELECT * FROM orders"))
