"""The pictures of docs/console.md, taken of real pipelines: `make pictures`. Every page, light, dark and narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.demo.claims import claims_dashboard, claims_sql, make_tables
from headwater.demo.session import Generator
from headwater.options import Secret
from headwater.server.access import Access
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.console.small_png import write_small
from tests.console.stand import Stand, looking, standing, until
from tests.console.test_postgres import run
from tests.stage.shared import SharedConnect, fresh

pytestmark = [pytest.mark.jvm, pytest.mark.services, pytest.mark.timeout(3600)]

IMAGES = Path(__file__).parent.parent.parent / "docs" / "images"

WAYS = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 780}, "color_scheme": "light"},
}

KEPT = """
CREATE TABLE kept (company STRING, cost DOUBLE, PRIMARY KEY (company) NOT ENFORCED) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:postgresql://127.0.0.1:{port}/postgres', 'table-name' = 'kept',
  'username' = 'postgres', 'password' = 'postgres'
);
INSERT INTO kept SELECT company, cost FROM costs_by_company;
"""

MARKET = """
CREATE TABLE bids (id INT, item STRING, price DECIMAL(10, 2)) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json', 'errors' = 'dead-letter'
);
CREATE VIEW sold AS SELECT item, COUNT(*) AS bids, MAX(price) AS highest FROM bids GROUP BY item;
"""

AWAY = """
CREATE TABLE orders (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'postgres-cdc',
  'hostname' = '127.0.0.1', 'port' = '1', 'username' = 'shop', 'password' = 'secret', 'database-name' = 'shop',
  'table-name' = 'orders');
CREATE VIEW counted AS SELECT COUNT(*) AS orders FROM orders;
"""

UNREADABLE = (b'{"id": 40, "item": "lamp", "price": "much"}', b"no JSON at all")

QUESTIONS = """SELECT company, animal, CAST(cost AS BIGINT) AS cost
FROM claims.costs
ORDER BY cost DESC
LIMIT 8;

