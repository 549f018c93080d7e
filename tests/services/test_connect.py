"""A real Connect worker. Oracle: what its REST interface says and what arrives in a topic, before and after a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import urllib3

from headwater.services.connect import ConnectWorker
from headwater.services.postgres import temporary_postgres
from headwater.services.running import wait_for
from tests.stage.shared import SharedConnect, SharedKafka, fresh

pytestmark = pytest.mark.services


def test_it_has_debeziums_connector_for_postgres(connect: SharedConnect) -> None:
    plugins = urllib3.request("GET", f"{connect.url}/connector-plugins").json()
    assert "io.debezium.connector.postgresql.PostgresConnector" in {plugin["class"] for plugin in plugins}


def own_world() -> dict[str, str]:
    """Settings of a worker that shares a Kafka with another and knows nothing of it."""
    names = ("group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic")
    return {name: fresh(name.split(".")[0]) for name in names}


def connector(port: int, server: str) -> dict[str, str]:
    """A connector for one table; its password is in the worker's environment."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "plugin.name": "pgoutput",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": "postgres",
        "database.password": "${env:HEADWATER_TEST_PASSWORD}",
        "database.dbname": "postgres",
        "topic.prefix": server,
        "table.include.list": "public.t",
    }


def task_runs(url: str) -> bool:
    """True if the connector and its task say so."""
    answer: Any = urllib3.request("GET", f"{url}/connectors/t/status").json()
    return [task["state"] for task in answer.get("tasks", [])] == ["RUNNING"]


def rows(kafka: SharedKafka, topic: str, count: int) -> list[object]:
    """The rows after the first changes of a topic."""
    return [json.loads(value or b"")["after"] for _, value in kafka.read(topic, count)]


def test_a_worker_that_was_killed_goes_on_with_its_connector(
    kafka: SharedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_TEST_PASSWORD", "postgres")
    server = fresh("server")
    with (
        temporary_postgres() as postgres,
        ConnectWorker(tmp_path / "connect", kafka=kafka.address, settings=own_world()) as worker,
    ):
        database = psycopg2.connect(postgres.uri)
        database.autocommit = True
        cursor = database.cursor()
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
        urllib3.request("PUT", f"{worker.url}/connectors/t/config", json=connector(postgres.port, server))
        assert wait_for(lambda: task_runs(worker.url), 60)
        # Plain JSON: no schema around it.
        assert rows(kafka, f"{server}.public.t", 1) == [{"id": 1}]
        worker.kill()
        cursor.execute("INSERT INTO t VALUES (2)")
        worker.start()
        assert wait_for(lambda: task_runs(worker.url), 60)
        # What was not noted before the crash comes again, and then what came since.
        after = rows(kafka, f"{server}.public.t", 2)
        if {"id": 2} not in after:
            after = rows(kafka, f"{server}.public.t", 3)
        assert after in ([{"id": 1}, {"id": 2}], [{"id": 1}, {"id": 1}, {"id": 2}])
        database.close()
