"""GET /views/{name}/changes: events that add up to the view, none lost and none doubled.

Oracle: the rows of the view at the same cut, and the transactions that were handed in: a transfer adds up to nothing.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from headwater.runtime import feed
from headwater.server import follow
from headwater.server.answers import moment
from headwater.server.applications import find_application
from tests.postgres.world import wait_for
from tests.server.live_world import SECONDS, Copy, Event, Live, events, live_server
from tests.server.reading_world import BANK

pytestmark = pytest.mark.jvm

MOVED = BANK.replace(
    "CREATE VIEW credits AS SELECT account,", "CREATE VIEW credits AS SELECT 'x' AS mark, account,"
)

NIGHTLY = """
CREATE TABLE numbers (n INT) WITH ('connector' = 'values', 'name' = '{store}');
CREATE VIEW doubled AS SELECT 2 * n AS `n``s` FROM numbers;
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A bank with a first transfer."""
    with live_server(tmp_path_factory.mktemp("live")) as made:
        made.deploy("bank", BANK)
        transfer(made, 0)
        made.catch_up("bank")
        yield made


def transfer(live: Live, number: int) -> None:
    """Two entries that add up to nothing, in one transaction."""
    entries = [(2 * number, f"a{number % 3}", number + 1), (2 * number + 1, "b", -number - 1)]
    told = [("+", {"id": i, "account": a, "amount": n}) for i, a, n in entries]
    live.stores["bank"].append({"entries": told})


def rows(live: Live, view: str) -> Counter[tuple[object, ...]]:
    answer = live.client.get(f"/views/{view}").json()
    return Counter(tuple(row.values()) for row in answer["rows"])


def follow_until(copy: Copy, answer: httpx.Response, batch: int) -> None:
    """Apply events until a batch is there."""
    for event in events(answer):
        copy.apply(event)
        if not event.data["more"] and event.data["batch"] >= batch:
            return


def batch_of(live: Live) -> int:
    return int(live.client.get("/views/bank.totals").headers["headwater-batch"])


def test_the_rows_come_first_and_then_what_each_batch_changes(live: Live) -> None:
    copy = Copy()
    with live.client.stream("GET", "/views/bank.totals/changes") as answer:
        told = events(answer)
        copy.apply(next(told))
        assert copy.rows == Counter({(0, 2): 1})
        for number in (1, 2, 3):
            begun = str(moment(time.time()))
            transfer(live, number)
            live.catch_up("bank")
            event = next(told)
            assert [change["op"] for change in event.data["changes"]] == ["-", "+"]
            copy.apply(event)
            # How old the cut is: it was reached after the change was handed in, and before the event came.
            assert begun <= event.data["at"] <= moment(time.time())
            assert copy.rows == Counter({(0, 2 + 2 * number): 1})
            assert not event.data["anew"] and event.id == f"{event.data['batch']}@{event.data['cut']}"
    assert copy.rows == rows(live, "bank.totals")


def test_who_resumes_gets_every_batch_once(live: Live) -> None:
    copy = Copy()
    with live.client.stream("GET", "/views/credits/changes") as answer:
        follow_until(copy, answer, 0)
    for number in range(4, 7):
        transfer(live, number)
        live.catch_up("bank")
    for _ in range(3):
        headers = {"Last-Event-ID": str(copy.last_id)}
        with live.client.stream("GET", "/views/credits/changes?after=nonsense", headers=headers) as answer:
            copy.apply(next(events(answer)))
    assert copy.rows == rows(live, "credits")
    assert copy.seen == sorted(set(copy.seen)) and len(copy.seen) == 4


def test_the_mark_and_the_cut_of_rows_tell_where_changes_go_on(live: Live) -> None:
    told = live.client.get("/views/debits")
    copy = Copy(Counter(tuple(row.values()) for row in told.json()["rows"]))
    transfer(live, 7)
    live.catch_up("bank")
    with live.client.stream("GET", "/views/credits/changes", params={"first": 1}) as answer:
        begin = next(events(answer)).data
    assert (len(begin["changes"]), begin["more"]) == (1, False) and len(rows(live, "credits")) > 1
    for after in (told.headers["headwater-after"], told.json()["cut"]):
        again = Copy(copy.rows.copy())
        with live.client.stream("GET", "/views/debits/changes", params={"after": after}) as answer:
            again.apply(next(events(answer)))
        assert again.rows == rows(live, "debits")


@pytest.mark.parametrize("after", ["999999@1", "1@77", "nowhere", "-1@1", "1@", "@"])
def test_a_cut_that_is_not_kept_is_gone(live: Live, after: str) -> None:
    answer = live.client.get("/views/credits/changes", params={"after": after})
    assert answer.status_code == 410, answer.text
    assert "Begin anew" in answer.json()["error"]["hint"]


def test_a_table_is_followed_through_a_view(live: Live) -> None:
    assert live.client.get("/views/entries/changes").status_code == 409
    assert live.client.get("/views/nope/changes").status_code == 404


def test_large_changes_come_in_pieces_of_which_only_the_last_has_an_id(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "PIECE_ROWS", 3)
    entries = [{"id": number, "account": f"many {number}", "amount": 1} for number in range(1000, 1010)]
    before = batch_of(live)
    live.stores["bank"].append({"entries": [("+", entry) for entry in entries]})
    live.stores["bank"].append({"entries": [("+", {"id": 1999, "account": "b", "amount": -10})]})
    live.catch_up("bank")
    copy = Copy()
    with live.client.stream("GET", "/views/credits/changes") as answer:
        pieces: list[Event] = []
        for event in events(answer):
            pieces.append(event)
            copy.apply(event)
            if not event.data["more"]:
                break
    assert len(pieces) > 3
    assert [piece.data["anew"] for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert [piece.id is None for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert copy.rows == rows(live, "credits") and batch_of(live) > before


def test_fifty_clients_that_do_not_read_stop_nobody(live: Live) -> None:
    told = live.client.get("/views/credits")
    copy = Copy(Counter(tuple(row.values()) for row in told.json()["rows"]))
    before, after = batch_of(live), {"after": told.headers["headwater-after"]}
    with ExitStack() as closing:
        limits = httpx.Limits(max_connections=60)
        narrow = httpx.HTTPTransport(
            limits=limits, socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)]
        )
        client = closing.enter_context(
            httpx.Client(transport=narrow, base_url=live.client.base_url, timeout=SECONDS)
        )
        for _ in range(50):
            # The head of the answer is there; nobody ever reads what follows.
            closing.enter_context(client.stream("GET", "/views/credits/changes", params=after))
        for number in range(6):
            entry = {"id": 10_000 + number, "account": f"{number}" * 100_000, "amount": 1}
            live.stores["bank"].append({"entries": [("+", entry)]})
            live.catch_up("bank")
        assert batch_of(live) - before == 6
        with live.client.stream("GET", "/views/credits/changes", params=after) as answer:
            follow_until(copy, answer, before + 6)
    assert copy.rows == rows(live, "credits")
    assert copy.seen == list(range(before + 1, before + 7))


def test_what_is_too_old_is_let_go_and_told(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    with live.client.stream("GET", "/views/credits/changes") as answer:
        copy = Copy()
        copy.apply(next(events(answer)))
    monkeypatch.setattr(feed, "MOST_BATCHES", 2)
    for number in range(110, 114):
        transfer(live, number)
        live.catch_up("bank")
    answer = live.client.get("/views/credits/changes", headers={"Last-Event-ID": str(copy.last_id)})
    assert answer.status_code == 410
    assert "not kept any more" in answer.json()["error"]["detail"]


def test_a_heartbeat_tells_how_far_all_is_true(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "HEARTBEAT_SECONDS", 0.2)
    with live.client.stream("GET", "/views/debits/changes") as answer:
        told = events(answer)
        copy = Copy()
        copy.apply(next(told))
        # It changes credits and nothing else.
        live.stores["bank"].append({"entries": [("+", {"id": 5000, "account": "quiet", "amount": 1})]})
        live.catch_up("bank")
        event = next(told)
    assert event.kind == "cut" and event.id != copy.last_id
    assert event.data["batch"] == batch_of(live)


def test_what_runs_on_a_schedule_is_read_and_followed_between_its_runs(live: Live) -> None:
    nightly = live.deploy("nightly", NIGHTLY, mode="schedule", every="1s")
    deployed = live.server.deployed(find_application(live.server, "nightly"))
    assert deployed is not None
    wait_for(lambda: deployed.turning.is_over and deployed.last_pipeline is not None, seconds=SECONDS)
    with live.client.stream("GET", "/views/doubled/changes") as answer:
        told, copy = events(answer), Copy()
        copy.apply(next(told))
        for number in (1, 2):
            nightly.append({"numbers": [("+", {"n": number})]})
            copy.apply(next(told))
    assert copy.rows == Counter({(2,): 1, (4,): 1})
    deployed.stop()


def test_the_stream_ends_with_the_deployment_and_goes_on_with_the_next(live: Live) -> None:
    copies = {"debits": Copy(), "credits": Copy()}
    ends: dict[str, Event] = {}

    def read(view: str) -> None:
        with (
            httpx.Client(base_url=live.client.base_url, timeout=SECONDS) as client,
            client.stream("GET", f"/views/{view}/changes") as answer,
        ):
            for event in events(answer):
                if event.kind == "end":
                    ends[view] = event
                    return
                copies[view].apply(event)

    threads = [threading.Thread(target=read, args=[view]) for view in copies]
    for thread in threads:
        thread.start()
    wait_for(lambda: all(copy.last_id for copy in copies.values()), seconds=SECONDS)
    live.deploy("bank", MOVED)
    for thread in threads:
        thread.join()
    assert {event.data["status"] for event in ends.values()} == {"CANCELED"}
    transfer(live, 200)
    live.catch_up("bank")
    last = batch_of(live)
    for view, copy in copies.items():
        headers = {"Last-Event-ID": str(copy.last_id)}
        with live.client.stream("GET", f"/views/{view}/changes", headers=headers) as answer:
            follow_until(copy, answer, last)
        assert copy.rows == rows(live, view)
        assert copy.seen == sorted(set(copy.seen))
