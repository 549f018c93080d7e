"""The console over a real Postgres: an UPDATE lights up a cell, and a locked sink is named.

Oracle: what was written to Postgres, and the lock that was taken there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import psycopg2
import pytest
from playwright.sync_api import Page, expect
from prometheus_client.parser import text_string_to_metric_families

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.console.stand import PATIENCE, Glimpses, Stand, until

pytestmark = [pytest.mark.jvm, pytest.mark.services]

SCRIPT = """
CREATE TABLE claims (id INT, animal STRING, cost INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'postgres-cdc', 'hostname' = '', 'port' = '{port}', 'username' = '', 'password' = '',
  'database-name' = 'postgres', 'table-name' = 'claims'
);
CREATE VIEW costs AS SELECT animal, SUM(cost) AS cost FROM claims GROUP BY animal;
CREATE TABLE kept (animal STRING, cost BIGINT, PRIMARY KEY (animal) NOT ENFORCED) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:postgresql://127.0.0.1:{port}/postgres', 'table-name' = 'kept',
  'username' = 'postgres', 'password' = 'postgres'
);
INSERT INTO kept SELECT animal, cost FROM costs;
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[EmbeddedPostgres]:
    with temporary_postgres({"fsync": "off"}) as server:
        yield server


@pytest.fixture(scope="module")
def insurer(postgres: EmbeddedPostgres, stand: Stand) -> str:
    """The address of a database with claims, which a pipeline follows."""
    run(postgres.uri, "CREATE TABLE claims (id INT PRIMARY KEY, animal TEXT, cost INT)")
    run(postgres.uri, "CREATE TABLE kept (animal TEXT PRIMARY KEY, cost BIGINT)")
    run(postgres.uri, "INSERT INTO claims VALUES (1, 'Koala', 100), (2, 'Emu', 50)")
    named = {"name": "insurer", "host": "127.0.0.1", "user": "postgres", "secret": "postgres"}
    stand.post("/integrations", named)
    stand.deploy("claims", SCRIPT.replace("{port}", str(postgres.port)), integration="insurer")
    until(lambda: run(postgres.uri, "SELECT count(*) FROM kept") == [(2,)], "both rows are kept")
    return postgres.uri


def run(uri: str, statement: str) -> list[tuple[object, ...]]:
    connection = psycopg2.connect(uri)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found = cursor.fetchall() if cursor.description else []
    connection.close()
    return found


def test_an_update_in_postgres_lights_up_the_cell(page: Page, insurer: str) -> None:
    page.goto("/console/views/claims.costs")
    koala = page.locator("table.live tr", has_text="Koala")
    expect(koala).to_contain_text("100")
    expect(page.locator("td.flash")).to_have_count(0)
    flashed = Glimpses(page, "td.flash")
    run(insurer, "UPDATE claims SET cost = 175 WHERE id = 1")
    flashed.until_seen("175")
    expect(koala).to_contain_text("175")
    assert flashed.texts == {"175"}, "the row above did not change"


def test_a_locked_sink_is_named_at_once_and_in_the_graph(page: Page, insurer: str) -> None:
    holder = psycopg2.connect(insurer)
    with holder.cursor() as cursor:
        cursor.execute("LOCK TABLE kept")
    run(insurer, "UPDATE claims SET cost = 60 WHERE id = 2")
    page.goto("/")
    # Not one click is needed: the view whose rows wait, the stop, and the sink are told.
    expect(page.locator(".busy-note")).to_contain_text("sink costs is late: writing")
    expect(page.locator("td[data-name=Lag]")).to_have_text(re.compile(r"\d s\d+(\.\d)? (B|KB|MB)$"))
    page.get_by_role("link", name="claims").click()
    late = page.locator("svg.graph .node.late")
    expect(late).to_have_count(1)
    expect(late).to_contain_text("kept")
    holder.rollback()
    holder.close()
    expect(late).to_have_count(0)
    expect(page.locator(".busy-note")).to_have_count(0)
    until(lambda: run(insurer, "SELECT cost FROM kept WHERE animal = 'Emu'") == [(60,)], "the row is kept")


def test_what_the_database_keeps_for_us_is_measured(stand: Stand, insurer: str) -> None:
    def measured() -> dict[str, float]:
        families = text_string_to_metric_families(
            httpx.get(f"{stand.address}/metrics", timeout=PATIENCE).text
        )
        return {one.name: one.value for all in families for one in all.samples if "slot" in one.labels}

    until(lambda: "headwater_wal_retained_bytes" in measured(), "what Postgres keeps is seen")
    [(slot, kept)] = run(
        insurer,
        "SELECT slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint FROM pg_replication_slots",
    )
    found = measured()
    assert 0 <= found["headwater_lag_bytes"] <= found["headwater_wal_retained_bytes"]
    assert found["headwater_wal_retained_bytes"] <= float(str(kept)) + (1 << 24), slot
