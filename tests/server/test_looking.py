"""A session at a server looks at what others deployed: views are followed, queries are asked again and again.

Oracle: the rows of the views at the same cut, and the transfers that were handed in: they add up to nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from headwater.cli.answer import rows_of
from headwater.cli.client.remote import RemoteQuery, RemoteSession
from headwater.cli.main import main
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import SUBSCRIBED, LiveAnswers
from headwater.runtime.facts import BatchDone, Silent
from headwater.schema import WEIGHT, Column, Schema
from headwater.server import followed_view
from headwater.server.asked_again import difference
from headwater.sources.base import Report
from tests.postgres.world import wait_for
from tests.server.live_world import SECONDS, Live, live_server
from tests.server.reading_world import BANK

pytestmark = pytest.mark.jvm

MOVED = BANK.replace(
    "CREATE VIEW credits AS SELECT account,", "CREATE VIEW credits AS SELECT 'x' AS mark, account,"
)


class Copy:
    """Has what it is told, and remembers after which batches the whole answer did not hold."""

    def __init__(self, holds: Callable[[Counter[tuple[object, ...]]], bool] = lambda rows: True) -> None:
        self.rows: Counter[tuple[object, ...]] = Counter()
        self.key: tuple[str, ...] | None = None
        self.batches: list[BatchDone] = []
        self.said: list[str] = []
        self.wrong: list[object] = []
        self._holds = holds

    def open(self, answers: LiveAnswers) -> None:
        self.key = answers.row_key(answers.queries[0])
        self.rows.clear()

    def batch(self, done: BatchDone) -> None:
        for changes in done.changes.values():
            table = changes.table()
            weights = table.column(WEIGHT).to_pylist()
            for row, weight in zip(rows_of(table, changes.schema), weights, strict=True):
                self.rows[row] += weight
        self.rows = Counter({row: count for row, count in self.rows.items() if count})
        self.batches.append(done)
        self.wrong += [] if self._holds(self.rows) else [(str(done.cut), self.rows)]

    def report(self, report: Report) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A bank with a first transfer."""
    with live_server(tmp_path_factory.mktemp("looking") / "server") as made:
        made.deploy("bank", BANK)
        transfer(made, 0)
        yield made


@pytest.fixture
def session(live: Live) -> RemoteSession:
    return RemoteSession(str(live.client.base_url), None)


def transfer(live: Live, number: int) -> None:
    """Two entries that add up to nothing, in one transaction, and all that is committed is known."""
    entries = [(2 * number, f"a{number % 3}", number + 1), (2 * number + 1, "b", -number - 1)]
    told = [("+", {"id": i, "account": a, "amount": n}) for i, a, n in entries]
    live.stores["bank"].append({"entries": told})
    live.catch_up("bank")


def rows(live: Live, view: str) -> Counter[tuple[object, ...]]:
    answer = live.client.get(f"/views/{view}").json()
    return Counter(tuple(row.values()) for row in answer["rows"])


def begun(session: RemoteSession, text: str, copy: Copy) -> RemoteQuery:
    query = session.run(text, "typed", listener=Silent())
    assert isinstance(query, RemoteQuery)
    query.start(copy)
    return query


def test_the_names_of_what_is_deployed_are_known(session: RemoteSession) -> None:
    known = session.known()
    assert known.tables["bank.credits"] == ("account", "total") and "bank.entries" in known.tables
    assert known.views == {"bank.totals", "bank.credits", "bank.debits"}


