"""GET /views: rows at one cut, in three forms, filtered, in order, page by page.

Oracle: the rows that were handed in, filtered and sorted by Python.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx
import pyarrow as pa
import pytest

from headwater.server import pages
from tests.postgres.world import wait_for
from tests.server.live_world import Live, live_server
from tests.server.reading_world import BANK, SHOP

pytestmark = pytest.mark.jvm

NAMES = ["ann", 'b"o,b', "", None, "c\\'d\n", "ünal"]
ORDERS = [
    {
        "id": number,
        "customer": NAMES[number % len(NAMES)],
        "total": Decimal(number * number % 97) / 4 if number % 7 else None,
        "at": datetime(2024, 1, 1, number % 24, 30, 0, 250_000) if number % 5 else None,
    }
    for number in range(50)
]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A shop with fifty orders and an empty bank."""
    with live_server(tmp_path_factory.mktemp("live")) as made:
        shop = made.deploy("shop", SHOP)
        made.deploy("bank", BANK)
        shop.append({"orders": [("+", order) for order in ORDERS]})
        made.catch_up("shop")
        made.catch_up("bank")
        yield made


def get(live: Live, path: str, **params: str | int) -> Any:
    answer = live.client.get(f"/views/{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(live: Live, **params: str | int) -> list[int]:
    return [row["id"] for row in get(live, "orders", **params)["rows"]]


def test_all_relations_are_listed(live: Live) -> None:
    listed = {one["full_name"]: one for one in live.client.get("/views").json()["views"]}
    assert listed.keys() == {
        *(f"shop.{name}" for name in ("orders", "totals", "customers")),
        *(f"bank.{name}" for name in ("entries", "totals", "credits", "debits")),
    }
    assert listed["shop.orders"]["key"] == ["id"]
    assert listed["shop.orders"]["columns"][2] == {"name": "total", "type": "decimal(10,2)"}
    assert listed["shop.totals"]["kind"] == "view"


def test_json_csv_and_arrow_say_the_same(live: Live) -> None:
    answers = {
        form: live.client.get("/views/orders", params={"format": form}) for form in ("json", "csv", "arrow")
    }
    assert {answer.headers["headwater-cut"] for answer in answers.values()} == {"1"}
    arrow = pa.ipc.open_stream(answers["arrow"].content).read_all().to_pylist()
    assert arrow == [order | {"total": order["total"]} for order in ORDERS]
    by_json = answers["json"].json()["rows"]
    assert [row["customer"] for row in by_json] == [order["customer"] for order in ORDERS]
    assert by_json[1] == {"id": 1, "customer": 'b"o,b', "total": 0.25, "at": "2024-01-01T01:30:00.25"}
    lines = list(csv.DictReader(io.StringIO(answers["csv"].text, newline="")))
    for row, order in zip(lines, ORDERS, strict=True):
        assert row["customer"] == (order["customer"] or "")
        assert (Decimal(row["total"]) if row["total"] else None) == order["total"]
        assert (datetime.fromisoformat(row["at"]) if row["at"] else None) == order["at"]
    assert ',"",' in answers["csv"].text.splitlines()[3]


def test_the_form_can_be_asked_for_by_accept(live: Live) -> None:
    answer = live.client.get("/views/customers?limit=1", headers={"Accept": "text/csv, */*"})
    assert answer.headers["content-type"].startswith("text/csv") and answer.text.splitlines()[0] == "customer"


@pytest.mark.parametrize(
    ("params", "keeps"),
    [
        ({"customer": "ann"}, lambda o: o["customer"] == "ann"),
        ({"customer": NAMES[4]}, lambda o: o["customer"] == NAMES[4]),
        ({"customer": ""}, lambda o: o["customer"] == ""),
        ({"customer__ne": "ann"}, lambda o: o["customer"] not in ("ann", None)),
        ({"customer__null": "true"}, lambda o: o["customer"] is None),
        ({"customer__null": "false", "id__lt": 9}, lambda o: o["customer"] is not None and o["id"] < 9),
        ({"customer__like": "%n%"}, lambda o: "n" in (o["customer"] or "")),
        ({"id__in": "3,4,400"}, lambda o: o["id"] in (3, 4)),
        ({"total__ge": "3.125"}, lambda o: (o["total"] or 0) >= Decimal("3.125")),
        ({"TOTAL__eq": "0.25"}, lambda o: o["total"] == Decimal("0.25")),
        ({"at__gt": "2024-01-01T20:00:00"}, lambda o: o["at"] is not None and o["at"].hour >= 20),
    ],
)
def test_filters_keep_the_rows_that_python_keeps(live: Live, params: dict[str, Any], keeps: Any) -> None:
    expected = [order["id"] for order in ORDERS if keeps(order)]
    assert expected and ids(live, **params) == expected


def test_rows_come_in_the_order_that_was_asked_for(live: Live) -> None:
    def key(order: dict[str, Any]) -> tuple[Any, ...]:
        total = order["total"]
        return (total is None, -(total or 0), order["id"])

    assert ids(live, order_by="-total") == [order["id"] for order in sorted(ORDERS, key=key)]


@pytest.mark.parametrize(
    ("path", "status", "message", "hint"),
    [
        ("order", 404, 'relation "order" does not exist', "Did you mean 'orders'?"),
        ("totals", 409, "more than one pipeline", "Write bank.totals."),
        ("orders?custmer=ann", 400, 'column "custmer" does not exist', "Did you mean 'customer'?"),
        ("orders?id=x", 400, "'x' is not of type int", "whole number"),
        ("orders?id=99999999999", 400, "is not of type int", "whole number"),
        ("orders?total=x", 400, "is not of type decimal", "12.5"),
        ("orders?at=soon", 400, "is not of type timestamp_ntz", "2024-01-31T10:00:00"),
        ("orders?id__near=3", 400, "'near' is no way to compare", ""),
        ("orders?id__like=3", 400, "is no text", ""),
        ("orders?id__null=3", 400, "takes true or false", ""),
        ("orders?order_by=nope", 400, 'column "nope" does not exist', ""),
        ("orders?columns=nope", 400, 'column "nope" does not exist', ""),
        ("orders?format=xml", 400, "'xml' is no form of rows", "json"),
        ("orders?limit=0", 422, "not understood", ""),
        ("orders?next=abc", 400, "no such page", ""),
        ("orders?next=abc.10", 410, "not held any more", "Begin anew"),
    ],
)
def test_what_is_asked_wrongly_is_told_with_a_hint(
    live: Live, path: str, status: int, message: str, hint: str
) -> None:
    answer = live.client.get(f"/views/{path}")
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]
    assert hint in answer.json()["error"]["hint"]
    if status == 409:
        assert answer.json()["choices"] == ["bank.totals", "shop.totals"]


