"""Sources, topics, connectors and dead letters in a real Chromium, on a real Postgres, Kafka and Connect.

Oracle: what was written to Postgres and to the topic, and Connect's own REST interface.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.console.stand import PATIENCE, Stand, served, until
from tests.console.test_postgres import run
from tests.stage.shared import SharedConnect, fresh

pytestmark = [pytest.mark.jvm, pytest.mark.services]

EVIL = "<img src=x onerror=alert(9)>"

SCRIPT = """
CREATE TABLE claims (id INT, animal STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'postgres-cdc', 'hostname' = '127.0.0.1', 'port' = '{port}', 'username' = 'postgres',
  'password' = 'postgres', 'database-name' = 'postgres', 'table-name' = 'claims', 'wal.retained.max' = '1gb'
);
CREATE TABLE bids (id INT, price INT) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json', 'errors' = 'dead-letter'
);
CREATE VIEW bidden AS SELECT COUNT(*) AS bids, SUM(price) AS price FROM bids;
CREATE VIEW animals AS SELECT animal, COUNT(*) AS claims FROM claims GROUP BY animal;
"""


@dataclass(frozen=True)
class World:
    """A server over a Postgres and a Kafka that hold something."""

    stand: Stand
    postgres: EmbeddedPostgres
    connect: SharedConnect
    topic: str

    def bid(self, text: str) -> None:
        """Write a message."""
        self.connect.kafka.write(self.topic, [(EVIL.encode(), text.encode())])

    def connector(self, name: str) -> Any:
        """How Connect itself says a connector is."""
        return httpx.get(f"{self.connect.url}/connectors/{name}/status", timeout=PATIENCE).json()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, connect: SharedConnect) -> Iterator[World]:
    with temporary_postgres({"fsync": "off"}) as postgres:
        run(postgres.uri, "CREATE TABLE claims (id INT PRIMARY KEY, animal TEXT)")
        run(postgres.uri, "INSERT INTO claims VALUES (1, 'Koala'), (2, 'Emu')")
        folder: Path = tmp_path_factory.mktemp("sources") / "server"
        with served(folder, "--connect", connect.url) as stand:
            made = World(stand, postgres, connect, connect.kafka.topic("bids"))
            made.bid('{"id": 1, "price": 10}')
            script = SCRIPT.replace("{port}", str(postgres.port)).replace("{topic}", made.topic)
            stand.deploy("market", script.replace("{broker}", connect.kafka.address))
            yield made


@pytest.fixture
def stand(world: World) -> Stand:
    """The server that the page looks at."""
    return world.stand


def test_a_source_tells_its_slot_its_log_and_its_tables(page: Page, world: World) -> None:
    page.goto("/")
    page.get_by_role("link", name="Sources").click()
    claims = page.locator("section.panel", has_text="postgres-cdc")
    expect(claims).to_contain_text("all read")
    expect(claims.locator(".measure", has_text="Retained WAL")).to_contain_text(
        "1.0 GB allowed, then a warning"
    )
    expect(claims.locator(".measure", has_text="Slot lag")).to_contain_text(re.compile(r"\d+ (B|KB|MB)"))
    run(world.postgres.uri, "INSERT INTO claims VALUES (3, 'Emu')")
    expect(claims.locator("tbody tr")).to_contain_text(re.compile(r"(just now|s ago) 1 row, batch \d+"))
    claims.get_by_text("2 columns").click()
    expect(claims.locator("tbody tr li", has_text="animal")).to_be_visible()
    # The page is drawn anew all the time: what was opened stays so.
    run(world.postgres.uri, "INSERT INTO claims VALUES (4, 'Emu'), (5, 'Emu')")
    expect(claims.locator("tbody tr")).to_contain_text("2 rows")
    expect(claims.locator("tbody tr li", has_text="animal")).to_be_visible()


def test_a_topic_is_read_as_it_is_written(page: Page, world: World) -> None:
    page.goto("/console/sources")
    page.get_by_role("link", name=world.topic).click()
    messages = page.get_by_role("region", name="Messages").locator("li")
    expect(messages).to_contain_text(['"price": 10'])
    world.bid('{"id": 2, "price": 20}')
    expect(messages.first).to_contain_text('"price": 20')
    # What stands in a key is shown, and does not run.
    expect(messages.first).to_contain_text(EVIL)


def test_a_letter_is_looked_at_mended_and_sent_once_more_or_dropped(page: Page, world: World) -> None:
    world.bid('{"id": 3, "price": "much"}')
    world.bid(f"nothing {EVIL}")
    page.goto("/console/pipelines/market")
    page.get_by_role("link", name="Dead letters").click()
    letters = page.get_by_role("region", name="Letters").locator("ul.things > li")
    expect(letters).to_have_count(2)
    expect(letters.nth(1)).to_contain_text(EVIL)
    letters.filter(has_text="much").get_by_role("button", name="bids").click()
    message = page.get_by_role("textbox", name="Message")
    expect(message).to_have_value('{"id": 3, "price": "much"}')
    message.fill('{"id": 3, "price": 30}')
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("status")).to_contain_text("Sent once more")
    expect(letters).to_have_count(1)
    letters.get_by_role("checkbox").check()
    page.get_by_role("button", name="Drop 1").click()
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    page.goto("/console/views/market.bidden")
    expect(page.locator("table.live tbody tr")).to_contain_text("60")


def connector_config(world: World, name: str) -> dict[str, str]:
    place = {"database.hostname": "127.0.0.1", "database.port": str(world.postgres.port)}
    place |= {"database.user": "postgres", "database.password": "postgres", "database.dbname": "postgres"}
    place |= {
        "topic.prefix": name,
        "table.include.list": "public.claims",
        "slot.name": name.replace("-", "_"),
    }
    config = {"connector.class": "io.debezium.connector.postgresql.PostgresConnector"} | place
    return config | {
        "plugin.name": "pgoutput",
        "errors.max.retries": "0",
        "publication.name": name.replace("-", "_"),
    }


def test_a_connector_is_registered_pauses_fails_and_goes(page: Page, world: World) -> None:
    name = fresh("claims")
    config = connector_config(world, name)
    page.goto("/console/sources")
    panel = page.get_by_role("region", name="Connectors")
    panel.get_by_role("button", name="Register").click()
    panel.get_by_label("JSON").fill('{"name": "x",\n "config" {}}')
    panel.get_by_role("button", name="Register it").click()
    expect(panel.get_by_role("alert")).to_contain_text("Line 2")
    panel.get_by_label("JSON").fill(json.dumps({"name": name, "config": config}))
    panel.get_by_role("button", name="Register it").click()
    expect(panel.get_by_role("status")).to_contain_text(f"{name} is registered")
    mine = panel.locator("ul.things > li", has_text=name)
    expect(mine).to_contain_text("task 0 running")
    mine.get_by_role("button", name="Pause").click()
    expect(mine.locator(".state")).to_have_text("paused")
    until(lambda: world.connector(name)["connector"]["state"] == "PAUSED", "Connect knows that it rests")
    mine.get_by_role("button", name="Resume").click()
    expect(mine).to_contain_text("task 0 running")
    # A publication that is not there, and may not be made: it fails, and says why.
    config |= {"publication.name": "absent", "publication.autocreate.mode": "disabled"}
    panel.get_by_role("button", name="Register").click()
    panel.get_by_label("JSON").fill(json.dumps({"name": name, "config": config}))
    panel.get_by_role("button", name="Register it").click()
    expect(panel.get_by_role("status")).to_contain_text(f"{name} has new options")
    expect(mine.get_by_role("alert")).to_contain_text("Task 0 has failed")
    mine.get_by_text("Trace", exact=True).click()
    expect(mine.locator("pre")).to_contain_text("io.debezium")
    mine.get_by_role("button", name="Restart").click()
    expect(panel.get_by_role("status")).to_contain_text("restart is on its way")
    mine.get_by_role("button", name="Remove").click()
    mine.get_by_role("button", name="Remove it now").click()
    expect(mine).to_have_count(0)
    assert name not in httpx.get(f"{world.connect.url}/connectors", timeout=PATIENCE).json()
