"""Flink SQL with its connectors for Postgres and Kafka: a session cluster of two processes, fed by its own SQL client."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from bench import cache
from bench.contender import Failed, Ground, Job, Program
from bench.ways import READ, Way
from headwater.services.java import java_home
from headwater.services.ports import free_port
from headwater.services.postgres_files import PASSWORD, USER

VERSION, CDC, JDBC, KAFKA = "1.20.5", "3.5.0", "3.3.0-1.20", "3.4.0-1.20"
KAFKA_CLIENTS = "3.4.0"
GATEWAY = "1.20.3"
JARS = (
    f"org.apache.flink:flink-sql-gateway:{GATEWAY}",
    f"org.apache.flink:flink-sql-connector-postgres-cdc:{CDC}",
    f"org.apache.flink:flink-connector-kafka:{KAFKA}",
    f"org.apache.kafka:kafka-clients:{KAFKA_CLIENTS}",
    f"org.apache.flink:flink-connector-jdbc-core:{JDBC}",
    f"org.apache.flink:flink-connector-jdbc-postgres:{JDBC}",
)
"""The driver of Postgres comes inside of the connector that captures, which does not find its tables with a newer one."""
CONFIG = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "jobmanager.memory.process.size": "1g",
    "taskmanager.memory.process.size": "4g",
    "state.backend.type": "hashmap",
    # As its documentation advises for this backend: all memory to the heap.
    "taskmanager.memory.managed.size": "0",
    "execution.checkpointing.interval": "10s",
    # A failure is to be seen, not to be tried again.
    "restart-strategy.type": "none",
    # Two processes that are frozen for a while must not take each other for dead.
    "heartbeat.timeout": "3600000",
}
SOURCE = {
    "connector": "postgres-cdc",
    "decoding.plugin.name": "pgoutput",
    "scan.incremental.snapshot.enabled": "true",
    "scan.incremental.snapshot.chunk.size": "200000",
    "scan.incremental.snapshot.backfill.skip": "true",
    "debezium.publication.autocreate.mode": "filtered",
}
LOGIN = {"username": USER, "password": PASSWORD}
SINK = {"connector": "jdbc", "sink.buffer-flush.max-rows": "5000", "sink.buffer-flush.interval": "100ms"}
MINI_BATCH = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "100 ms",
    "table.exec.mini-batch.size": "5000",
}
# What Flink's own configuration opens for Java 17.
OPENED = (
    "java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text", "java.time",
    "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks",
)  # fmt: skip
EXPORTED = ("java.base/sun.net.util", "java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5")
JAVA = [
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    *(f"--add-exports={package}=ALL-UNNAMED" for package in EXPORTED),
]
RESULT = "BASH_JAVA_UTILS_EXEC_RESULT:"
PARTS = {
    # process: what its memory is asked by, its main class, how much of the answer is for Java
    "jobmanager": (
        "GET_JM_RESOURCE_PARAMS",
        "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
    ),
    "taskmanager": (
        "GET_TM_RESOURCE_PARAMS",
        "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
    ),
}
UP_SECONDS = 300.0
ASK_SECONDS = 2.0
POOL = urllib3.PoolManager(timeout=urllib3.Timeout(total=10.0), retries=False)


@dataclass(frozen=True)
class Flink:
    """Tuned as its documentation allows; `extra` are settings of the SQL session."""

    name: str = "flink"
    extra: Mapping[str, str] = field(default_factory=dict)

    def takes(self, job: Job, way: Way) -> bool:
        """Whatever there is."""
        return True

    def settings(self, way: Way) -> Mapping[str, str]:
        """All that is set, and what it is made of."""
        reader = {"kafka": KAFKA, **READ} if way is Way.TOPICS else {"postgres-cdc": CDC, **SOURCE}
        versions = {"version": VERSION, "jdbc": JDBC, "SQL gateway": GATEWAY}
        return {**versions, **CONFIG, "REPLICA IDENTITY": "FULL", **reader, **SINK, **self.extra}

    def prepare(self, ground: Ground) -> None:
        """Fetch Flink; with whole old rows it need not keep the tables once more to know them."""
        files()
        ground.log_old_rows()

    def events(self) -> Mapping[str, str]:
        """It reads them as they are."""
        return {}

    def start(self, job: Job, ground: Ground) -> Program:
        """Both processes, then the job."""
        home, class_path = java_home(), files()
        conf, rest = ground.folder / "conf", free_port()
        configure(conf, rest, ground.folder)
        program = Program(ground.folder, Inspector(rest))
        for name, (question, main) in PARTS.items():
            options, arguments = resources(home, class_path, conf, question)
            command = [str(home / "bin" / "java"), *options, *JAVA, *logging(conf), "-cp", class_path, main]
            program.start(
                name, [*command, "--configDir", str(conf), *arguments], {"FLINK_CONF_DIR": str(conf)}
            )
        try:
            client = f"{class_path}:{client_jars()}"
            self._submit(job, ground, [str(home / "bin" / "java"), *JAVA, *logging(conf), "-cp", client])
        except BaseException:
            program.stop()
            raise
        return program

    def _submit(self, job: Job, ground: Ground, java: list[str]) -> None:
        """Hand the job to the cluster by Flink's own SQL client; it waits for the cluster itself."""
        (ground.folder / "job.sql").write_text(script(job, ground, self.extra))
        command = [*java, "org.apache.flink.table.client.SqlClient", "embedded", "-f", "job.sql"]
        made = subprocess.run(
            command,
            cwd=ground.folder,
            env={"FLINK_CONF_DIR": str(ground.folder / "conf"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=UP_SECONDS,
        )
        (ground.folder / "client.log").write_text(made.stdout + made.stderr)
        if made.returncode != 0 or "[ERROR]" in made.stdout or "Job ID:" not in made.stdout:
            raise Failed(f"the job was not taken: {(made.stdout + made.stderr).strip()[-800:]}")


class Inspector:
    """Asks the cluster now and then whether its job still runs."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self._asked = 0.0

    def __call__(self) -> str | None:
        """What the job died of, None while it runs."""
        # Asked by who polls a hundred times a second; the cluster has better to do than to answer that.
        if time.monotonic() - self._asked < ASK_SECONDS:
            return None
        self._asked = time.monotonic()
        try:
            for job in self._answer("/jobs")["jobs"]:
                if job["status"] in ("FAILED", "FAILING", "CANCELED", "FINISHED"):
                    told = self._answer(f"/jobs/{job['id']}/exceptions").get("root-exception", "")
                    causes = [line for line in told.splitlines() if "Caused by" in line]
                    return f"its job is {job['status']}: {' '.join(causes)[-600:]}"
        except urllib3.exceptions.HTTPError as silent:
            return f"its cluster does not answer: {silent}"
        return None

    def _answer(self, path: str) -> Any:
        return json.loads(POOL.request("GET", self._url + path).data)


def home_of_flink() -> Path:
    """Flink as it comes in its package."""
    return cache.package_files(f"flink-{VERSION}", f"apache-flink-libraries=={VERSION}") / "pyflink"


def files() -> str:
    """The class path of the cluster: Flink from its package, its connectors from the Java repository."""
    return f"{home_of_flink()}/lib/*:{cache.jars('flink-connectors', JARS)}/*"


def client_jars() -> str:
    """What the SQL client needs besides; it looks for classes of the Python interface when it reads its arguments."""
    return ":".join(f"{home_of_flink()}/opt/flink-{part}-{VERSION}.jar" for part in ("sql-client", "python"))


def configure(conf: Path, rest: int, folder: Path) -> None:
    """The files that all processes read."""
    conf.mkdir()
    given = {
        **CONFIG,
        "jobmanager.rpc.address": "127.0.0.1",
        "jobmanager.rpc.port": str(free_port()),
        "rest.address": "127.0.0.1",
        "rest.port": str(rest),
        "rest.bind-address": "127.0.0.1",
        "jobmanager.bind-host": "127.0.0.1",
        "taskmanager.host": "127.0.0.1",
        "taskmanager.bind-host": "127.0.0.1",
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
        "io.tmp.dirs": str(folder),
        "execution.target": "remote",
    }
    (conf / "config.yaml").write_text("".join(f"{name}: {value}\n" for name, value in given.items()))
    (conf / "log4j2.properties").write_text(LOG)


LOG = """\
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %-5p %c{1} %m%n
"""


def logging(conf: Path) -> list[str]:
    """Where a process finds how to log."""
    return [f"-Dlog4j2.configurationFile={conf / 'log4j2.properties'}"]


def resources(home: Path, class_path: str, conf: Path, question: str) -> tuple[list[str], list[str]]:
    """What Flink makes of its memory settings: options of Java, and arguments of the process."""
    tool = class_path.partition("/lib/*")[0] + "/bin/bash-java-utils.jar"
    command = [str(home / "bin" / "java"), "-cp", f"{tool}:{class_path}"]
    command += ["org.apache.flink.runtime.util.bash.BashJavaUtils", question, "--configDir", str(conf)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.partition(RESULT)[2] for line in made.stdout.splitlines() if RESULT in line]
    if len(lines) < 2:
        raise Failed(f"its memory settings were not understood: {made.stdout.strip()[-400:]}")
    return lines[0].split(), lines[1].split()


def script(job: Job, ground: Ground, extra: Mapping[str, str]) -> str:
    """The job as the SQL client takes it."""
    url = f"jdbc:postgresql://127.0.0.1:{ground.server.port}/{ground.target}"
    statements = [f"SET '{name}' = '{value}'" for name, value in extra.items()]
    statements += [table.declared(source(table.name, ground)) for table in job.tables]
    statements.append(job.target.declared({**SINK, "url": url, "table-name": job.target.name, **LOGIN}))
    return ";\n".join([*statements, *job.statements()]) + ";\n"


def source(table: str, ground: Ground) -> Mapping[str, str]:
    """Where a table is read; of the log each has a slot and a publication of its own."""
    if ground.topics is not None:
        return ground.topics.options(table)
    return {
        **SOURCE, **LOGIN, "hostname": "127.0.0.1", "port": str(ground.server.port), "database-name": ground.source,
        "schema-name": "public", "table-name": table, "slot.name": f"flink_{table}",
        "debezium.publication.name": f"flink_{table}",
    }  # fmt: skip
