"""The claims pipeline as a program, through everything that can happen to it.

Oracle: the same query, asked of Postgres itself at the moment at which the sink is read.
"""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from headwater.demo.claims import claims_sql, make_tables
from tests.pipeline.world import START_SECONDS, become_equal, command, process, said, sink, source
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

SINK = "SELECT accident_detail, agg_claim_costs FROM agg"
QUERY = """
SELECT accident_detail, SUM(claim_total) FROM claims.accident_claims
WHERE claim_status <> 'DENIED' GROUP BY accident_detail
"""
ROLE = "keeper"


@pytest.fixture
def claims(database: Database) -> Database:
    """The claims tables, owned by a role that may do what the documentation asks for and nothing else."""
    make_tables(database.uri)
    database.run(
        "CREATE TABLE agg (accident_detail text UNIQUE NULLS NOT DISTINCT, agg_claim_costs double precision)"
    )
    if not database.run(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"):
        database.run(f"CREATE ROLE {ROLE} LOGIN REPLICATION PASSWORD '{ROLE}-secret'")
    database.run(f"GRANT CREATE ON DATABASE {database.name} TO {ROLE}")
    database.run(f"GRANT USAGE ON SCHEMA claims TO {ROLE}")
    for table in ("accident_claims", "members"):
        database.run(f"ALTER TABLE claims.{table} OWNER TO {ROLE}")
    return database


def claims_script(database: Database) -> str:
    """The demo's SQL as it stands, but for the address, with a sink instead of the terminal."""
    text = claims_sql(database.uri)
    text = text.replace("'username' = 'postgres'", f"'username' = '{ROLE}'")
    text = text.replace("'password' = 'postgres'", f"'password' = '{ROLE}-secret'")
    text = text.replace("'database-name' = 'postgres'", f"'database-name' = '{database.name}'")
    declared, select = text.split("SELECT accident_detail", 1)
    columns = "(accident_detail STRING, agg_claim_costs DOUBLE, PRIMARY KEY (accident_detail) NOT ENFORCED)"
    return f"{declared}{sink(database, 'agg', columns)}INSERT INTO agg SELECT accident_detail{select}"


class Life:
    """What happens to claims: mixed changes, several rows a transaction, the same for one seed."""

    def __init__(self, uri: str, seed: int) -> None:
        self._client = psycopg2.connect(uri)
        self._dice = random.Random(seed)
        self.changes = 0

    def go_on(self, changes: int) -> None:
        """So many changes more."""
        until = self.changes + changes
        while self.changes < until:
            with self._client, self._client.cursor() as cursor:
                for _ in range(min(self._dice.randint(1, 6), until - self.changes)):
                    self._change(cursor)
                    self.changes += 1

    def close(self) -> None:
        """No more."""
        self._client.close()

    def _change(self, cursor: Any) -> None:
        acts: tuple[Callable[[Any], None], ...] = (self._come, self._renumber, self._correct, self._go)
        self._dice.choices(acts, (35, 15, 35, 15))[0](cursor)
        assert cursor.rowcount == 1

    def _come(self, cursor: Any) -> None:
        animal = self._dice.choice(
            ("Cassowary", "Wombat", "Drop Bear", None, f"Rare {self._dice.randint(1, 9)}")
        )
        cursor.execute(
            "INSERT INTO claims.accident_claims (claim_total, member_id, accident_detail, claim_status)"
            " VALUES (%s, %s, %s, %s)",
            (self._amount(), self._dice.randint(1, 500), animal, self._status()),
        )

    def _renumber(self, cursor: Any) -> None:
        cursor.execute(
            f"UPDATE claims.accident_claims SET claim_id = nextval('claims.accident_claims_claim_id_seq') {self._one()}"
        )

    def _correct(self, cursor: Any) -> None:
        cursor.execute(
            f"UPDATE claims.accident_claims SET claim_total = %s, claim_status = %s {self._one()}",
            (self._amount(), self._status()),
        )

    def _go(self, cursor: Any) -> None:
        cursor.execute(f"DELETE FROM claims.accident_claims {self._one()}")

    def _one(self) -> str:
        where = self._dice.random()
        return (
            "WHERE claim_id = (SELECT claim_id FROM claims.accident_claims ORDER BY claim_id"
            f" OFFSET floor({where} * (SELECT count(*) FROM claims.accident_claims)) LIMIT 1)"
        )

    def _amount(self) -> float | None:
        # Quarters, so that every sum is exact in whatever order it is added up.
        return None if self._dice.random() < 0.1 else self._dice.randint(-4000, 40000) / 4

    def _status(self) -> str | None:
        return self._dice.choice((None, "DENIED", "INITIAL", "IN REVIEW", "REIMBURSED"))


def batch(database: Database) -> int:
    """The last batch the sink has."""
    return int(database.run("SELECT coalesce(max(batch_id), 0) FROM headwater_batches")[0][0])


@contextmanager
def living(uri: str, seed: int) -> Iterator[Life]:
    """Changes that come without a pause from another thread until the block ends."""
    life, ended = Life(uri, seed), threading.Event()

    def live() -> None:
        while not ended.wait(0.02):
            life.go_on(10)

    thread = threading.Thread(target=live, name="life")
    thread.start()
    try:
        yield life
    finally:
        ended.set()
        thread.join()
        life.close()


def test_the_sink_equals_the_query_through_changes_a_kill_and_a_restart(
    claims: Database, folder: Path
) -> None:
    script, state = folder / "claims.sql", folder / "state"
    script.write_text(claims_script(claims))
    with process(folder, "run", script, "--state", state) as first:
        assert len(become_equal(claims, SINK, QUERY, seconds=START_SECONDS)) == 7
        life = Life(claims.uri, seed=1)
        life.go_on(1000)
        claims.run("DELETE FROM claims.accident_claims WHERE accident_detail = 'Great White Shark'")
        animals = {animal for animal, _ in become_equal(claims, SINK, QUERY)}
        assert {None, "Wombat", "Cassowary"} < animals and "Great White Shark" not in animals
        with living(claims.uri, seed=2) as life:
            before, changes = batch(claims), life.changes
            wait_for(lambda: batch(claims) > before + 2 and life.changes > changes + 100)
            first.send_signal(signal.SIGKILL)
            first.wait()
            wait_for(lambda: life.changes > changes + 300)
    forbid_reading(claims)
    with process(folder, "run", script, "--state", state) as second:
        become_equal(claims, SINK, QUERY, seconds=START_SECONDS)
        with living(claims.uri, seed=3) as life:
            wait_for(lambda: life.changes > 100)
        become_equal(claims, SINK, QUERY)
        two_want_one(claims, folder)
        second.send_signal(signal.SIGINT)
        assert second.wait(START_SECONDS) == 130
    assert "snapshot of accident_claims" in said(folder) and "Traceback" not in said(folder)
    assert f"{ROLE}-secret" not in said(folder)
    equal = command("verify", "--state", state)
    assert (equal.code, equal.out) == (0, "equal: every view is what its query gives at this cut\n")
    dropped = command("drop", "--state", state)
    assert dropped.code == 0 and not state.exists()
    assert claims.slots() == [] and claims.publications() == []


def forbid_reading(claims: Database) -> None:
    """A second snapshot is impossible from now on."""
    claims.run(f"REVOKE SELECT ON claims.accident_claims FROM {ROLE}")
    with (
        claims.client(user=ROLE, password=f"{ROLE}-secret") as client,
        client.cursor() as cursor,
        pytest.raises(psycopg2.errors.InsufficientPrivilege),
    ):
        cursor.execute("SELECT claim_id FROM claims.accident_claims")


def two_want_one(claims: Database, folder: Path) -> None:
    """While a pipeline runs another one asks for its slot, and a second one for its state."""
    (slot,) = claims.slots()
    other = folder / "other.sql"
    other.write_text(
        source(claims, "accident_claims", "(claim_id INT)", schema_name="claims", slot__name=slot)
        + "SELECT COUNT(*) AS n FROM accident_claims;"
    )
    refused = command("run", other, "--state", folder / "another")
    assert refused.code == 1
    assert f"error: replication slot '{slot}' is in use" in refused.err
    assert "detail: 'headwater claims' of role 'keeper' from 127.0.0.1" in refused.err
    assert "hint: Two pipelines want one slot" in refused.err
    assert claims.slots() == [slot]
    held = command("run", folder / "claims.sql", "--state", folder / "state")
    assert held.code == 1 and "is in use by another process" in held.err and "hint: " in held.err


def test_once_ends_with_all_in_the_sink_that_was_committed_before(claims: Database, folder: Path) -> None:
    script, state = folder / "claims.sql", folder / "state"
    script.write_text(claims_script(claims))
    life = Life(claims.uri, seed=4)
    for changes in (0, 0, 60, 200):
        life.go_on(changes)
        ran = command("run", script, "--state", state, "--once")
        assert ran.code == 0, ran.err
        become_equal(claims, SINK, QUERY, seconds=0)
    life.close()
