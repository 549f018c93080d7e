"""The statements of the demos this project grew from.

Oracle: what each of them declares, written out by hand from the demos' own words.
"""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.schema import arrow_type
from headwater.sql.like import DEFAULTS
from headwater.sql.script import parse_script
from headwater.sql.statements import (
    ColumnDef,
    CreateCatalog,
    CreateTable,
    InsertInto,
    Select,
    Statement,
)
from tests.sql import seeds


def one(text: str) -> Statement:
    (statement,) = parse_script(text + ";", "seed.sql")
    return statement


def test_the_claims_table() -> None:
    table = one(seeds.CLAIMS)
    assert isinstance(table, CreateTable) and table.columns is not None
    assert table.name == "accident_claims"
    assert table.columns[:3] == (
        ColumnDef("claim_id", "int"),
        ColumnDef("claim_total", "float"),
        ColumnDef("claim_total_receipt", "string"),
    )
    assert len(table.columns) == 12 and table.key == () and table.computed == ()
    assert table.options == {
        "connector": "postgres-cdc",
        "hostname": "postgres",
        "port": "5432",
        "username": "postgres",
        "password": "postgres",
        "database-name": "postgres",
        "schema-name": "claims",
        "table-name": "accident_claims",
    }


def test_the_catalog_and_the_tables_like_its_own() -> None:
    catalog, claims, members = (one(text) for text in (seeds.CATALOG, seeds.CLAIMS_LIKE, seeds.MEMBERS_LIKE))
    assert isinstance(catalog, CreateCatalog) and catalog.name == "postgres"
    assert catalog.options["base-url"] == "jdbc:postgresql://postgres:5432/" and len(catalog.options) == 6
    assert isinstance(claims, CreateTable) and claims.like is not None
    assert (claims.columns, claims.options["connector"]) == (None, "kafka")
    assert claims.like.source == "postgres.postgres.claims.accident_claims"
    assert claims.like.ways == DEFAULTS | {"options": "excluding"}
    assert isinstance(members, CreateTable) and members.like is not None
    assert members.options == {} and members.like.ways == DEFAULTS | {"options": "including"}


def test_the_claims_query() -> None:
    query = one(seeds.CLAIM_COSTS)
    assert isinstance(query, Select)
    assert query.query.sql(dialect="headwater") == (
        "SELECT accident_detail, SUM(claim_total) AS agg_claim_costs FROM accident_claims "
        "WHERE claim_status <> 'DENIED' GROUP BY accident_detail"
    )


def test_the_sink_of_costs_has_its_key_in_line() -> None:
    table = one(seeds.COSTS)
    assert isinstance(table, CreateTable)
    assert table.key == ("es_key",)
    assert table.columns == (
        ColumnDef("es_key", "string", True),
        ColumnDef("insurance_company", "string"),
        ColumnDef("accident_detail", "string"),
        ColumnDef("accident_agg_cost", "double"),
    )


def test_the_insert_of_costs_reaches_spark_unchanged() -> None:
    insert = one(seeds.INSERT_COSTS)
    assert isinstance(insert, InsertInto)
    assert (insert.target, insert.columns) == ("agg_insurance_costs", ())
    first = insert.query.selects[0].sql(dialect="headwater")
    assert first == (
        "UPPER(SUBSTRING(m.insurance_company, 0, 4) || '_' || SUBSTRING(ac.accident_detail, 0, 4)) AS es_key"
    )


def test_the_messages_table_has_rows_in_rows() -> None:
    table = one(seeds.MESSAGES)
    assert isinstance(table, CreateTable) and table.columns is not None
    source, message = table.columns[2:]
    assert message == ColumnDef("message", "struct<prefix:string,content:string>")
    assert source.type.endswith("schema:string,table:string,txId:bigint,lsn:bigint,xmin:bigint>")
    assert len(list(arrow_type(source.type))) == 12


def test_the_order_output_has_a_key_and_its_insert_is_read() -> None:
    table, insert = parse_script(f"{seeds.ORDER_OUTPUT};\n{seeds.INSERT_ORDERS}")
    assert isinstance(table, CreateTable) and table.key == ("order_id",)
    assert isinstance(insert, InsertInto) and insert.target == "order_output"
    assert len(insert.query.selects) == 4


def test_tables_and_rows_of_the_source_database_are_read_too() -> None:
    table, insert, claim, tables = parse_script(
        ";".join((seeds.HOLDING, seeds.INSERT_HOLDING, seeds.INSERT_CLAIM, seeds.INFORMATION_SCHEMA))
    )
    assert isinstance(table, CreateTable) and table.columns is not None
    assert (table.name, table.columns[-1]) == ("bank.holding", ColumnDef("datatime_updated", "timestamp_ntz"))
    assert isinstance(insert, InsertInto) and insert.target == "bank.holding"
    assert isinstance(claim, InsertInto) and len(claim.columns) == 9
    assert isinstance(tables, Select)


@pytest.mark.parametrize(("text", "name"), seeds.REFUSED.items())
def test_what_has_no_body_yet_is_named(text: str, name: str) -> None:
    with pytest.raises(SqlError) as caught:
        one(text)
    assert caught.value.message == f"{name} is not supported yet"
    assert caught.value.hint and caught.value.place is not None
