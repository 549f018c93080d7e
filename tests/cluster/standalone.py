"""A standalone cluster of Spark: a master and workers, each a process of its own, as on machines of their own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from headwater.services.java import java_home
from headwater.services.ports import HOST, connects, free_port
from headwater.services.process import Launch, Server
from headwater.services.running import send
from headwater.spark.session import spark_classes
from tests.postgres.world import wait_for

SMALL = ["-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


class _Daemon(Server):
    """One process of Spark's own."""

    kind = ""

    def words(self) -> list[str]:
        """What is said to it."""
        raise NotImplementedError

    def launch(self) -> Launch:
        home, spark = java_home(), spark_classes()
        command = [str(home / "bin" / "java"), *SMALL, "-cp", f"{spark}/*", self.kind, *self.words()]
        environ = {"SPARK_HOME": str(spark.parent), "JAVA_HOME": str(home), "SPARK_LOCAL_IP": HOST}
        environ |= {"SPARK_SCALA_VERSION": "2.13"}
        # What makes our own Java small would make executors print, and slow.
        return Launch(["/usr/bin/env", "-u", "JDK_JAVA_OPTIONS", *command], environ, {})

    def answers(self) -> bool:
        return connects(self.port)


class Master(_Daemon):
    """The master: it knows the workers, and gives executors to whoever asks."""

    name, kind = "spark master", "org.apache.spark.deploy.master.Master"

    def words(self) -> list[str]:
        return ["--host", HOST, "--port", str(self.port), "--webui-port", "0"]

    @property
    def url(self) -> str:
        """What `--master` takes."""
        return f"spark://{self.address}"


class Worker(_Daemon):
    """A worker: it starts executors, of which each is a process again."""

    name, kind = "spark worker", "org.apache.spark.deploy.worker.Worker"

    def __init__(self, folder: Path, port: int, master: str) -> None:
        super().__init__(folder, port)
        self._master = master

    def words(self) -> list[str]:
        work = ["--work-dir", str(self.folder / "work"), "--cores", "1", "--memory", "1g"]
        return ["--host", HOST, "--port", str(self.port), "--webui-port", "0", *work, self._master]

    @property
    def executors(self) -> list[int]:
        """The processes of its executors."""
        return [pid for pid in _children(self.pid or 0) if "CoarseGrained" in _command(pid)]

    def kill_all(self) -> None:
        """End it and its executors at once, as if the machine were gone."""
        gone = self.executors
        self.kill()
        for pid in gone:
            # One that misses its worker ends by itself.
            send(pid, signal.SIGKILL)


@dataclass(frozen=True)
class Standalone:
    """A master and its workers."""

    master: Master
    workers: tuple[Worker, ...]


@contextmanager
def standalone(folder: Path, *, workers: int = 2) -> Iterator[Standalone]:
    """A cluster on this machine; all of it is gone at the end."""
    with ExitStack() as closing:
        master = closing.enter_context(Master(folder / "master", free_port()))
        made = [Worker(folder / f"worker-{number}", free_port(), master.url) for number in range(workers)]
        for one in made:
            closing.callback(one.kill_all)
        with ThreadPoolExecutor(workers) as starts:
            list(starts.map(Worker.start, made))
        for one in made:
            wait_for(lambda log=one.log: "Successfully registered" in log.read_text())  # type: ignore[misc]
        yield Standalone(master, tuple(made))


def _children(pid: int) -> list[int]:
    """The processes that the threads of a process have started."""
    found: list[int] = []
    with suppress(FileNotFoundError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            # Threads come and go while they are looked at.
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
