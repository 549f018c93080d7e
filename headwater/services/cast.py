"""Everyone who can be brought up, and how: the services by name, in one folder, until they are taken down.

bring_up(["connect"], Path("services"), ports=Ports.USUAL)   # brings its Kafka too
look(Path("services"))
take_down([], Path("services"))
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headwater.errors import ServiceError
from headwater.services.alone import alone
from headwater.services.artifacts import fetch, silent
from headwater.services.connect import ConnectWorker
from headwater.services.debian import Report
from headwater.services.kafka import KafkaServer
from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer
from headwater.services.mysql_files import DATABASE
from headwater.services.opensearch import OpenSearchServer
from headwater.services.ports import HOST, is_free, require_free
from headwater.services.postgres import PostgresServer
from headwater.services.process import Lifetime, Server
from headwater.services.running import noted_port, running_pid

PLUGINS = ("debezium-postgres", "debezium-mysql", "debezium-mariadb")


FOR_SPARK = ("spark-kafka", "spark-delta", "spark-iceberg")
"""What Spark needs beside itself to read topics and to write tables of a lake."""


class Ports(enum.Enum):
    """Which ports servers listen on: those they had, the ones everybody knows, or any that are free."""

    KEPT = "kept"
    USUAL = "usual"
    AUTO = "auto"


@dataclass(frozen=True)
class Role:
    """One service: its usual port, what is fetched for it, whom it needs, how it is made."""

    port: int
    make: Callable[[Path, int | None], Server]
    address: str
    sets: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    login: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """A service as it is now."""

    name: str
    state: str
    port: int | None
    pid: int | None
    memory: int | None
    log: Path

    @property
    def address(self) -> str:
        """Where clients connect."""
        return CAST[self.name].address.format(host=HOST, port=self.port)


def _kafka(folder: Path, port: int | None) -> Server:
    return KafkaServer(folder / "kafka", port, lifetime=Lifetime.OWN)


def _connect(folder: Path, port: int | None) -> Server:
    kafka = f"{HOST}:{noted_port(folder / 'kafka')}"
    return ConnectWorker(folder / "connect", port, kafka=kafka, plugins=PLUGINS, lifetime=Lifetime.OWN)


def _opensearch(folder: Path, port: int | None) -> Server:
    return OpenSearchServer(folder / "opensearch", port, lifetime=Lifetime.OWN)


def _postgres(folder: Path, port: int | None) -> Server:
    return PostgresServer(folder / "postgres", port, lifetime=Lifetime.OWN)


def _mysql(folder: Path, port: int | None) -> Server:
    return MysqlServer(folder / "mysql", port, lifetime=Lifetime.OWN)


def _mariadb(folder: Path, port: int | None) -> Server:
    return MariadbServer(folder / "mariadb", port, lifetime=Lifetime.OWN)


CAST: Mapping[str, Role] = {
    "kafka": Role(9092, _kafka, "{host}:{port}", sets=("kafka",)),
    "connect": Role(8083, _connect, "http://{host}:{port}", sets=("kafka", *PLUGINS), needs=("kafka",)),
    "opensearch": Role(9200, _opensearch, "http://{host}:{port}", sets=("opensearch",)),
    "postgres": Role(
        5432,
        _postgres,
        "{host}:{port}",
        login={"user": PostgresServer.user, "password": PostgresServer.password, "database": "postgres"},
    ),
    "mysql": Role(
        3306,
        _mysql,
        "{host}:{port}",
        sets=("mysql",),
        login={"user": MysqlServer.user, "password": MysqlServer.password, "database": DATABASE},
    ),
    # One more than MySQL's, so that both can be up.
    "mariadb": Role(
        3307,
        _mariadb,
        "{host}:{port}",
        sets=("mariadb",),
        login={"user": MariadbServer.user, "password": MariadbServer.password, "database": DATABASE},
    ),
}


def packages_of(names: Sequence[str]) -> tuple[str, ...]:
    """The packages of some services and of those they need; without names all there are, Spark's too."""
    wanted = with_needs(names or list(CAST))
    found = dict.fromkeys(package for name in wanted for package in CAST[name].sets)
    return (*found,) if names else (*found, *FOR_SPARK)


