"""Options that refer to the environment or to files work like written ones, and are never shown.

Oracle: the same query in Postgres; and no output, plan or error holds any of the texts referred to.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres
from tests.pipeline.world import (
    START_SECONDS,
    become_equal,
    command,
    made_database,
    pipeline,
    process,
    rows,
    said,
    sink,
    source,
)
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

ROLE, PASSWORD, SCHEMA, TABLE, TARGET, SLOT = (
    "secret_role",
    "secret word with 'quotes' and \\ more",
    "secret_schema",
    "secret_orders",
    "secret_target",
    "secret_slot",
)
TOTALS = "(customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"


@pytest.fixture
def shop(database: Database) -> Database:
    """A table and a target whose every name is nobody's business."""
    database.run(f"CREATE SCHEMA {SCHEMA}")
    database.run(f"CREATE TABLE {SCHEMA}.{TABLE} (id int PRIMARY KEY, customer text, amount int)")
    database.run(f"INSERT INTO {SCHEMA}.{TABLE} VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 5)")
    database.run(f"CREATE TABLE {TARGET} (customer text PRIMARY KEY, total bigint)")
    if not database.run("SELECT 1 FROM pg_roles WHERE rolname = %s", ROLE):
        database.run(f"CREATE ROLE {ROLE} LOGIN SUPERUSER PASSWORD %s", PASSWORD)
    return database


def environment(shop: Database, folder: Path) -> dict[str, str]:
    """What the references refer to; the password stands in a file."""
    (folder / "password").write_text(PASSWORD + "\n")
    return {
        "SHOP_HOST": "127.0.0.1",
        "SHOP_PORT": str(shop.port),
        "SHOP_DATABASE": shop.name,
        "SHOP_USER": ROLE,
        "SHOP_SCHEMA": SCHEMA,
        "SHOP_TABLE": TABLE,
        "SHOP_SLOT": SLOT,
        "SHOP_TARGET": TARGET,
    }


def script(shop: Database, columns: str = "", **options: str) -> str:
    """A pipeline in which every option that can be is a reference."""
    given = {
        "hostname": "${env:SHOP_HOST}",
        "port": "${env:SHOP_PORT}",
        "username": "${env:SHOP_USER}",
        "password": "${file:password}",
        "database_name": "${env:SHOP_DATABASE}",
        "schema_name": "${env:SHOP_SCHEMA}",
        "table_name": "${env:SHOP_TABLE}",
        "slot__name": "${env:SHOP_SLOT}",
    } | options
    target = {
        "url": "jdbc:postgresql://${env:SHOP_HOST}:${env:SHOP_PORT}/${env:SHOP_DATABASE}",
        "username": "${env:SHOP_USER}",
        "password": "${file:password}",
        "table_name": "${env:SHOP_TARGET}",
    }
    return (
        source(shop, "orders", columns, **given)
        + sink(shop, "target", TOTALS, **target)
        + "INSERT INTO target SELECT customer, SUM(amount) FROM orders GROUP BY customer;"
    )


def shows(text: str, hidden: list[str]) -> list[str]:
    """Which of the hidden texts stand in a text."""
    return [one for one in hidden if one in text]


def test_references_work_in_every_option_and_never_show(
    shop: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(shop, folder)
    monkeypatch.chdir(folder)
    for name, text in env.items():
        monkeypatch.setenv(name, text)
    script_and_answers = script(shop) + "SHOW CREATE TABLE orders; EXPLAIN SELECT COUNT(*) AS n FROM orders;"
    (folder / "shop.sql").write_text(script_and_answers)
    query = f"SELECT customer, SUM(amount) FROM {SCHEMA}.{TABLE} GROUP BY customer"
    with process(folder, "run", "shop.sql", "--once", "--state", "state") as running:
        assert running.wait(START_SECONDS) == 0, said(folder)
    become_equal(shop, f"SELECT * FROM {TARGET}", query, seconds=0)
    shop.run(f"UPDATE {SCHEMA}.{TABLE} SET amount = amount * 2, customer = 'cleo' WHERE id = 2")
    again = command("run", "shop.sql", "--once", "--state", "state")
    assert again.code == 0
    become_equal(shop, f"SELECT * FROM {TARGET}", query, seconds=0)
    assert shop.slots() == [SLOT]
    verified, dropped = command("verify", "--state", "state"), command("drop", "--state", "state")
    assert (verified.code, dropped.code, shop.slots()) == (0, 0, [])
    everything = said(folder) + "".join(ran.out + ran.err for ran in (again, verified, dropped))
    assert "${env:SHOP_HOST}" in everything
    assert shows(everything, [PASSWORD, *env.values()]) == []


LISTED = "(id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
WRONG = {
    "SHOP_HOST": "nowhere.invalid",
    "SHOP_PORT": "1",
    "SHOP_DATABASE": "hidden_database",
    "SHOP_USER": "hidden_user",
    "SHOP_SCHEMA": "hidden_schema",
    "SHOP_TABLE": "hidden_table",
    "SHOP_SLOT": "Hidden Slot",
    "SHOP_TARGET": "hidden_target",
    "password": "hidden password",
}


@pytest.mark.parametrize(
    ("variable", "columns"),
    [
        *((variable, LISTED) for variable in WRONG),
        ("SHOP_HOST", ""),
        ("SHOP_DATABASE", ""),
        ("SHOP_TABLE", ""),
    ],
)
def test_no_error_shows_what_a_reference_stands_for(
    shop: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, columns: str
) -> None:
    value = WRONG[variable]
    env = environment(shop, folder)
    monkeypatch.chdir(folder)
    for name, text in env.items():
        monkeypatch.setenv(name, text)
    if variable == "password":
        (folder / "password").write_text(value)
    else:
        monkeypatch.setenv(variable, value)
    # The sink is right where the source is wrong, so that the source is reached.
    text = script(shop, columns)
    if variable != "SHOP_TARGET":
        text = text.split("CREATE TABLE target")[0] + "SELECT COUNT(*) AS n FROM orders;"
    (folder / "shop.sql").write_text(text)
    ran = command("run", "shop.sql", "--once", "--state", folder / "state")
    assert ran.code == 1 and "error: " in ran.err and ("hint: " in ran.err or "detail: " in ran.err), ran
    hidden = [value, *(text for name, text in env.items() if name != variable)]
    assert shows(ran.out + ran.err, [one for one in hidden if len(one) > 1]) == [], ran.err
    assert shop.slots() == [] and shop.publications() == []


def test_two_databases_behind_references_are_two_sources(
    server: EmbeddedPostgres, database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made_database(server) as second:
        for number, one in enumerate((database, second)):
            one.run("CREATE TABLE t (id int PRIMARY KEY)")
            one.run(f"INSERT INTO t SELECT generate_series(1, {number + 1})")
            monkeypatch.setenv(f"SHOP_{number}", one.name)
        text = "".join(
            source(database, "t", name=f"t{n}", database_name=f"${{env:SHOP_{n}}}") for n in range(2)
        )
        text += "CREATE VIEW counts AS SELECT 'a' AS db, COUNT(*) AS n FROM t0"
        text += " UNION ALL SELECT 'b', COUNT(*) FROM t1;"
        with pipeline(text, folder) as running:
            running.run_once()
            second.run("INSERT INTO t VALUES (7)")
            running.run_once()
            assert rows(running, "counts") == {("a", 1): 1, ("b", 3): 1}
