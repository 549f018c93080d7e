"""The SQL files and connectors of the package. Oracle: the statements as written in the demos they come from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from headwater.connect.files import connector_of
from headwater.demo.audit import write_files as write_audit
from headwater.demo.claims_kafka import BOTH_TABLES
from headwater.demo.outbox import order_script
from headwater.demo.package_files import connector_file, packaged, sql_file
from headwater.demo.session import DemoFolder
from headwater.demo.stage import Ports
from headwater.demo.star import SERVERS, Way
from headwater.demo.star import write_files as write_star
from headwater.sql.script import parse_script
from tests.sql import seeds

PORTS = Ports(postgres=20001, kafka=20002, connect=20003, opensearch=7201, mysql=20005)

ADDRESSES = {
    # what stands in a file of the package: what stands there in a demo
    "postgres:5432": "127.0.0.1:20001",
    "kafka:9092": "127.0.0.1:20002",
    "elasticsearch:9200": "127.0.0.1:7201",
    "'hostname' = 'postgres'": "'hostname' = '127.0.0.1'",
    "'port' = '5432'": "'port' = '20001'",
    "'properties.bootstrap.servers' = ''": "'properties.bootstrap.servers' = '127.0.0.1:20002'",
}

SQL_FILES = (
    "claims_tables.sql",
    "claims_tables_cdc.sql",
    "claims_costs.sql",
    "outbox.sql",
    "outbox_wal.sql",
    "star_tables_kafka.sql",
    "audit_table.sql",
    "audit_table_kafka.sql",
)


def statements(text: str) -> list[str]:
    """The statements of a file in one line each, without remarks."""
    plain = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in plain.split(";") if part.strip()]


def in_one_line(*texts: str) -> list[str]:
    return [" ".join(text.split()) for text in texts]


def test_the_claims_are_read_as_written() -> None:
    assert statements(packaged("claims_tables.sql")) == in_one_line(
        seeds.CATALOG, seeds.CLAIMS_LIKE, seeds.MEMBERS_LIKE
    )


def test_the_costs_are_computed_as_written() -> None:
    assert statements(packaged("claims_costs.sql")) == in_one_line(seeds.COSTS, seeds.INSERT_COSTS)


def test_only_members_are_read_otherwise_as_they_change() -> None:
    *same, members = statements(packaged("claims_tables_cdc.sql"))
    assert same == in_one_line(seeds.CATALOG, seeds.CLAIMS_LIKE)
    claims = same[-1].replace("accident_claims", "members")
    assert members == claims


def test_the_orders_are_computed_as_written() -> None:
    assert statements(packaged("outbox.sql")) == in_one_line(
        seeds.MESSAGES, seeds.ORDER_OUTPUT, seeds.INSERT_ORDERS
    )


def test_an_order_is_sent_as_written_but_for_what_is_ordered() -> None:
    assert " ".join(packaged("outbox_order.sql").split()) == " ".join(f"{seeds.ORDER_BLOCK};".split())
    assert order_script([1]) == packaged("outbox_order.sql").replace(
        "2, CURRENT_TIMESTAMP, '{1,2,3,4}'", "%(seated)s, CURRENT_TIMESTAMP, %(pizzas)s"
    )


def test_the_bank_is_made_as_written() -> None:
    schema, _, holding, _, first = statements(packaged("audit_setup.sql"))
    assert schema == "CREATE SCHEMA bank"
    assert [holding, first] == in_one_line(seeds.HOLDING, seeds.INSERT_HOLDING)


def test_the_questions_are_asked_as_written_of_a_user_and_some_days(tmp_path: Path) -> None:
    write_audit(DemoFolder(tmp_path, "audit"), PORTS, through_kafka=False)
    asked = (tmp_path / "questions.sql").read_text()
    assert "given" in packaged("audit_questions.sql") and "given" not in asked
    assert asked.count("user_id = '3'") == 2
    assert asked.count("between 'yesterday' and 'tomorrow'") == 2


@pytest.mark.parametrize("through_kafka", [True, False])
def test_no_address_of_the_package_is_left_in_what_a_demo_runs(
    tmp_path: Path, *, through_kafka: bool
) -> None:
    folder = DemoFolder(tmp_path, "any")
    for server in SERVERS:
        files = write_star(folder, PORTS, way=Way(server, through_kafka))
        text = files.pipeline.read_text()
        assert len(parse_script(text)) == 5 + 3 + 1
        assert not re.findall(r"3306|5432|9092|debezium'|postgresuser|adminpwrd|'root'", text)
        assert text.count(":20001/postgres'") == 3
        assert text.count("'port' = '20005'") == (0 if through_kafka else 5)
    text = write_audit(folder, PORTS, through_kafka=through_kafka).pipeline.read_text()
    assert not re.findall(r"5432|9092|data_engineer|'password' = 'password'", text)
    assert f"'path' = '{tmp_path / 'holding-pivot.txt'}'" in text


@pytest.mark.parametrize(("server", "word"), [("mysql", "MySql"), ("mariadb", "MariaDb")])
def test_each_server_has_its_connector(tmp_path: Path, server: str, word: str) -> None:
    file = write_star(DemoFolder(tmp_path, "star"), PORTS, way=Way(server, through_kafka=True)).connector
    assert file is not None
    found = connector_of(file.read_text(), file.name).config
    assert found["connector.class"] == f"io.debezium.connector.{server}.{word}Connector"
    assert (found["database.hostname"], found["database.port"]) == ("127.0.0.1", "20005")
    assert found["schema.history.internal.kafka.bootstrap.servers"] == "127.0.0.1:20002"


@pytest.mark.parametrize("name", SQL_FILES)
def test_a_demo_is_given_addresses_and_nothing_else(name: str) -> None:
    expected = packaged(name)
    for old, new in ADDRESSES.items():
        expected = expected.replace(old, new)
    assert sql_file(name, PORTS) == expected
    assert len(parse_script(sql_file(name, PORTS))) == len(statements(expected))


@pytest.mark.parametrize(
    ("name", "server", "tables"),
    [
        ("register-postgres.json", "pg_claims", "claims.accident_claims"),
        ("orders-cdc.json", "my_pg", "public.orders"),
        ("register-holding.json", "bankserver1", "bank.holding"),
    ],
)
def test_a_connector_speaks_as_it_did_and_is_understood_today(name: str, server: str, tables: str) -> None:
    old = json.loads(packaged(name))["config"]
    assert (old["database.server.name"], old["table.whitelist"]) == (server, tables)
    assert old.get("value.converter.schemas.enable", "false") == "false"
    now = connector_of(connector_file(name, PORTS), name)
    assert (now.config["topic.prefix"], now.config["table.include.list"]) == (server, tables)
    assert (now.config["database.hostname"], now.config["database.port"]) == ("127.0.0.1", "20001")
    assert now.config["plugin.name"] == "pgoutput"


def test_both_tables_are_captured_with_the_ends_of_transactions() -> None:
    found = connector_of(connector_file("register-postgres.json", PORTS, more=BOTH_TABLES), "here")
    assert found.config["table.include.list"] == "claims.accident_claims,claims.members"
    assert found.config["provide.transaction.metadata"] == "true"
    assert found.config["decimal.handling.mode"] == "double"