def test_pages_are_of_one_cut_while_rows_come_and_go(live: Live) -> None:
    bank = live.stores["bank"]
    bank.append({"entries": [("+", entry(number)) for number in range(10)]})
    live.catch_up("bank")
    first = get(live, "entries", limit=4, order_by="-id", columns="id,amount")
    gone = [("-", entry(number)) for number in range(10)]
    bank.append({"entries": [*gone, *[("+", entry(number)) for number in range(20, 25)]]})
    live.catch_up("bank")
    second = get(live, "entries", next=first["next"])
    third = get(live, "entries", next=second["next"])
    found = [row["id"] for page in (first, second, third) for row in page["rows"]]
    assert found == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert first["cut"] == second["cut"] == third["cut"] and third["next"] is None
    assert len(get(live, "entries")["rows"]) == 5
    assert get(live, "entries", next=first["next"]) == second


def test_a_page_that_nobody_asks_for_is_let_go(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "HELD_SECONDS", 0.02)
    following = get(live, "orders", limit=10)["next"]
    asked = {"next": following}
    wait_for(lambda: live.client.get("/views/orders", params=asked).status_code == 410)


def entry(number: int) -> dict[str, object]:
    return {"id": number, "account": "a", "amount": number - 12}


def test_a_large_answer_streams_and_is_whole(live: Live) -> None:
    bank = live.stores["bank"]
    many = pa.table(
        {
            "id": pa.array(range(1000, 61_000), pa.int32()),
            "account": ["large"] * 60_000,
            "amount": pa.array([0] * 60_000, pa.int32()),
        }
    )
    bank.append({"entries": many})
    live.catch_up("bank")
    with live.client.stream("GET", "/views/entries?limit=1000000&account=large&format=arrow") as answer:
        assert answer.status_code == 200
        received = b"".join(answer.iter_bytes())
    found = pa.ipc.open_stream(received).read_all()
    assert found.column("id").to_pylist() == list(range(1000, 61_000))


def test_a_client_that_goes_away_leaves_nothing_behind(live: Live) -> None:
    with live.client.stream("GET", "/views/entries?limit=1000000") as answer:
        assert isinstance(answer, httpx.Response)
        next(answer.iter_bytes(1))
    assert get(live, "bank.totals")["rows"]
