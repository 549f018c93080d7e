"""Connectors on a real Connect worker, from a file as it was written for Debezium 1.2.

Oracle: Connect's own REST interface, and the changes as they were made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from headwater.connect.renames import PREFIXES, RENAMED
from tests.pipeline.world import Ran, command
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedConnect, fresh

pytestmark = pytest.mark.services

CLASS = "io.debezium.connector.postgresql.PostgresConnector"

OTHERS = (
    "database.whitelist",
    "database.blacklist",
    "database.history",
    "event.deserialization.",
    "collection.",
    "field.",
    "mongodb.",
)
"""Options that only connectors of other databases have."""


class Worker:
    """A person with a file and a Connect worker."""

    def __init__(self, connect: SharedConnect, folder: Path, claims: Database) -> None:
        self.url, self.file, self.name = connect.url, folder / "register.json", fresh("claims")
        self.prefix = self.name.replace("-", "_")
        self.topic = f"{self.prefix}.claims.accident_claims"
        self.broker = connect.kafka.address
        self.config = {
            "connector.class": CLASS,
            "tasks.max": "1",
            "database.hostname": "127.0.0.1",
            "database.port": str(claims.port),
            "database.user": "postgres",
            "database.password": "${env:CLAIMS_PASSWORD}",
            "database.dbname": claims.name,
            "database.server.name": self.prefix,
            "table.whitelist": "claims.accident_claims",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "decimal.handling.mode": "double",
            "slot.name": self.prefix,
            # Otherwise Debezium stays RUNNING and tries again for ever, whatever the reason.
            "errors.max.retries": "0",
        }

    def __call__(self, *words: str) -> Ran:
        """A command of `headwater connect`."""
        return command("connect", *words, "--url", self.url)

    def register(self, **changed: str) -> Ran:
        """Write the file and register it; names are written with `_` for a dot."""
        config = self.config | {name.replace("_", "."): value for name, value in changed.items()}
        self.file.write_text(json.dumps({"name": self.name, "config": config}, indent=2))
        return self("register", str(self.file))

    def ask(self, path: str) -> Any:
        """What Connect itself says."""
        return urllib3.request("GET", f"{self.url}{path}").json()

    def state(self) -> str:
        """The states of the connector and its tasks, `RUNNING RUNNING`."""
        said = self.ask(f"/connectors/{self.name}/status")
        parts = [said.get("connector", {"state": "UNKNOWN"}), *said.get("tasks", [])]
        return " ".join(part["state"] for part in parts)


@pytest.fixture
def worker(
    connect: SharedConnect, claims: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Worker]:
    """A worker whose connector is gone at the end, with its slot."""
    monkeypatch.setenv("CLAIMS_PASSWORD", "postgres")
    made = Worker(connect, tmp_path, claims)
    yield made
    if made.name in made.ask("/connectors"):
        urllib3.request("DELETE", f"{made.url}/connectors/{made.name}")


def test_an_old_file_is_registered_and_its_changes_are_seen(
    worker: Worker, claims: Database, connect: SharedConnect
) -> None:
    made = worker.register()
    assert (made.code, made.out.splitlines()) == (
        0,
        [f"created connector '{worker.name}'", f"connector '{worker.name}' is RUNNING with 1 task"],
    )
    assert "note: 'table.whitelist' is now called 'table.include.list'" in made.err
    assert worker.state() == "RUNNING RUNNING"
    assert worker.name in worker("list").out.split()
    shown = worker("status", worker.name)
    assert shown.code == 0 and shown.out.count("RUNNING") == 2
    # The row of the snapshot: what comes from now on is not in it.
    connect.kafka.read(worker.topic, 1)
    claims.run("INSERT INTO claims.accident_claims (claim_total) VALUES (7)")
    claims.run("UPDATE claims.accident_claims SET claim_total_receipt = 'Right.pdf' WHERE claim_id = 2")
    claims.run("DELETE FROM claims.accident_claims WHERE claim_id = 2")
    tail = ("--from-beginning", "--max", "5", "--bootstrap", worker.broker)
    seen = command("tail", worker.topic, *tail, "--keys")
    row = "claim_id=2, claim_total=7.0, claim_total_receipt="
    one = "claim_id=1, claim_total=500.0, claim_total_receipt=null, amount=12.5"
    assert [line.split("  ", 1)[1] for line in seen.out.splitlines()] == [
        f"r claims.accident_claims  {one}",
        f"c claims.accident_claims  {row}null, amount=null",
        f'u claims.accident_claims  {row}null → "Right.pdf", amount=null',
        f'd claims.accident_claims  {row}"Right.pdf", amount=null',
        "tombstone",
    ]
    assert seen.err.startswith(f"reading all of topic '{worker.topic}' (1 partition)")
    raw = command("tail", worker.topic, *tail, "--raw").out.splitlines()
    assert [json.loads(line)["op"] for line in raw[:4]] == ["r", "c", "u", "d"] and raw[4] == "null"


def test_a_connector_rests_goes_on_restarts_and_goes(worker: Worker, claims: Database) -> None:
    assert worker.register().code == 0
    assert worker("pause", worker.name).out == f"paused connector '{worker.name}'\n"
    wait_for(lambda: worker.state() == "PAUSED PAUSED")
    again = worker.register(tombstones_on_delete="false")
    assert again.out.splitlines() == [
        f"connector '{worker.name}' was there: it has new options",
        f"connector '{worker.name}' is PAUSED: headwater connect resume {worker.name}",
    ]
    assert worker.ask(f"/connectors/{worker.name}/config")["tombstones.on.delete"] == "false"
    assert worker("resume", worker.name).code == 0
    wait_for(lambda: worker.state() == "RUNNING RUNNING")
    assert worker("restart", worker.name, "--tasks").out.endswith("and its tasks\n")
    assert worker("restart", worker.name).code == 0
    wait_for(lambda: worker.state() == "RUNNING RUNNING")
    last = worker.register()
    assert last.out.endswith("is RUNNING with 1 task\n"), last.err
    assert worker("delete", worker.name).code == 0
    assert worker.name not in worker.ask("/connectors")
    gone = worker("status", worker.name)
    assert gone.code == 1 and f"error: there is no connector '{worker.name}'" in gone.err


def test_a_wrong_password_is_told_and_not_shown(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAIMS_PASSWORD", "opensesame")
    refused = worker.register()
    assert refused.code == 1 and f"connector '{worker.name}' has wrong options" in refused.err
    assert "password authentication failed" in refused.err
    assert "hint: Check 'database.user' and 'database.password'" in refused.err
    assert "opensesame" not in refused.err + refused.out
    assert worker.name not in worker.ask("/connectors")


def test_what_connect_refuses_is_told_option_by_option(worker: Worker) -> None:
    wrong = worker.register(snapshot_mode="sometimes", decimal_handling_mode="roughly")
    assert wrong.code == 1
    assert (
        "detail: " in wrong.err and "snapshot.mode: " in wrong.err and "decimal.handling.mode: " in wrong.err
    )
    near = worker.register(connector_class=f"{CLASS}s")
    assert f"hint: Did you mean '{CLASS}'?" in near.err
    assert worker.name not in worker.ask("/connectors")


def test_a_connector_that_has_failed_says_why_and_can_be_mended(
    worker: Worker, claims: Database, connect: SharedConnect
) -> None:
    assert worker.register().code == 0
    taken_slot = f"SELECT active FROM pg_replication_slots WHERE slot_name = '{worker.prefix}'"
    wait_for(lambda: claims.run(taken_slot) == [(True,)])
    other = Worker(connect, worker.file.parent, claims)
    wrong = {"slot_name": worker.prefix, "slot_max_retries": "0", "snapshot_mode": "no_data"}
    taken = other.register(**wrong)
    try:
        assert taken.code == 1 and f"task 0 of connector '{other.name}' has failed" in taken.err
        assert "is active for PID" in taken.err and "hint: Someone else reads this slot" in taken.err
        shown = other("status")
        assert shown.code == 1 and "FAILED" in shown.out
        assert f"{other.name}, task 0: " in shown.out and "hint: Someone else reads" in shown.out
        mended = other.register()
        assert mended.out.endswith(f"connector '{other.name}' is RUNNING with 1 task\n"), mended.err
        assert other("status", other.name).code == 0
    finally:
        other("delete", other.name)


def test_every_new_name_is_one_that_debezium_has(worker: Worker) -> None:
    body = {"connector.class": CLASS, "name": "x"}
    path = f"/connector-plugins/{CLASS}/config/validate"
    said = urllib3.request("PUT", f"{worker.url}{path}", json=body).json()
    known = {item["definition"]["name"] for item in said["configs"]}
    new = {name for old, name in RENAMED.items() if not old.startswith((*OTHERS, *PREFIXES))}
    by_the_naming_of_topics = {"topic.heartbeat.prefix", "topic.transaction"}
    assert new - known == by_the_naming_of_topics
