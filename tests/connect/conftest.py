"""One real Postgres for all tests of this folder, and a database with a table of claims for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.pipeline.world import made_database
from tests.postgres.world import Database


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedPostgres]:
    """The server, without the safety of the disk, which no test here needs."""
    with temporary_postgres({"fsync": "off"}) as running:
        yield running


@pytest.fixture
def claims(server: EmbeddedPostgres) -> Iterator[Database]:
    """A database with one claim in it."""
    with made_database(server) as found:
        found.run(
            "CREATE SCHEMA claims; CREATE TABLE claims.accident_claims (claim_id serial PRIMARY KEY,"
            " claim_total float, claim_total_receipt varchar(50), amount numeric(10, 2));"
            "ALTER TABLE claims.accident_claims REPLICA IDENTITY FULL;"
            "INSERT INTO claims.accident_claims (claim_total, amount) VALUES (500, 12.5)"
        )
        yield found
