"""A session of SQL in this process. Oracle: the outcomes and rows of made-up clicks, written by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pytest

from headwater.cli.client.words import FUNCTIONS
from headwater.errors import SqlError
from headwater.runtime.conversation import SUBSCRIBED, Known, LiveAnswers, Outcome, Query, Said, Started
from headwater.runtime.facts import BatchDone, Silent
from headwater.runtime.interactive import Interactive
from headwater.runtime.live_query import LocalQuery
from headwater.runtime.open import open_engine, open_pipeline
from headwater.runtime.session import LocalSession
from headwater.sources.base import Report

pytestmark = pytest.mark.jvm

SECONDS = 120.0

CLICKS = """
CREATE TABLE clicks (id BIGINT, page BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '4',
  'fields.id.kind' = 'sequence', 'fields.page.min' = '7', 'fields.page.max' = '7'
)
"""

Kind = TypeVar("Kind")


class Onlooker:
    """Adds up what it hears."""

    def __init__(self) -> None:
        self.answers: LiveAnswers | None = None
        self.key: tuple[str, ...] | None = None
        self.rows: dict[tuple[object, ...], int] = {}

    def open(self, answers: LiveAnswers) -> None:
        self.answers = answers
        self.key = answers.row_key(answers.queries[0])

    def batch(self, done: BatchDone) -> None:
        for changes in (c for name, c in done.changes.items() if name == "query_1"):
            table: pa.Table = changes.table()
            for *row, weight in zip(*(column.to_pylist() for column in table.columns), strict=True):
                self.rows[tuple(row)] = self.rows.get(tuple(row), 0) + weight

    def report(self, report: Report) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    @property
    def now(self) -> list[tuple[object, ...]]:
        return sorted(row for row, count in list(self.rows.items()) for _ in range(count))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture
def session(home: Path) -> Iterator[LocalSession]:
    made = LocalSession(Interactive(home))
    run(made, CLICKS, Said)
    run(made, "CREATE VIEW pages AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page", Said)
    yield made
    made.close()


def run(session: LocalSession, text: str, kind: type[Kind]) -> Kind:
    """The outcome of a statement, which is of a kind."""
    found: Outcome = session.run(text, "sql", listener=Silent())
    assert isinstance(found, kind)
    return found


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def followed(session: LocalSession, text: str, rows: list[tuple[object, ...]]) -> Onlooker:
    """Whoever looked on at a query until it had these rows, and stopped it."""
    query: Query = session.run(text, "sql", listener=Silent())  # type: ignore[assignment]  # a SELECT
    onlooker = Onlooker()
    query.start(onlooker)
    until(lambda: onlooker.now == rows or query.ended.is_set())
    query.stop()
    assert query.ended.wait(SECONDS) and query.problem is None
    assert onlooker.now == rows
    return onlooker


def test_what_is_declared_stays_for_the_next_statement(session: LocalSession) -> None:
    assert run(session, "DESCRIBE pages", Said) == Said("page  bigint\nn     bigint")
    assert run(session, "SHOW VIEWS", Said).text == "pages"
    assert run(session, "CREATE VIEW more AS SELECT *, 1 AS one FROM pages", Said) == Said(
        "view more is declared", is_note=True
    )
    columns = {"clicks": ("id", "page"), "pages": ("page", "n"), "more": ("page", "n", "one")}
    assert session.known() == Known(columns, frozenset({"pages", "more"}))
    assert run(session, "DROP VIEW more", Said).text == "view more is dropped"
    assert run(session, "EXPLAIN SELECT * FROM pages", Said).text.startswith("== query")


def test_a_wrong_statement_has_a_place_and_changes_nothing(session: LocalSession) -> None:
    with pytest.raises(SqlError) as problem:
        run(session, "\n  CREATE VIEW wrong AS SELECT nope FROM pages", Said)
    assert problem.value.place is not None
    assert (problem.value.place.line, problem.value.place.width) == (2, 4)
    assert "wrong" not in session.known().tables


def test_a_live_query_knows_its_key_and_leaves_nothing_behind(session: LocalSession, home: Path) -> None:
    onlooker = followed(session, "SELECT page AS p, COUNT(*) AS n FROM clicks GROUP BY page", [(7, 4)])
    assert onlooker.key == ("p",)
    assert followed(session, "SELECT SUM(n) AS n FROM pages", [(4,)]).key == ()
    assert followed(session, "SELECT page FROM clicks WHERE id < 3", [(7,), (7,)]).key is None
    assert list(home.glob("query-*")) == []


def test_the_changes_of_a_view_are_followed_as_long_as_somebody_looks(
    session: LocalSession, home: Path
) -> None:
    assert followed(session, "SUBSCRIBE TO Pages", [(7, 4)]).key == ("page",)
    assert run(session, "SUBSCRIBE TO pages", LocalQuery).mode == SUBSCRIBED
    assert list(home.glob("query-*")) == []
    for text, message in (
        ("SUBSCRIBE TO nope", 'view "nope" does not exist'),
        ("SUBSCRIBE TO clicks", '"clicks" is a table'),
        ("SUBSCRIBE TO pages AFTER '1@2'", "are not kept"),
    ):
        with pytest.raises(SqlError) as problem:
            run(session, text, Said)
        assert message in problem.value.message and problem.value.place is not None


def test_what_a_query_left_that_was_killed_goes_with_the_next_one(session: LocalSession, home: Path) -> None:
    left = home / "query-1-1"
    open_pipeline(f"{CLICKS}; SELECT id FROM clicks", file="sql", state=left, listener=Silent()).close()
    assert left.exists()
    followed(session, "SELECT SUM(id) AS n FROM clicks", [(10,)])
    assert not left.exists()


def test_a_query_without_tables_ends_by_itself(session: LocalSession) -> None:
    query: Query = session.run("SELECT 1 AS one", "sql", listener=Silent())  # type: ignore[assignment]  # a SELECT
    onlooker = Onlooker()
    query.start(onlooker)
    assert query.ended.wait(SECONDS)
    assert (onlooker.now, query.problem) == ([(1,)], None)


def test_a_job_goes_on_until_it_is_stopped_and_later_goes_on_where_it_was(
    session: LocalSession, home: Path
) -> None:
    run(session, "CREATE TABLE out (page BIGINT, n BIGINT) WITH ('connector' = 'blackhole')", Said)
    insert = "INSERT INTO out SELECT * FROM pages"
    assert run(session, insert, Started).job.id == "into-out"
    until(lambda: session.jobs()[0].rows_read == 4)
    assert run(session, "VERIFY pages", Said).text.startswith("equal")
    assert run(session, insert, Started).job.id == "into-out-2"
    assert run(session, "STOP JOB 'into-out'", Said).text == "job 'into-out' is stopped"
    assert [job.state for job in session.jobs()] == ["stopped", "running"]
    assert (home / "into-out" / "progress.db").exists()
    assert run(session, insert, Started).job.id == "into-out"
    # All rows are known from before.
    assert [(job.id, job.rows_read) for job in session.jobs()][-1] == ("into-out", 0)


def test_a_job_may_have_a_name_which_is_the_only_one(session: LocalSession) -> None:
    run(session, "CREATE TABLE out (page BIGINT, n BIGINT) WITH ('connector' = 'blackhole')", Said)
    assert run(session, "SET 'pipeline.name' = 'mine'", Said).text == "pipeline.name = mine"
    assert run(session, "SET", Said).text == "pipeline.name = mine"
    assert run(session, "INSERT INTO out SELECT * FROM pages", Started).job.id == "mine"
    with pytest.raises(SqlError, match="job 'mine' runs already"):
        run(session, "INSERT INTO out SELECT * FROM pages", Started)
    run(session, "RESET", Said)
    assert run(session, "SET", Said).text == "(none)"
    with pytest.raises(SqlError, match="there is no job 'other'"):
        run(session, "STOP JOB 'other'", Said)


def test_a_job_that_cannot_start_is_an_error_and_no_job(session: LocalSession, home: Path) -> None:
    run(session, "CREATE TABLE narrow (page BIGINT) WITH ('connector' = 'blackhole')", Said)
    with pytest.raises(SqlError):
        run(session, "INSERT INTO narrow SELECT * FROM pages", Started)
    assert session.jobs() == () and not (home / "into-narrow").exists()


def test_every_function_that_is_offered_exists(session: LocalSession, tmp_path: Path) -> None:
    spark = open_engine("words", tmp_path / "work", Silent()).spark
    known = {row[0].upper() for row in spark.sql("SHOW FUNCTIONS").collect()}
    ours = {"JSON_EXISTS", "JSON_OBJECT", "JSON_QUERY", "JSON_VALUE", "TRY_CAST"}
    assert set(FUNCTIONS) - known == ours
