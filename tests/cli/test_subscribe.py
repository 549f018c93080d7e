"""SUBSCRIBE TO a view: what is printed adds up to it, from the beginning or from a cut on.

Oracle: the lines, written by hand after the transactions that were handed in.
"""

from __future__ import annotations

import io
import json
import signal
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from uuid import uuid4

import pytest

from headwater.cli.main import main
from headwater.sources.values import ValuesStore, store
from headwater.sql import statements as sql
from headwater.sql.script import parse_script
from tests.pipeline.world import Ran, command
from tests.postgres.world import wait_for

pytestmark = pytest.mark.jvm

SCRIPT = """
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = '{store}');
CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
"""


class Shop:
    """A script, its folder and its store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"shop_{uuid4().hex[:8]}"

    @property
    def store(self) -> ValuesStore:
        """What it reads."""
        return store(self.name)

    def order(self, number: int, customer: str, total: int) -> None:
        """One transaction."""
        self.store.append({"orders": [("+", {"id": number, "customer": customer, "total": total})]})

    def words(self, subscribe: str, form: str) -> list[str]:
        """The command that subscribes."""
        text = SCRIPT.replace("{store}", self.name) + subscribe
        return ["sql", "-e", text, "--state", str(self.folder / "state"), "--format", form]

    def once(self, subscribe: str, form: str = "json") -> Ran:
        """Run it on what is there."""
        return command(*self.words(subscribe, form), "--once")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def lines(ran: Ran) -> list[tuple[str, str, int]]:
    assert ran.code == 0, ran.err
    said = [json.loads(line) for line in ran.out.splitlines()]
    return [(one["op"], one["row"]["customer"], one["row"]["total"]) for one in said]


def test_the_rows_come_first_and_a_cut_tells_where_to_go_on(shop: Shop) -> None:
    shop.order(1, "ann", 10)
    first = shop.once("SUBSCRIBE TO totals;")
    assert lines(first) == [("+", "ann", 10)]
    told = json.loads(first.out)
    shop.order(2, "ann", 5)
    shop.order(3, "bob", 1)
    changes = [("-", "ann", 10), ("+", "ann", 15), ("+", "bob", 1)]
    again = shop.once(f"SUBSCRIBE TO totals AFTER '{told['batch']}@{told['cut']}';")
    assert lines(again) == changes
    assert lines(shop.once(f"SUBSCRIBE totals AFTER '{told['cut']}';")) == changes
    assert lines(shop.once("SUBSCRIBE TO totals")) == [("+", "ann", 15), ("+", "bob", 1)]
    last = json.loads(again.out.splitlines()[-1])
    assert lines(shop.once(f"SUBSCRIBE TO totals AFTER '{last['batch']}@{last['cut']}'")) == []
    gone = shop.once("SUBSCRIBE TO totals AFTER '99@7'")
    assert gone.code == 1
    assert "the changes after that cut are not kept here" in gone.err and "Begin anew" in gone.err


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", ["+ customer=ann, total=10 (batch 1, cut 1)"]),
        ("csv", ["op,batch,cut,customer,total", "+,1,1,ann,10"]),
    ],
)
def test_changes_are_printed_in_the_forms_of_live_queries(shop: Shop, form: str, expected: list[str]) -> None:
    shop.order(1, "ann", 10)
    assert shop.once("SUBSCRIBE TO totals", form).out.splitlines() == expected


def test_changes_are_printed_as_they_come_until_ctrl_c(shop: Shop) -> None:
    out, err, codes = io.StringIO(), io.StringIO(), list[int]()
    shop.order(1, "ann", 10)

    def has(text: str) -> bool:
        return text in out.getvalue()

    def play() -> None:
        try:
            wait_for(lambda: has("+,1,1,ann,10"), seconds=120)
            shop.order(2, "ann", 5)
            wait_for(lambda: has("+,2,2,ann,15"), seconds=120)
        finally:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    player = threading.Thread(target=play)
    player.start()
    with redirect_stdout(out), redirect_stderr(err):
        codes.append(main(shop.words("SUBSCRIBE TO totals", "csv")))
    player.join()
    assert codes == [130]
    assert out.getvalue().splitlines()[1:] == ["+,1,1,ann,10", "-,2,2,ann,10", "+,2,2,ann,15"]


def test_a_view_that_got_other_columns_begins_anew(shop: Shop) -> None:
    shop.order(1, "ann", 10)
    told = json.loads(shop.once("SUBSCRIBE TO totals").out)
    words = shop.words(f"SUBSCRIBE TO totals AFTER '{told['batch']}@{told['cut']}'", "json")
    words[2] = words[2].replace("SELECT customer,", "SELECT 'new' AS mark, customer,")
    ran = command(*words, "--once")
    assert json.loads(ran.out)["row"] == {"mark": "new", "customer": "ann", "total": 10}
    assert "totals begins anew with batch 2" in ran.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SUBSCRIBE TO nope", "nope"),
        ("SUBSCRIBE TO orders", '"orders" is a table'),
        ("SUBSCRIBE TO totals AFTER", "a cut"),
        ("SUBSCRIBE TO totals AFTER 5", "a cut"),
        ("SUBSCRIBE TO totals WHERE x", "WHERE"),
    ],
)
def test_a_wrong_subscription_is_told(shop: Shop, text: str, message: str) -> None:
    ran = shop.once(text)
    assert ran.code == 1 and message in ran.err


def test_to_may_be_left_out() -> None:
    first, second = parse_script("SUBSCRIBE TO a.b AFTER 'x'; SUBSCRIBE `b`")
    assert (first, second) == (
        sql.Subscribe("a.b", "x", place=first.place, text=""),
        sql.Subscribe("b", place=first.place, text=""),
    )
