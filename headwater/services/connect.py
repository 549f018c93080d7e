"""A real Kafka Connect worker with Debezium's connectors, on 127.0.0.1.

    with KafkaServer(folder / "kafka") as kafka, ConnectWorker(folder / "connect", kafka=kafka.address) as worker:
        requests.get(f"{worker.url}/connector-plugins")

Events are plain JSON without schemas unless a connector asks for more; `${env:NAME}` and `${file:path:key}` work in
a connector's settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.services.artifacts import fetch
from headwater.services.http import answers_well
from headwater.services.java_program import java_command, properties, write_log_settings
from headwater.services.ports import HOST, free_port
from headwater.services.process import Launch, Lifetime, Server

HEAP = "512m"
PLUGINS = ("debezium-postgres",)

SETTINGS: Mapping[str, str] = {
    "group.id": "connect",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
    "config.storage.topic": "connect-configs",
    "config.storage.replication.factor": "1",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.replication.factor": "1",
    "offset.storage.partitions": "1",
    "status.storage.topic": "connect-status",
    "status.storage.replication.factor": "1",
    "status.storage.partitions": "1",
    "offset.flush.interval.ms": "1000",
    # The plugins say of themselves what they are, so nothing has to be searched for in their jars.
    "plugin.discovery": "service_load",
    "config.providers": "env,file",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    # A worker that was killed is missed sooner, so that its successor begins sooner.
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1000",
    "scheduled.rebalance.max.delay.ms": "0",
}
"""What differs from a worker as it comes."""


class ConnectWorker(Server):
    """One worker; what it knows of its connectors is in topics of its Kafka."""

    name = "connect"

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        kafka: str,
        plugins: Sequence[str] = PLUGINS,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
    ) -> None:
        super().__init__(folder, free_port() if port is None else port, lifetime=lifetime)
        self._kafka = kafka
        self._plugins = tuple(plugins)
        self._settings = dict(settings or {})

    @property
    def url(self) -> str:
        """Where its REST interface is."""
        return f"http://{self.address}"

    def launch(self) -> Launch:
        """Write the worker's files and say how it is started."""
        jars = fetch("kafka")
        log = f"-Dlog4j2.configurationFile={write_log_settings(self.folder)}"
        config = self._write_config([fetch(plugin) for plugin in self._plugins])
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        return Launch([*java_command(jars, main, heap=HEAP, options=[log]), str(config)], {}, {})

    def answers(self) -> bool:
        """True if the worker has read its settings topics and takes requests."""
        return answers_well(self.port, "/connectors")

    def _write_config(self, plugins: Sequence[Path]) -> Path:
        given = {
            **SETTINGS,
            "bootstrap.servers": self._kafka,
            "listeners": self.url,
            "rest.advertised.host.name": HOST,
            "plugin.path": ",".join(map(str, plugins)),
            **self._settings,
        }
        path = self.folder / "connect.properties"
        path.touch(0o600)
        path.write_text(properties(given))
        return path
