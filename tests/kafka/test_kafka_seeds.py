"""The systems this project grew from, statement by statement as they were written, on real services.

Oracle: Postgres itself, asked for the same rows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from headwater.demo.claims import Office, connected
from headwater.demo.claims import make_tables as make_claims
from headwater.demo.claims_kafka import BOTH_TABLES, CDC, TABLES
from headwater.demo.outbox import make_tables as make_outbox
from headwater.demo.package_files import packaged
from headwater.kafka.clients import topics
from headwater.runtime.pipeline import Pipeline
from tests.ends.kafka_world import latest
from tests.kafka.relayed import wait_for_slot
from tests.pipeline.world import command, pipeline, rows
from tests.postgres.world import Database, wait_for
from tests.sql import seeds
from tests.stage.shared import SharedConnect, SharedKafka, SharedOpenSearch, fresh

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

COSTS = """
SELECT upper(substring(m.insurance_company, 1, 4) || '_' || substring(ac.accident_detail, 1, 4)),
       m.insurance_company, ac.accident_detail, sum(ac.claim_total)
FROM claims.accident_claims ac JOIN claims.members m ON ac.member_id = m.id
WHERE ac.claim_status <> 'DENIED' GROUP BY m.insurance_company, ac.accident_detail
"""

Orders = tuple[str, list[dict[str, Any]]]
Document = tuple[str, str, str, float]


@pytest.fixture
def registered(connect: SharedConnect, database: Database, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Registers a connector file of the package for this test's database, and gives the server's name."""
    names: list[str] = []

    def register(file: str, more: Mapping[str, str] | None = None) -> str:
        said = json.loads(packaged(file))
        server = fresh(said["config"]["database.server.name"]).replace("-", "_")
        said["name"] = server
        said["config"] |= {
            "database.hostname": "127.0.0.1",
            "database.port": str(database.port),
            "database.dbname": database.name,
            "database.server.name": server,
            "slot.name": server,
            "publication.name": server,
            **(more or {}),
        }
        path = tmp_path / file
        path.write_text(json.dumps(said))
        done = command("connect", "register", path, "--url", connect.url)
        assert done.code == 0, done.err
        names.append(server)
        shown = command("connect", "status", server, "--url", connect.url)
        assert shown.code == 0 and "RUNNING" in shown.out
        wait_for_slot(database, server)
        return server

    yield register
    for name in names:
        assert command("connect", "delete", name, "--url", connect.url).code == 0


def run_until(running: Pipeline, reached: Callable[[], bool]) -> None:
    """Turn the wheel until something is so."""

    def turned() -> bool:
        running.step(wait=0.2)
        return reached()

    wait_for(turned, seconds=240)


def documents(url: str, index: str) -> set[Document]:
    """What the index shows."""
    try:
        urlopen(Request(f"{url}/{index}/_refresh", method="POST"), timeout=120).read()
        said = json.load(urlopen(f"{url}/{index}/_search?size=1000", timeout=120))
    except HTTPError as problem:
        assert problem.code == 404
        return set()
    hits = said["hits"]["hits"]
    assert all(hit["_id"] == hit["_source"]["es_key"] for hit in hits)
    names = ("es_key", "insurance_company", "accident_detail", "accident_agg_cost")
    return {tuple(hit["_source"][name] for name in names) for hit in hits}


def live_is_true(running: Pipeline, database: Database) -> bool:
    """True if the live SELECT shows the claims as Postgres has them."""
    (query,) = running.queries
    wanted = database.run("SELECT claim_id, claim_total_receipt FROM claims.accident_claims")
    return {row[0]: row[2] for row in rows(running, query)} == dict(wanted)


def costs_script(
    kafka: SharedKafka, opensearch: SharedOpenSearch, database: Database, *, server: str, index: str
) -> str:
    """The statements as they were written, but for addresses and names."""
    statements = [
        seeds.CATALOG,
        seeds.CLAIMS_LIKE,
        seeds.MEMBERS_LIKE,
        seeds.ALL_CLAIMS,
        seeds.COSTS,
        seeds.INSERT_COSTS,
    ]
    text = ";\n".join(statements)
    return with_addresses(text, kafka, opensearch, database, server=server, index=index)