def bring_up(
    names: Sequence[str],
    folder: Path,
    *,
    ports: Ports,
    report: Report = silent,
    starting: Callable[[str], None] = lambda name: None,
) -> list[str]:
    """Fetch what is missing and start what does not run; the names of all that are up then.

    Whoever runs already is left as it is. Nothing is started before every package is here and every port is free.
    """
    wanted = with_needs(names)
    for package in packages_of(wanted) if wanted else ():
        fetch(package, report)
    folder = folder.absolute()
    with alone(folder / "lock"):
        missing = [name for name in wanted if running_pid(folder / name) is None]
        chosen = {name: port_for(name, folder, ports) for name in missing}
        for name, port in chosen.items():
            if port is not None:
                require_free(port, name)
        for name, port in chosen.items():
            starting(name)
            CAST[name].make(folder, port).start()
            _wanted(name, folder).touch()
    return wanted


def take_down(
    names: Sequence[str], folder: Path, *, stopping: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Stop these services, or all, and who needs them; the names of those that ran."""
    wanted = with_dependents(names or list(CAST))
    folder = folder.absolute()
    if not folder.is_dir():
        return []
    with alone(folder / "lock"):
        running = [name for name in wanted if running_pid(folder / name) is not None]
        for name in running:
            stopping(name)
            _server(name, folder).stop()
        for name in wanted:
            _wanted(name, folder).unlink(missing_ok=True)
    return running


def look(folder: Path) -> list[Seen]:
    """Every service that was brought up in a folder and not taken down."""
    folder = folder.absolute()
    return [_seen(name, folder) for name in CAST if _wanted(name, folder).exists()]


def log_of(name: str, folder: Path) -> Path:
    """The log of a service, or a ServiceError if it never ran here."""
    log = folder.absolute() / name / "server.log"
    if not log.is_file():
        raise ServiceError(
            f"{name} has no log",
            detail=f"It was never started in {folder}.",
            hint=f"Start it with headwater services up {name}.",
        )
    return log


def with_needs(names: Iterable[str]) -> list[str]:
    """The services and whom they need, in the order in which they start.

    >>> with_needs(["connect"])
    ['kafka', 'connect']
    """
    wanted = {need for name in names for need in (name, *CAST[name].needs)}
    return [name for name in CAST if name in wanted]


def with_dependents(names: Iterable[str]) -> list[str]:
    """The services and who needs them, in the order in which they stop.

    >>> with_dependents(["kafka"])
    ['connect', 'kafka']
    """
    gone = set(names)
    wanted = {name for name, role in CAST.items() if name in gone or gone.intersection(role.needs)}
    return [name for name in reversed(list(CAST)) if name in wanted]


def _wanted(name: str, folder: Path) -> Path:
    """The file that is there while a service should be up, so that one that crashed is missed."""
    return folder / name / "wanted"


def port_for(name: str, folder: Path, ports: Ports) -> int | None:
    """The port a service is to listen on, None for any that is free."""
    usual = CAST[name].port
    # The one it had before, so that what others wrote down goes on being true.
    noted = noted_port(folder / name)
    if ports is Ports.USUAL or (ports is Ports.KEPT and noted in (None, usual)):
        return usual
    return noted if noted is not None and is_free(noted) else None


def _server(name: str, folder: Path) -> Server:
    return CAST[name].make(folder, noted_port(folder / name))


def _seen(name: str, folder: Path) -> Seen:
    server = _server(name, folder)
    pid = server.pid
    if pid is None:
        state = "crashed"
    else:
        state = "up" if server.answers() else "does not answer"
    return Seen(name, state, server.port, pid, _memory(pid), server.log)


def _memory(pid: int | None) -> int | None:
    """The bytes a process has in memory."""
    if pid is None:
        return None
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), None)
