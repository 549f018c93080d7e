"""The SQL files and connectors of the package. Oracle: the statements as written in the demos they come from."""

from __future__ import annotations

import json
import re

import pytest

from headwater.connect.files import connector_of
from headwater.demo.claims_kafka import BOTH_TABLES
from headwater.demo.outbox import order_script
from headwater.demo.package_files import connector_file, packaged, sql_file
from headwater.demo.stage import Ports
from headwater.sql.script import parse_script
from tests.sql import seeds

PORTS = Ports(postgres=20001, kafka=20002, connect=20003, opensearch=7201)

ADDRESSES = {
    # what stands in a file of the package: what stands there in a demo
    "postgres:5432": "127.0.0.1:20001",
    "kafka:9092": "127.0.0.1:20002",
    "elasticsearch:9200": "127.0.0.1:7201",
    "'hostname' = 'postgres'": "'hostname' = '127.0.0.1'",
    "'port' = '5432'": "'port' = '20001'",
    "'properties.bootstrap.servers' = ''": "'properties.bootstrap.servers' = '127.0.0.1:20002'",
}

SQL_FILES = ("claims_tables.sql", "claims_tables_cdc.sql", "claims_costs.sql", "outbox.sql", "outbox_wal.sql")


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
    ],
)
def test_a_connector_speaks_as_it_did_and_is_understood_today(name: str, server: str, tables: str) -> None:
    old = json.loads(packaged(name))["config"]
    assert (old["database.server.name"], old["table.whitelist"]) == (server, tables)
    assert old["value.converter.schemas.enable"] == "false"
    now = connector_of(connector_file(name, PORTS), name)
    assert (now.config["topic.prefix"], now.config["table.include.list"]) == (server, tables)
    assert (now.config["database.hostname"], now.config["database.port"]) == ("127.0.0.1", "20001")
    assert now.config["plugin.name"] == "pgoutput"


def test_both_tables_are_captured_with_the_ends_of_transactions() -> None:
    found = connector_of(connector_file("register-postgres.json", PORTS, more=BOTH_TABLES), "here")
    assert found.config["table.include.list"] == "claims.accident_claims,claims.members"
    assert found.config["provide.transaction.metadata"] == "true"
    assert found.config["decimal.handling.mode"] == "double"