def with_addresses(
    text: str,
    kafka: SharedKafka,
    opensearch: SharedOpenSearch,
    database: Database,
    *,
    server: str,
    index: str,
) -> str:
    """Statements with the addresses of this test in place of the written ones."""
    for old, new in {
        "postgres:5432": f"127.0.0.1:{database.port}",
        "'default-database'='postgres'": f"'default-database'='{database.name}'",
        "postgres.postgres.": f"postgres.{database.name}.",
        "'pg_claims.claims.": f"'{server}.claims.",
        "kafka:9092": kafka.address,
        "http://elasticsearch:9200": opensearch.url,
        "'index' = 'agg_insurance_costs'": f"'index' = '{index}'",
    }.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_insurance_costs_go_from_postgres_over_kafka_to_an_index(
    registered: Callable[[str], str],
    kafka: SharedKafka,
    opensearch: SharedOpenSearch,
    database: Database,
    tmp_path: Path,
) -> None:
    make_claims(database.uri)
    server, index = registered("register-postgres.json"), opensearch.index("costs")
    topic = f"{server}.claims.accident_claims"
    tail = ("tail", topic, "--from-beginning", "--property", f"bootstrap.servers={kafka.address}")
    wait_for(lambda: topic in topics({"bootstrap.servers": kafka.address}, 90), seconds=180)
    assert command(*tail, "--max", "3").code == 0
    text = costs_script(kafka, opensearch, database, server=server, index=index)
    with pipeline(text, tmp_path) as running:

        def is_true() -> bool:
            found = {tuple(row) for row in database.run(COSTS)}
            return documents(opensearch.url, index) == found

        run_until(running, is_true)
        for statement in (seeds.INSERT_CLAIM, seeds.UPDATE_CLAIM, seeds.DELETE_CLAIM):
            database.run(f"SET search_path = claims; {statement}")
            run_until(running, lambda: live_is_true(running, database))
            run_until(running, is_true)
        with connected(database.uri) as connection:
            office = Office(connection)
            for _ in range(10):
                office.work(3)
        run_until(running, is_true)
    told = command(*tail, "--max", "1004", "--raw")
    ops = [json.loads(line)["op"] for line in told.out.splitlines() if line.startswith("{")]
    assert ops[:1000] == ["r"] * 1000 and ops[1000:1003] == ["c", "u", "d"]


def test_members_who_change_their_company_take_their_claims_with_them(
    registered: Callable[..., str],
    kafka: SharedKafka,
    opensearch: SharedOpenSearch,
    database: Database,
    tmp_path: Path,
) -> None:
    """The files of `headwater demo claims-kafka --members cdc`."""
    make_claims(database.uri)
    server, index = registered("register-postgres.json", BOTH_TABLES), opensearch.index("costs")
    text = packaged(TABLES[CDC]) + packaged("claims_costs.sql")
    text = with_addresses(text, kafka, opensearch, database, server=server, index=index)
    wanted = {f"{server}.claims.accident_claims", f"{server}.claims.members"}
    wait_for(lambda: wanted <= set(topics({"bootstrap.servers": kafka.address}, 90)), seconds=180)

    def is_true() -> bool:
        return documents(opensearch.url, index) == {tuple(row) for row in database.run(COSTS)}

    # An index remembers whose batches it has; this pipeline is another one than that of the test before.
    with pipeline(text, tmp_path, file="members.sql") as running:
        run_until(running, is_true)
        # All of one company's claims move to the other company at once, and some come back.
        database.run(
            "UPDATE claims.members SET insurance_company = 'QBE' WHERE insurance_company = 'Allianz'"
        )
        run_until(running, is_true)
        assert not any(company == "Allianz" for _, company, *_ in documents(opensearch.url, index))
        database.run("UPDATE claims.members SET insurance_company = 'Allianz' WHERE id % 5 = 0")
        run_until(running, is_true)
        assert any(company == "Allianz" for _, company, *_ in documents(opensearch.url, index))


@pytest.fixture
def orders(
    registered: Callable[[str], str], kafka: SharedKafka, database: Database
) -> tuple[str, list[dict[str, object]]]:
    """The topic of messages with orders of many, one and no pizzas, and what the output topic must hold."""
    make_outbox(database.uri)
    server = registered("orders-cdc.json")
    database.run(seeds.ORDER_BLOCK)
    database.run(seeds.ORDER_BLOCK.replace("{1,2,3,4}", "{2}"))
    odd = {"order_id": 900, "client_name": 'Ann "the\\cat" Ünï ☃', "table_name": None, "pizzas": []}
    database.run("SELECT pg_logical_emit_message(true, 'myprefix', %s)", json.dumps(odd))
    topic = f"{server}.message"
    found = [json.loads(value or b"") for _, value in kafka.read(topic, 3)]
    expected = []
    for event in found:
        said = json.loads(base64.b64decode(event["message"]["content"]))
        expected.append({n: said[n] for n in ("order_id", "client_name", "table_name", "pizzas")})
    assert [len(order["pizzas"]) for order in expected] == [4, 1, 0]
    return topic, expected


@pytest.mark.parametrize("way", ["plain", "ssl", "scram"])
def test_orders_go_from_messages_to_a_topic_by_key(
    orders: Orders, kafka: SharedKafka, tmp_path: Path, way: str
) -> None:
    topic, expected = orders
    properties = {name: str(value) for name, value in getattr(kafka, way).items()}
    listed = ", ".join(f"'properties.{name}' = '{value}'" for name, value in properties.items())
    output = fresh("order_output")
    text = ";\n".join([seeds.MESSAGES, seeds.ORDER_OUTPUT, seeds.INSERT_ORDERS])
    text = text.replace("'properties.bootstrap.servers' = ''", listed)
    text = text.replace("'my_pg.message'", f"'{topic}'").replace(
        "'topic' = 'order_output'", f"'topic' = '{output}'"
    )
    with pipeline(text, tmp_path) as running:
        running.run_once()
    held = list(latest(kafka.plain, output).values())
    for order in held:
        order["pizzas"] = json.loads(order["pizzas"])
    assert sorted(held, key=lambda order: order["order_id"]) == expected
    words = [word for name, value in properties.items() for word in ("--property", f"{name}={value}")]
    shown = command("tail", output, "--from-beginning", "--max", "3", *words)
    assert shown.code == 0, shown.err
    assert all(str(order["order_id"]) in shown.out for order in expected)
