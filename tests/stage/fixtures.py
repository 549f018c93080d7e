"""Fixtures `kafka`, `connect`, `opensearch`, `mysql`, `mariadb`: real services, one of each a run.

They are started when a test first needs them, and all workers share them: the first that needs one starts it under a
lock and writes down where it is. The process that runs pytest holds a named pipe open, and every service ends when it
closes, whatever happened.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from headwater.services.alone import alone
from headwater.services.certificates import make_certificates
from headwater.services.connect import ConnectWorker
from headwater.services.kafka import KafkaServer, Secured
from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer
from headwater.services.opensearch import OpenSearchServer
from headwater.services.running import running_pid, stop_process
from tests.stage.shared import SharedConnect, SharedKafka, SharedMysql, SharedOpenSearch

STAGE = "HEADWATER_TEST_STAGE"
"""The variable that tells workers where the services of this run are."""

ORDER = ("connect", "kafka", "opensearch", "mysql", "mariadb")
"""How they are stopped: who needs another goes first."""

PATIENT_BROKER = {"broker.session.timeout.ms": "60000"}
PATIENT_WORKER = {"session.timeout.ms": "60000"}
"""Nobody kills those that all share: one that stands still on a busy machine is not taken for dead. A broker that is has
no room for topics, and a worker begins all its connectors anew."""

_PIPE = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of this run; a worker finds it made."""
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.mkdtemp(prefix="headwater-stage-"))
    os.environ[STAGE] = str(folder)
    os.mkfifo(folder / "alive")
    config.stash[_PIPE] = os.open(folder / "alive", os.O_RDWR)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started and remove what it wrote."""
    if _PIPE not in config.stash:
        return
    folder = Path(os.environ.pop(STAGE))
    for name in ORDER:
        stop_process(folder / name)
    os.close(config.stash[_PIPE])
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def kafka() -> SharedKafka:
    """The Kafka of this run."""
    return SharedKafka(**_shared("kafka", _start_kafka))


@pytest.fixture(scope="session")
def connect(kafka: SharedKafka) -> SharedConnect:
    """The Connect worker of this run, with three connectors of Debezium."""
    return SharedConnect(**_shared("connect", lambda folder: _start_connect(folder, kafka)), kafka=kafka)


@pytest.fixture(scope="session")
def opensearch() -> SharedOpenSearch:
    """The OpenSearch of this run."""
    return SharedOpenSearch(**_shared("opensearch", _start_opensearch))


@pytest.fixture(scope="session")
def mysql() -> SharedMysql:
    """The MySQL of this run."""
    return SharedMysql(
        **_shared("mysql", lambda stage: _start_mysql(MysqlServer(stage / "mysql", lifetime=stage / "alive")))
    )


@pytest.fixture(scope="session")
def mariadb() -> SharedMysql:
    """The MariaDB of this run."""
    return SharedMysql(
        **_shared(
            "mariadb", lambda stage: _start_mysql(MariadbServer(stage / "mariadb", lifetime=stage / "alive"))
        )
    )


def _shared(name: str, start: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """What is written of a service, after starting it if it does not run."""
    stage = Path(os.environ[STAGE])
    note = stage / f"{name}.json"
    with alone(stage / f"{name}.lock"):
        if not note.exists() or running_pid(stage / name) is None:
            note.write_text(json.dumps(start(stage)))
        found = json.loads(note.read_text())
    assert isinstance(found, dict)
    return found


def _start_kafka(stage: Path) -> dict[str, str]:
    certificates = make_certificates(stage / "certificates")
    secured = Secured(certificates)
    alive = stage / "alive"
    server = KafkaServer(stage / "kafka", secured=secured, settings=PATIENT_BROKER, lifetime=alive).start()
    return asdict(
        SharedKafka(
            address=server.address,
            ssl_address=server.ssl_address,
            scram_address=server.scram_address,
            password_address=server.password_address,
            user=secured.user,
            password=secured.password,
            folder=str(certificates.folder),
        )
    )


def _start_connect(stage: Path, kafka: SharedKafka) -> dict[str, str]:
    plugins = ("debezium-postgres", "debezium-mysql", "debezium-mariadb")
    worker = ConnectWorker(
        stage / "connect",
        kafka=kafka.address,
        plugins=plugins,
        settings=PATIENT_WORKER,
        lifetime=stage / "alive",
    )
    return {"url": worker.start().url}


def _start_opensearch(stage: Path) -> dict[str, str]:
    return {"url": OpenSearchServer(stage / "opensearch", lifetime=stage / "alive").start().url}


def _start_mysql(server: MysqlServer | MariadbServer) -> dict[str, Any]:
    started = server.start()
    return {"port": started.port, "user": started.user, "password": started.password}
