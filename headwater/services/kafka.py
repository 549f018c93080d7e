"""A real Kafka of one node on 127.0.0.1.

    with KafkaServer(Path("data")) as kafka:
        Producer({"bootstrap.servers": kafka.address})

With `secured` it also listens for clients with certificates (SSL), for SCRAM-SHA-512 over TLS and for PLAIN.
"""

from __future__ import annotations

import base64
import logging
import shutil
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headwater.errors import ServiceError
from headwater.services.artifacts import fetch
from headwater.services.certificates import Certificates
from headwater.services.java_program import java_command, properties, write_log_settings
from headwater.services.ports import HOST, connects, free_port
from headwater.services.process import Launch, Lifetime, Server

HEAP = "512m"
ANSWER_SECONDS = 5.0
FORMAT_SECONDS = 120.0

SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    # One node: what Kafka keeps for itself has one copy, and few partitions make the first transaction quick.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # A group does not wait for members that may come.
    "group.initial.rebalance.delay.ms": "0",
    # A broker that was killed is missed sooner, so that its successor is let in sooner.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # The cleaner would take a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
}
"""What differs from a Kafka as it comes."""

PROTOCOLS = {
    # listener: how it speaks
    "PLAINTEXT": "PLAINTEXT",
    "CONTROLLER": "PLAINTEXT",
    "SSL": "SSL",
    "SCRAM": "SASL_SSL",
    "PASSWORD": "SASL_PLAINTEXT",
}


@dataclass(frozen=True)
class Secured:
    """Listeners that ask who is there; name and password are for a server on this machine and no secret."""

    certificates: Certificates
    user: str = "headwater"
    password: str = field(default="headwater", repr=False)


class KafkaServer(Server):
    """Broker and controller in one process; the folder keeps topics from one start to the next."""

    name = "kafka"

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        secured: Secured | None = None,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
    ) -> None:
        super().__init__(folder, free_port() if port is None else port, lifetime=lifetime)
        names = ["CONTROLLER", *(["SSL", "SCRAM", "PASSWORD"] if secured else [])]
        self._ports = {"PLAINTEXT": self.port, **{name: free_port() for name in names}}
        self._secured = secured
        self._settings = dict(settings or {})

    @property
    def ssl_address(self) -> str:
        """Where clients with a certificate connect."""
        return f"{HOST}:{self._ports['SSL']}"

    @property
    def scram_address(self) -> str:
        """Where clients connect over TLS with name and password, SCRAM-SHA-512."""
        return f"{HOST}:{self._ports['SCRAM']}"

    @property
    def password_address(self) -> str:
        """Where clients connect in the clear with name and password, PLAIN."""
        return f"{HOST}:{self._ports['PASSWORD']}"

    def ports(self) -> list[int]:
        """Every port that must be free."""
        return list(self._ports.values())

    def launch(self) -> Launch:
        """Write the server's files and say how it is started."""
        jars = fetch("kafka")
        log = f"-Dlog4j2.configurationFile={write_log_settings(self.folder)}"
        self._format(jars)
        config = self._write_config("server.properties", self.folder / "data")
        command = [*java_command(jars, "kafka.Kafka", heap=HEAP, options=[log]), str(config)]
        return Launch(command, {}, {})

    def answers(self) -> bool:
        """True if the broker says what topics it has."""
        return connects(self.port) and _lists_itself(self.address)

    def _format(self, jars: Path) -> None:
        """Make the data folder once; a half-made one is made anew."""
        data, making = self.folder / "data", self.folder / "making"
        if data.exists():
            return
        shutil.rmtree(making, ignore_errors=True)
        config = self._write_config("making.properties", making)
        command = java_command(jars, "kafka.tools.StorageTool", heap="128m")
        command += ["format", "--cluster-id", _cluster_id(), "--config", str(config)]
        if self._secured is not None:
            login = f"name={self._secured.user},password={self._secured.password}"
            command += ["--add-scram", f"SCRAM-SHA-512=[{login}]"]
        made = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=FORMAT_SECONDS)
        config.unlink()
        if made.returncode != 0:
            raise ServiceError(
                "kafka could not make its data folder",
                detail=(made.stderr or made.stdout).strip()[-800:],
                hint=f"Is there room, and may {self.folder} be written to?",
            )
        making.rename(data)

    def _write_config(self, name: str, data: Path) -> Path:
        listeners = ",".join(f"{listener}://{HOST}:{port}" for listener, port in self._ports.items())
        advertised = ",".join(part for part in listeners.split(",") if not part.startswith("CONTROLLER"))
        given = {
            **SETTINGS,
            "listeners": listeners,
            "advertised.listeners": advertised,
            "listener.security.protocol.map": ",".join(f"{name}:{PROTOCOLS[name]}" for name in self._ports),
            "controller.quorum.voters": f"1@{HOST}:{self._ports['CONTROLLER']}",
            "log.dirs": str(data),
            **(_secured_settings(self._secured) if self._secured else {}),
            **self._settings,
        }
        path = self.folder / name
        path.touch(0o600)
        path.write_text(properties(given))
        return path


def _secured_settings(secured: Secured) -> dict[str, str]:
    module = "org.apache.kafka.common.security"
    login = f'user_{secured.user}="{secured.password}"'
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(secured.certificates.server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secured.certificates.authority),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": f"{module}.scram.ScramLoginModule required;",
        "listener.name.password.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.password.plain.sasl.jaas.config": f"{module}.plain.PlainLoginModule required {login};",
    }


def _cluster_id() -> str:
    # Set apart by a letter in front: one that begins with a dash would be taken for an option.
    return base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).rstrip(b"=").decode()


def _lists_itself(address: str) -> bool:
    client = AdminClient({"bootstrap.servers": address, "log_level": 0}, logger=_QUIET)
    try:
        return bool(client.list_topics(timeout=ANSWER_SECONDS).brokers)
    except KafkaException:
        return False


# A client that meets a broker in the middle of its start complains; whoever waits for the start knows.
_QUIET = logging.Logger("headwater.services.kafka", logging.CRITICAL)
