"""Cells that declare, ask and go wrong: nothing runs, nothing is started.

Oracle: what was typed, and the words written here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from headwater import load_ipython_extension
from headwater.errors import SqlError
from headwater.notebook.magics import Notebook
from headwater.runtime.declarations import Declarations
from headwater.sql.statements import Statement
from tests.notebook.shell import Shell

ORDERS = "CREATE TABLE orders (id INT, total INT) WITH ('connector' = 'values')"
COPY = "CREATE TABLE copy (id INT, total INT) WITH ('connector' = 'print')"


def test_what_a_cell_declares_is_there_for_the_next(shell: Shell) -> None:
    assert shell.run(f"%%headwater\n{ORDERS};\n{COPY}").text.strip() == "declared orders, copy"
    assert shell.run("%%headwater\nSHOW TABLES").text.split() == ["orders", "copy"]
    assert "total" in shell.run("%%headwater\nDESCRIBE orders").text


def test_a_cell_that_is_run_again_declares_again(shell: Shell) -> None:
    shell.run(f"%%headwater\n{ORDERS}")
    assert shell.run("%%headwater\n" + ORDERS.replace("total", "amount")).error is None
    assert "amount" in shell.run("%%headwater\nDESCRIBE orders").text


def test_a_name_twice_in_one_cell_is_an_error_with_its_place(shell: Shell) -> None:
    ran = shell.run(f"%%headwater\n{ORDERS};\n{ORDERS}")
    assert "--> In [1]:3:1" in ran.complaint and "orders" in ran.complaint


def test_a_cell_that_fails_declares_nothing(shell: Shell) -> None:
    ran = shell.run(f"%%headwater\n{ORDERS};\nCREATE TABLE b (x NOTYPE) WITH ('connector' = 'values')")
    assert "In [1]:3:" in ran.complaint
    assert shell.run("%%headwater\nSHOW TABLES").text.strip() == "(none)"


def test_dropping_takes_back_what_nobody_uses(shell: Shell) -> None:
    shell.run(f"%%headwater\n{ORDERS};\nCREATE TABLE other LIKE orders")
    assert 'still used by "other"' in shell.run("%%headwater\nDROP TABLE orders").complaint
    assert shell.run("%%headwater\nDROP TABLE other; DROP TABLE orders").error is None
    assert 'there is no table "orders"' in shell.run("%%headwater\nDROP TABLE orders").complaint
    assert shell.run("%%headwater\nDROP TABLE IF EXISTS orders").text.strip() == "done"


def test_an_error_of_the_sql_points_into_the_cell(shell: Shell) -> None:
    ran = shell.run("%%headwater\n\nSELEC 1")
    assert ran.complaint.splitlines()[1:5] == ["   --> In [1]:3:1", "    |", "  3 | SELEC 1", "    | ^^^^^"]


def test_the_values_of_variables_are_taken(shell: Shell) -> None:
    shell.let(kind="values")
    assert shell.run("%%headwater\n" + ORDERS.replace("values", "${py:kind}")).error is None
    assert "there is no variable 'nope'" in shell.run("%%headwater\nSELECT ${py:nope}").complaint


def test_a_password_is_never_shown(shell: Shell) -> None:
    catalog = "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:nodb://h/', 'password' = 'geheim')"
    ran = shell.run(f"%%headwater\n{catalog}")
    assert "***" in ran.complaint and "geheim" not in ran.complaint + ran.text + ran.html


def test_a_catalog_has_to_be_there(shell: Shell) -> None:
    assert "Declare it: CREATE CATALOG" in shell.run("%%headwater --on shop\nSELECT 1").complaint
    shell.run(
        "%%headwater\nCREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:mysql://h:1/',"
        " 'default-database' = 'd')"
    )
    assert "Did you mean 'shop'?" in shell.run("%%headwater --on shp\nSELECT 1").complaint


def test_words_that_make_no_sense_are_errors_of_the_cell(shell: Shell) -> None:
    assert "error: unrecognized arguments: --color" in shell.run("%%headwater --color\nSELECT 1").complaint
    assert "no cell runs 'star'" in shell.run("%headwater stop star").complaint


def test_nothing_runs_at_first(shell: Shell) -> None:
    assert shell.run("%headwater status").text.strip() == "nothing was run yet"
    assert "nothing was run yet" in shell.run("%headwater stop").html


def test_packages_that_spark_got_too_late_are_asked_for_in_words(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.spark.session.running_jars", lambda: ["a.jar"])
    monkeypatch.setattr("headwater.runtime.interactive.spark_jars", lambda *_: [Path("a.jar"), Path("b.jar")])
    shell.run(f"%%headwater\n{ORDERS}")
    complaint = shell.run("%%headwater\nSELECT * FROM orders").complaint
    assert "Spark runs already" in complaint and "Missing is b.jar" in complaint
    assert "hint: Restart the kernel" in complaint


def test_a_kernel_that_ends_closes_pipelines_before_it_kills_its_children(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    class Kernel:
        def do_shutdown(self, restart: bool) -> str:
            done.append(f"children killed, restart {restart}")
            return "ok"

    monkeypatch.setattr(Notebook, "close", lambda self: done.append("pipelines closed"))
    monkeypatch.setattr(shell.ipython, "kernel", Kernel(), raising=False)
    load_ipython_extension(shell.ipython)
    assert shell.ipython.kernel.do_shutdown(True) == "ok"
    assert done == ["pipelines closed", "children killed, restart True"]


def test_a_script_takes_along_only_what_it_stands_on() -> None:
    known = Declarations()
    known.keep(
        known.read(
            f"{ORDERS}; {COPY}; CREATE VIEW big AS SELECT * FROM orders WHERE total > 9;"
            " CREATE VIEW small AS SELECT * FROM orders WHERE total < 9; SET 'headwater.batch.rows' = '7'",
            "a",
        )
    )
    script = known.read("SET 'pipeline.name' = 'p'; INSERT INTO copy SELECT * FROM big", "b")
    assert [getattr(s, "name", type(s).__name__) for s in script.statements] == [
        "orders",
        "copy",
        "big",
        "Set",
        "Set",
        "InsertInto",
    ]
    assert (script.runs, script.writes, script.name) == (True, True, "p")
    assert script.summary == "INSERT INTO copy"
    assert not any(getattr(s, "key", None) == "pipeline.name" for s in script.declared)


def test_a_text_of_a_script_says_the_same() -> None:
    known = Declarations()
    known.keep(known.read(ORDERS, "a"))
    script = known.read("SELECT id FROM orders; SELECT total FROM orders", "b")
    assert Declarations().read(script.text, "c").statements == script.statements
    assert script.summary == "2 SELECT"


def test_a_view_stands_on_the_table_that_was_declared_again() -> None:
    known = Declarations()
    known.keep(known.read(f"{ORDERS}; CREATE VIEW big AS SELECT * FROM orders", "a"))
    again = known.read(ORDERS.replace("INT)", "BIGINT)") + "; SELECT * FROM big", "b")
    assert [getattr(s, "name", "") for s in again.statements] == ["orders", "big", ""]


def test_settings_can_be_taken_back() -> None:
    known = Declarations()
    known.keep(known.read("SET 'headwater.batch.rows' = '7'; SET 'headwater.batch.rows' = '8'", "a"))
    assert [getattr(s, "value", None) for s in known.kept] == ["8"]
    known.keep(known.read("RESET", "b"))
    assert known.kept == ()


def test_what_is_there_already_stays_where_that_is_wanted() -> None:
    known = Declarations()
    known.keep(known.read(ORDERS, "a"))
    known.keep(known.read(ORDERS.replace("TABLE", "TABLE IF NOT EXISTS").replace("total", "n"), "b"))
    assert known.kept[0].place.file == "a"


def test_only_what_is_there_can_be_dropped() -> None:
    with pytest.raises(SqlError, match='there is no view "orders"'):
        Declarations(Declarations().read(ORDERS, "a").declared).read("DROP VIEW orders", "b")


def names(statements: Iterable[Statement]) -> list[str]:
    return [str(getattr(s, "name", type(s).__name__)) for s in statements]


def test_a_view_that_is_declared_again_stands_behind_what_it_reads_now_and_before_its_readers() -> None:
    known = Declarations()
    for cell in (
        ORDERS,
        "CREATE VIEW a AS SELECT * FROM orders",
        "CREATE VIEW c AS SELECT * FROM a",
        "CREATE VIEW b AS SELECT * FROM orders",
        "CREATE VIEW a AS SELECT id FROM b",
    ):
        known.keep(known.read(cell, "a"))
    assert names(known.read("SELECT * FROM a", "b").statements) == ["orders", "b", "a", "Select"]
    assert names(known.read("SELECT * FROM c", "b").statements) == ["orders", "b", "a", "c", "Select"]


def test_a_view_cannot_come_to_read_itself() -> None:
    known = Declarations()
    known.keep(
        known.read(f"{ORDERS}; CREATE VIEW a AS SELECT 1 x; CREATE VIEW b AS SELECT x AS a FROM a", "a")
    )
    with pytest.raises(SqlError, match='"a" would read itself') as wrong:
        known.read("CREATE VIEW a AS SELECT * FROM b", "b")
    assert wrong.value.detail == 'It reads "b", which reads "a".'


@pytest.mark.parametrize(
    "user",
    [
        "CREATE TABLE u (id INT) WITH ('connector' = 'values', 'name' = 'orders')",
        "CREATE VIEW u AS SELECT orders FROM copy",
        "CREATE VIEW u AS WITH orders AS (SELECT 1) SELECT * FROM orders",
        "CREATE VIEW u AS SELECT 'orders' FROM pg.shop.orders -- orders",
    ],
)
def test_a_word_that_means_something_else_is_no_use(user: str) -> None:
    known = Declarations(Declarations().read(f"{ORDERS}; {COPY}; {user}", "a").declared)
    assert names(known.read("DROP TABLE orders", "b").declared) == ["copy", "u"]


@pytest.mark.parametrize(
    "user",
    [
        "CREATE VIEW u AS SELECT 1 FROM copy WHERE id IN (SELECT id FROM `Orders`)",
        "CREATE VIEW u AS SELECT * FROM default_catalog.default_database.orders",
        "CREATE VIEW u AS SELECT * FROM CHANGES(orders)",
        "CREATE TABLE u (n INT) LIKE orders",
    ],
)
def test_what_is_read_cannot_be_dropped(user: str) -> None:
    known = Declarations(Declarations().read(f"{ORDERS}; {COPY}; {user}", "a").declared)
    with pytest.raises(SqlError, match='"orders" is still used by "u"'):
        known.read("DROP TABLE orders", "b")


def test_a_catalog_is_used_by_who_names_it() -> None:
    catalog = "CREATE CATALOG pg WITH ('type' = 'jdbc', 'default-database' = 'd')"
    known = Declarations(
        Declarations().read(f"{catalog}; CREATE VIEW u AS SELECT pg FROM pg.shop.orders", "a").declared
    )
    assert names(known.read("SELECT * FROM u", "b").statements) == ["pg", "u", "Select"]
    with pytest.raises(SqlError, match='"pg" is still used by "u"'):
        known.read("DROP CATALOG pg", "b")
    free = Declarations(Declarations().read(f"{catalog}; CREATE VIEW u AS SELECT 1 AS pg", "a").declared)
    assert names(free.read("DROP CATALOG pg", "b").declared) == ["u"]


JDBC = "'connector' = 'jdbc', 'url' = 'jdbc:mysql://h:1/d', 'table-name' = 't'"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (f"(id INT) WITH ({JDBC}, 'usernam' = 'u')", "Did you mean 'username'?"),
        ("(id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:nodb://h/', 'table-name' = 't')", "nodb"),
        ("(id INT) WITH ('connector' = 'print', 'nam' = 'x')", "'nam'"),
        ("(id INT) WITH ('connector' = 'prnt')", "'print'"),
        ("(n INT) WITH ('nam' = 'x') LIKE orders", "'nam'"),
    ],
)
def test_a_wrong_option_is_an_error_of_the_cell_that_declares_it(shell: Shell, table: str, said: str) -> None:
    ran = shell.run(f"%%headwater\n{ORDERS};\nCREATE TABLE u {table}")
    assert said in ran.complaint and "--> In [1]:3:" in ran.complaint
    assert shell.run("%%headwater\nSHOW TABLES").text.strip() == "(none)"


def test_a_table_that_others_are_like_needs_no_connector(shell: Shell) -> None:
    ran = shell.run(f"%%headwater\nCREATE TABLE base (id INT);\nCREATE TABLE u WITH ({JDBC}) LIKE base")
    assert ran.text.strip() == "declared base, u"


def test_options_of_either_way_are_right(shell: Shell) -> None:
    for number, more in enumerate(("'scan.fetch-size' = '7'", "'sink.buffer-flush.max-rows' = '7'")):
        assert shell.run(f"%%headwater\nCREATE TABLE t{number} (id INT) WITH ({JDBC}, {more})").error is None