def test_who_subscribes_has_the_rows_and_then_every_batch_once(
    live: Live, session: RemoteSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long a batch took is told however late the wheel says it.
    monkeypatch.setattr(followed_view, "TOLD_SECONDS", SECONDS)
    copy = Copy()
    query = begun(session, "SUBSCRIBE TO credits", copy)
    wait_for(lambda: bool(copy.batches), seconds=SECONDS)
    for number in range(1, 6):
        transfer(live, number)
        wait_for(lambda: copy.rows == rows(live, "credits"), seconds=SECONDS)
    query.stop()
    assert query.ended.wait(SECONDS) and query.problem is None
    assert (query.mode, copy.key) == (SUBSCRIBED, ("account",))
    numbers = [done.batch_id for done in copy.batches]
    assert numbers == [*range(numbers[0], numbers[0] + 6)]
    assert all(done.lag is not None for done in copy.batches[1:])


def said(capsys: pytest.CaptureFixture[str], live: Live, sql: str) -> list[dict[str, object]]:
    """What the client prints of a script, which it ends."""
    words = ["sql", "-e", sql, "--server", str(live.client.base_url), "--once", "--format", "json"]
    code = main(words)
    told = capsys.readouterr()
    assert code == 0, told.err
    return [json.loads(line) for line in told.out.splitlines()]


def test_a_cut_that_was_printed_tells_where_to_go_on(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    first = said(capsys, live, "SUBSCRIBE TO bank.totals")
    [before] = live.client.get("/views/totals").json()["rows"]
    assert [(one["op"], one["row"]) for one in first] == [("+", before)]
    transfer(live, 50)
    after = {"total": 0, "entries": before["entries"] + 2}
    changes = [("-", before), ("+", after)]
    for cut in (f"{first[0]['batch']}@{first[0]['cut']}", f"{first[0]['cut']}"):
        again = said(capsys, live, f"SUBSCRIBE TO bank.totals AFTER '{cut}'")
        assert [(one["op"], one["row"]) for one in again] == changes
    last = f"{again[-1]['batch']}@{again[-1]['cut']}"
    assert said(capsys, live, f"SUBSCRIBE TO bank.totals AFTER '{last}'") == []


def test_a_select_that_is_asked_once_ends(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sql", "-e", "SELECT total FROM bank.totals", "--server", str(live.client.base_url), "--once"]
    assert main([*words, "--format", "csv"]) == 0
    assert capsys.readouterr().out == "total\n0\n"


def test_a_select_over_deployed_views_moves_with_them_and_is_of_one_cut(
    live: Live, session: RemoteSession
) -> None:
    copy = Copy(lambda rows: sum(int(str(total)) for total, _ in rows) == 0)
    text = "SELECT c.total + d.total, 1 AS one FROM (SELECT SUM(total) AS total FROM bank.credits) c"
    query = begun(session, f"{text} CROSS JOIN (SELECT SUM(total) AS total FROM debits) d", copy)
    some = Copy()
    other = begun(session, "SELECT account, total FROM bank.credits WHERE account <> 'a1'", some)
    wait_for(lambda: bool(copy.batches and some.batches), seconds=SECONDS)
    for number in range(60, 66):
        transfer(live, number)
    last = int(live.client.get("/views/totals").headers["headwater-batch"])
    wait_for(lambda: copy.batches[-1].batch_id == some.batches[-1].batch_id == last, seconds=SECONDS)
    assert copy.wrong == []
    assert some.rows == Counter({row: 1 for row in rows(live, "credits") if row[0] != "a1"})
    for one in (query, other):
        one.stop()
        assert one.ended.wait(SECONDS) and one.problem is None


def test_the_end_of_a_deployment_is_told_with_the_cut_at_which_to_go_on(
    live: Live, session: RemoteSession
) -> None:
    copy = Copy()
    query = begun(session, "SUBSCRIBE TO bank.credits", copy)
    wait_for(lambda: bool(copy.batches), seconds=SECONDS)
    live.deploy("bank", MOVED)
    assert query.ended.wait(SECONDS) and query.problem is None
    assert copy.said[0] == "the deployment of 'bank' is CANCELED"
    again = copy.said[1].partition(": ")[2].rstrip(";")
    transfer(live, 100)
    query = begun(session, again, copy)
    wait_for(lambda: copy.rows == rows(live, "credits"), seconds=SECONDS)
    assert any("begins anew" in said for said in copy.said)
    query.stop()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SUBSCRIBE TO bank.nope", 'relation "bank.nope" does not exist'),
        ("SUBSCRIBE TO entries", '"entries" is a table'),
        ("SUBSCRIBE TO credits AFTER '99999@1'", "the changes after that cut are not kept here"),
        ("SELECT * FROM bank.credits, nope", 'relation "nope" does not exist'),
        ("SELECT reflect('a', 'b') FROM bank.credits", "function reflect cannot be called here"),
    ],
)
def test_what_cannot_be_looked_at_is_told(session: RemoteSession, text: str, message: str) -> None:
    with pytest.raises(HeadwaterError) as problem:
        session.run(text, "typed", listener=Silent())
    assert message in problem.value.message


def test_two_columns_of_one_name_are_refused(session: RemoteSession) -> None:
    query = begun(session, "SELECT account, total, 1 AS Account FROM bank.credits", Copy())
    assert query.ended.wait(SECONDS) and query.problem is not None
    assert query.problem.message == 'two columns are called "account"'


def test_a_difference_counts_rows_that_are_there_more_than_once() -> None:
    schema = Schema((Column("a", "int"), Column("b", "double")))

    def table(*given: tuple[int | None, float]) -> pa.Table:
        kinds = pa.schema([("a", pa.int32()), ("b", pa.float64())])
        return pa.Table.from_pylist([dict(zip("ab", row, strict=True)) for row in given], kinds)

    before = table((1, 0.5), (1, 0.5), (None, float("nan")))
    gone, come = difference(schema, before, table((1, 0.5), (2, 0.5), (None, float("nan")), (2, 0.5)))
    assert gone.to_pylist() == [{"a": 1, "b": 0.5}]
    assert come.to_pylist() == [{"a": 2, "b": 0.5}] * 2