SELECT claim_status AS status, COUNT(*) AS claims
FROM claims.accident_claims
GROUP BY claim_status"""

CONNECTOR = """{"name": "claims-connector", "config": {
  "connector.class": "io.debezium.connector.postgresql.PostgresConnector", "database.hostname": "127.0.0.1",
  "database.port": "PORT", "database.user": "postgres", "database.password": "postgres",
  "database.dbname": "postgres", "topic.prefix": "pg_claims", "table.include.list": "claims.members",
  "slot.name": "pictures", "publication.name": "pictures", "plugin.name": "pgoutput"}}"""


@dataclass(frozen=True)
class Scene:
    """A page, and what is done on it before the picture is taken."""

    name: str
    address: str
    act: Callable[[Page], None]


@pytest.fixture(scope="module")
def postgres() -> Iterator[EmbeddedPostgres]:
    with temporary_postgres({"fsync": "off"}) as server:
        make_tables(server.uri)
        run(server.uri, "CREATE TABLE kept (company TEXT PRIMARY KEY, cost FLOAT)")
        yield server


@pytest.fixture(scope="module")
def stand(
    tmp_path_factory: pytest.TempPathFactory, postgres: EmbeddedPostgres, connect: SharedConnect
) -> Iterator[Stand]:
    folder = tmp_path_factory.mktemp("pictures") / "server"
    with standing(folder, connect_url=connect.url) as made:
        (folder / "dashboards").mkdir()
        (folder / "dashboards" / "claims.json").write_text(claims_dashboard())
        topic = connect.kafka.topic("bids")
        connect.kafka.write(topic, [*(bid(n).encode() for n in range(40)), *UNREADABLE])
        # First, as Spark takes what it needs for a topic only when it starts.
        made.deploy("market", MARKET.replace("{broker}", connect.kafka.address).replace("{topic}", topic))
        made.until_running("market")
        script = claims_sql(postgres.uri, "claims_views.sql")
        made.deploy("claims", script)
        script += KEPT.replace("{port}", str(postgres.port))
        version = made.post("/applications/claims/versions", {"statement": script})
        made.until_running("claims")
        made.post("/applications/claims/deployments", {"version_id": version["id"], "confirmed": True})
        made.deploy("shop", AWAY, restart_enabled=False)
        made.post("/connectors", {"text": CONNECTOR.replace("PORT", str(postgres.port))})
        until(lambda: len(run(postgres.uri, "SELECT 1 FROM kept")) == 4, "the costs are kept")
        yield made


@pytest.fixture(scope="module")
def moving(stand: Stand, postgres: EmbeddedPostgres) -> Iterator[None]:
    """The claims change while pictures are taken."""
    with Generator(postgres.uri, every=0.5):
        yield


def bid(number: int) -> str:
    """A message of the topic."""
    item = ("lamp", "desk", "chair")[number % 3]
    return f'{{"id": {number}, "item": "{item}", "price": {number * 7 % 90 + 5}}}'


def waits_for(place: str) -> Callable[[Page], None]:
    """Nothing is done but to wait."""
    return lambda page: expect(page.locator(place).first).to_be_visible()


def read_topic(page: Page) -> None:
    """From the sources to the messages of the topic."""
    page.get_by_role("link", name="bids-").click()
    expect(page.locator(".messages li").nth(9)).to_be_visible()


def moves(page: Page) -> None:
    """Until there is something on the edges, and a few batches."""
    expect(page.locator("svg.graph .rate").nth(3)).to_be_visible()
    expect(page.locator("tbody tr:nth-child(6)").first).to_be_visible()


def sees(text: str) -> Callable[[Page], None]:
    return lambda page: expect(page.get_by_text(text).first).to_be_visible()


def ask(page: Page) -> None:
    page.get_by_role("textbox", name="SQL").fill(QUESTIONS)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Answer 2").locator("td").first).to_be_visible()


def mistake(page: Page) -> None:
    box = page.get_by_role("textbox", name="SQL")
    page.get_by_label("Name").fill(fresh("pizza"))
    box.fill(box.input_value().replace("GROUP BY", "GRUP BY"))
    page.get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("alert")).to_be_visible()


def board(page: Page) -> None:
    for drawn in (".pie circle", ".bar", ".single", ".filled td"):
        waits_for(drawn)(page)


def letter(page: Page) -> None:
    page.get_by_role("button", name="bids").first.click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()


def scenes() -> list[Scene]:
    """Every page of the console."""
    return [
        Scene("pipeline", "/console/pipelines/claims", moves),
        Scene("node", "/console/pipelines/claims?node=costs", moves),
        Scene("batches", "/console/pipelines/claims/batches", waits_for("tbody tr:nth-child(5)")),
        Scene("view", "/console/views/claims.costs", waits_for(".changes li:nth-child(4)")),
        Scene("chart", "/console/views/claims.costs_by_animal?show=bar&x=animal&y=cost", waits_for(".bar")),
        Scene("views", "/console/views", waits_for("tbody tr")),
        Scene("dashboards", "/console/dashboards", waits_for("a.tile")),
        Scene("dashboard", "/console/dashboards/claims", board),
        Scene("sql", "/console/sql", ask),
        Scene("sources", "/console/sources", sees("task 0 running")),
        Scene("topic", "/console/sources", read_topic),
        Scene("letters", "/console/pipelines/market/letters", letter),
        Scene("applications", "/console/applications", waits_for("tbody tr:nth-child(3)")),
        Scene("application", "/console/applications/claims", waits_for(".diff .added")),
        Scene("editor", "/console/new", mistake),
    ]


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_picture(browser: Browser, stand: Stand, moving: None, scene: Scene) -> None:
    take(browser, stand.address, scene)


def test_overview(browser: Browser, stand: Stand, moving: None, postgres: EmbeddedPostgres) -> None:
    with locked(postgres):
        take(browser, stand.address, Scene("overview", "/", waits_for(".busy-note")))


def test_door(browser: Browser, tmp_path: Path) -> None:
    with standing(tmp_path / "door", Access({"ann": Secret("0123456789abcdef")})) as guarded:
        take(browser, guarded.address, Scene("door", "/", waits_for("input[name=token]")))


@contextmanager
def locked(postgres: EmbeddedPostgres) -> Iterator[None]:
    """The sink's table is locked inside the block."""
    holder = psycopg2.connect(postgres.uri)
    holder.cursor().execute("LOCK TABLE kept")
    try:
        yield
    finally:
        holder.rollback()
        holder.close()


def take(browser: Browser, address: str, scene: Scene) -> None:
    """One page in all ways."""
    for way, how in WAYS.items():
        with looking(browser, address, **how, reduced_motion="reduce") as page:
            page.goto(scene.address)
            scene.act(page)
            png = page.screenshot()
            blank = page.context.new_page()
            name = f"console-{scene.name}.png" if way == "light" else f"console-{scene.name}-{way}.png"
            write_small(png, IMAGES / name, blank)
