"""`--on`: plain SQL in real databases, several statements at once, refusals with their place.

Oracle: the servers themselves.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from headwater.services.postgres import temporary_postgres
from tests.notebook.shell import Shell
from tests.stage.shared import SharedMysql

pytestmark = pytest.mark.services

CATALOG = """%%headwater
CREATE CATALOG {name} WITH (
  'type' = 'jdbc', 'base-url' = 'jdbc:{kind}://127.0.0.1:{port}/', 'default-database' = '{database}',
  'username' = '{user}', 'password' = '{password}'
)"""


@pytest.fixture(scope="module")
def postgres_port() -> Iterator[int]:
    """The port of a Postgres."""
    with temporary_postgres({"fsync": "off"}) as server:
        yield urlsplit(server.uri).port or 0


@pytest.fixture
def pg(shell: Shell, postgres_port: int) -> Shell:
    """A shell with a catalog of Postgres."""
    given = {"user": "postgres", "password": "postgres", "database": "postgres"}
    declared = CATALOG.format(name="pg", kind="postgresql", port=postgres_port, **given)
    assert shell.run(declared).error is None
    return shell


@pytest.fixture
def my(shell: Shell, mysql: SharedMysql) -> Shell:
    """A shell with a catalog of MySQL."""
    given = {"user": mysql.user, "password": mysql.password, "database": "headwater"}
    assert shell.run(CATALOG.format(name="my", kind="mysql", port=mysql.port, **given)).error is None
    return shell


def test_several_statements_of_postgres_are_run_at_once(pg: Shell) -> None:
    ran = pg.run(
        "%%headwater --on pg --rows 2\n"
        "CREATE TEMP TABLE t (n int, s text);\n"
        "INSERT INTO t VALUES (1, 'a;b'), (2, $$it's; so$$), (3, NULL); -- not; here\n"
        "SELECT n, s FROM t ORDER BY n; UPDATE t SET n = n + 1 WHERE n > 1"
    )
    assert ran.text.strip().splitlines() == [
        "CREATE TABLE",
        "INSERT 0 3",
        "n  s",
        "-  --------",
        "1  a;b",
        "2  it's; so",
        "2 of 3 rows",
        "UPDATE 2",
    ]


def test_what_was_done_before_a_refusal_is_shown_and_the_place_is_told(pg: Shell) -> None:
    ran = pg.run("%%headwater --on pg\nSELECT 1 AS one;\n\nSELECT 2,\n  nope FROM pg_class")
    assert "one" in ran.text
    assert ran.complaint.splitlines() == [
        'error: column "nope" does not exist',
        "   --> In [2]:5:3",
        "    |",
        "  5 |   nope FROM pg_class",
        "    |   ^^^^",
    ]


def test_a_transaction_is_one_and_has_to_be_ended(pg: Shell) -> None:
    pg.run("%%headwater --on pg\nCREATE TABLE kept (n int)")
    assert pg.run("%%headwater --on pg\nBEGIN; INSERT INTO kept VALUES (1); COMMIT").error is None
    left = pg.run("%%headwater --on pg\nBEGIN; INSERT INTO kept VALUES (2)")
    assert "the transaction was not committed" in left.complaint
    assert pg.run("%%headwater --on pg\nSELECT n FROM kept").text.split() == ["n", "-", "1", "1", "row"]


def test_a_server_that_is_not_there_is_told_in_the_words_of_the_catalog(shell: Shell) -> None:
    given = {"user": "u", "password": "geheim", "database": "d"}
    shell.run(CATALOG.format(name="pg", kind="postgresql", port=1, **given))
    ran = shell.run("%%headwater --on pg\nSELECT 1")
    assert "'base-url'" in ran.complaint and "In [1]:2" in ran.complaint
    assert "geheim" not in ran.complaint


def test_several_statements_of_mysql_are_run_at_once(my: Shell) -> None:
    ran = my.run(
        "%%headwater --on my\n"
        "CREATE TEMPORARY TABLE t (n int, d decimal(5,2));  # a; comment\n"
        "BEGIN; INSERT INTO t VALUES (1, 2.50), (2, NULL); COMMIT;\n"
        "UPDATE t SET n = 5 WHERE n = 2;\n"
        "SELECT d, n, 'a;\"b' AS `x y` FROM t ORDER BY n"
    )
    assert ran.text.strip().splitlines() == [
        "CREATE",
        "BEGIN",
        "INSERT 2",
        "COMMIT",
        "UPDATE 1",
        "   d  n  x y",
        "----  -  ----",
        '2.50  1  a;"b',
        'NULL  5  a;"b',
        "2 rows",
    ]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("SELECT 1;\nSELECT nope FROM dual", "In [2]:3:8", "Unknown column 'nope'"),
        ("SELECT 1\nFORM dual", "In [2]:3:6", "syntax"),
        ("INSERT INTO nope VALUES (1)", "In [2]:2:13", "doesn't exist"),
    ],
)
def test_refusals_of_mysql_have_their_place(my: Shell, text: str, place: str, said: str) -> None:
    complaint = my.run(f"%%headwater --on my\n{text}").complaint
    assert f"--> {place}" in complaint and said in complaint


def test_postgres_keeps_a_large_answer_until_it_is_asked_for(pg: Shell) -> None:
    # Who asks sees the cursor through which it asks.
    ran = pg.run(
        "%%headwater --on pg --rows 1\nSELECT count(*) AS n FROM pg_cursors WHERE name <> 'DELETE';\n"
        "SELECT n FROM generate_series(1, 20000) n;\nBEGIN;\nVALUES (1), (2);\nCOMMIT;\nSELECT 1 AS one WHERE false;\n"
        "WITH a AS (SELECT 7 AS n) SELECT n INTO TEMP kept FROM a;\nSELECT n FROM kept"
    )
    assert ran.error is None
    lines = ran.text.split("\n")
    assert "1 of 20,000 rows" in lines and "1 of 2 rows" in lines and "0 rows" in lines
    assert [line.strip() for line in lines[:4] if line.strip()][:3] == ["n", "-", "1"]
    assert [line.strip() for line in lines if line.strip()][-2:] == ["7", "1 row"]


def test_a_large_answer_of_mysql_is_never_held(my: Shell) -> None:
    text = (
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 150)\n"
        "SELECT REPEAT('x', 1000) AS x FROM r, r AS s"
    )
    my.run("%%headwater --on my\nSELECT 1")
    tracemalloc.start()
    ran = my.run(f"%%headwater --on my --rows 2\n{text}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ran.error is None and "2 of 22,500 rows" in ran.text
    assert peak < 5_000_000, "all of it is 22 MB"


def test_mysql_is_sent_what_looks_like_a_comment(my: Shell) -> None:
    ran = my.run("%%headwater --on my\n/*!40101 SET @seen = 7 */;\nSELECT @seen AS seen")
    assert ran.error is None and ran.text.split()[0] == "SET" and "7" in ran.text.split()


def test_a_transaction_that_a_question_begins_has_to_be_ended_too(my: Shell) -> None:
    my.run("%%headwater --on my\nCREATE TABLE IF NOT EXISTS begun (n int)")
    left = my.run("%%headwater --on my\nSET autocommit = 0; SELECT n FROM begun")
    assert "the transaction was not committed" in left.complaint


def test_moments_are_shown_as_the_server_writes_them(pg: Shell) -> None:
    odd = ("10000-01-01", "0044-03-15 BC", "infinity")
    asked = ", ".join(f"'{moment}'::timestamp" for moment in odd)
    shown = pg.run(f"%%headwater --on pg\nSELECT {asked}, '24:00'::time, '1 mon'::interval")
    assert shown.error is None
    for text in ("10000-01-01 00:00:00", "0044-03-15 00:00:00 BC", "infinity", "24:00:00", "1 mon"):
        assert text in shown.text
