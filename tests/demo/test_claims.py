"""The claims database and its generator, on a real Postgres. Oracle: the facts of its data, and counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from headwater.demo import claims_data
from headwater.demo.claims import Office, claims_sql, connected, make_tables
from headwater.demo.session import Generator
from headwater.errors import SourceError
from headwater.services.postgres import EmbeddedPostgres


@pytest.fixture(scope="module")
def server(folder_of_its_own: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(folder_of_its_own) as postgres:
        yield postgres


@pytest.fixture
def uri(server: EmbeddedPostgres) -> str:
    """A database with the claims tables as they are at first."""
    ask(server.uri, "DROP SCHEMA IF EXISTS claims CASCADE")
    assert make_tables(server.uri)
    return server.uri


def ask(uri: str, sql: str) -> list[tuple[Any, ...]]:
    connection = psycopg2.connect(uri)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def test_first_rows_are_the_same_for_one_seed_and_others_for_another() -> None:
    assert list(claims_data.first_claims(1)) == list(claims_data.first_claims(1))
    assert list(claims_data.first_claims(1)) != list(claims_data.first_claims(2))


def test_the_data_has_the_shape_of_the_original() -> None:
    members, claims = list(claims_data.first_members()), list(claims_data.first_claims())
    assert [row[0] for row in members] == list(range(1, 501))
    assert len({row[6] for row in members}) == 4
    assert len(claims) == 1000
    assert len({row[6] for row in claims}) == 7
    assert {row[5] for row in claims} == set(claims_data.TYPES)
    assert {row[2] for row in claims} == {"EUR", "AUD", "USD"}
    assert 340 < sum(row[1] is None for row in claims) < 460
    assert 150 < Counter(row[8] for row in claims)["DENIED"] < 250


def test_the_pipeline_is_given_host_and_port_and_nothing_else() -> None:
    plain = claims_sql("postgresql://postgres:postgres@postgres:5432/postgres")
    changed = claims_sql("postgresql://postgres:postgres@127.0.0.1:7777/postgres")
    differing = [
        (old.strip(), new.strip())
        for old, new in zip(plain.splitlines(), changed.splitlines(), strict=True)
        if old != new
    ]
    assert differing == [
        ("'hostname' = 'postgres',", "'hostname' = '127.0.0.1',"),
        ("'port' = '5432',", "'port' = '7777',"),
    ]


@pytest.mark.services
def test_tables_are_made_once(uri: str) -> None:
    assert not make_tables(uri)
    assert ask(uri, "SELECT count(*) FROM claims.members") == [(500,)]
    assert ask(uri, "SELECT min(claim_id), max(claim_id), count(*) FROM claims.accident_claims") == [
        (1, 1000, 1000)
    ]
    identity = "SELECT relreplident FROM pg_class WHERE relname IN ('members', 'accident_claims')"
    assert ask(uri, identity) == [("f",), ("f",)]


@pytest.mark.services
def test_the_generator_inserts_updates_and_deletes(uri: str) -> None:
    with connected(uri) as connection:
        office = Office(connection)
        assert sum(office.work(3) for _ in range(200)) >= 200
    ((come,),) = ask(uri, "SELECT count(*) FROM claims.accident_claims WHERE claim_id > 1000")
    ((left,),) = ask(uri, "SELECT count(*) FROM claims.accident_claims WHERE claim_id <= 1000")
    first = [row[6] for row in claims_data.first_members()]
    company = [row[0] for row in ask(uri, "SELECT insurance_company FROM claims.members ORDER BY id")]
    assert come > 0 and left < 1000 and first != company


@pytest.mark.services
def test_the_generator_stops_after_the_rows_it_was_given(uri: str) -> None:
    with Generator(uri, every=0.0, rows=25) as generator:
        assert generator.wait(120.0)
    generator.check()
    assert generator.changed == 25


@pytest.mark.services
def test_equal_databases_see_equal_changes(server: EmbeddedPostgres) -> None:
    def after_work() -> list[tuple[Any, ...]]:
        ask(server.uri, "DROP SCHEMA IF EXISTS claims CASCADE")
        make_tables(server.uri)
        with connected(server.uri) as connection:
            office = Office(connection)
            for _ in range(50):
                office.work(3)
        return ask(
            server.uri, "SELECT claim_id, claim_total, claim_status FROM claims.accident_claims ORDER BY 1"
        )

    assert after_work() == after_work()


@pytest.mark.services
def test_a_transaction_is_whole_or_absent(uri: str) -> None:
    # Oracle: xmin, by which Postgres itself says which rows one transaction wrote.
    with Generator(uri, every=0.0, rows=60) as generator:
        assert generator.wait(120.0)
    written = ask(
        uri, "SELECT xmin::text, count(*) FROM claims.accident_claims WHERE claim_id > 1000 GROUP BY 1"
    )
    assert max(count for _, count in written) > 1


@pytest.mark.services
def test_the_generator_goes_on_in_emptied_tables(uri: str) -> None:
    ask(uri, "TRUNCATE claims.members CASCADE")
    with Generator(uri, every=0.0, rows=10) as generator:
        assert generator.wait(120.0)
    generator.check()
    assert generator.changed == 10


@pytest.mark.services
def test_what_goes_wrong_in_the_thread_is_told(uri: str) -> None:
    ask(uri, "DROP TABLE claims.accident_claims")
    with Generator(uri, every=0.0, rows=10) as generator:
        assert generator.wait(120.0)
    with pytest.raises(SourceError, match="refused"):
        generator.check()


def test_a_wrong_address_is_an_error_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as raised:
        make_tables("postgresql://ann:hush@127.0.0.1:1/none")
    assert "hush" not in raised.value.message + raised.value.detail + raised.value.hint
    assert "Connection refused" in raised.value.detail
