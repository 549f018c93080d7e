"""One run of the claims demo: its folder, its Postgres, its generator."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from headwater.demo.claims import MOST_AT_ONCE, Office, connected, make_tables
from headwater.errors import HeadwaterError, ServiceError
from headwater.services.postgres import EmbeddedPostgres, running_uri

FOLDER = Path(".headwater") / "demo-claims"
STOP_SECONDS = 10.0


@dataclass(frozen=True)
class DemoFolder:
    """Where a demo lives: the database, the pipeline's state, the port it was given first."""

    path: Path

    @property
    def database(self) -> Path:
        """The folder of its Postgres."""
        return self.path / "postgres"

    @property
    def state(self) -> Path:
        """The folder of its pipeline."""
        return self.path / "state"

    @property
    def port_file(self) -> Path:
        """The port of its Postgres: saved progress belongs to one address."""
        return self.path / "port"

    def saved_port(self) -> int | None:
        """The port of the last run."""
        return int(self.port_file.read_text()) if self.port_file.exists() else None

    def uri(self) -> str:
        """The address of the running demo's database."""
        uri = running_uri(self.database)
        if uri is None:
            raise ServiceError(
                "the demo is not running",
                detail=f"No Postgres runs in {self.database}.",
                hint="Start it in another terminal with: headwater demo claims",
            )
        return uri


@contextmanager
def demo_database(folder: DemoFolder, *, port: int | None, fresh: bool) -> Iterator[str]:
    """The address of the demo's Postgres, with its tables, while the block runs."""
    if running_uri(folder.database) is not None:
        raise ServiceError(
            "the demo is running already",
            detail=f"Its Postgres runs in {folder.database}.",
            hint="Stop the other one with Ctrl-C, or give this one a folder of its own with --state DIR.",
        )
    if fresh:
        shutil.rmtree(folder.path, ignore_errors=True)
    folder.path.mkdir(parents=True, exist_ok=True)
    server = EmbeddedPostgres(folder.database, port or folder.saved_port())
    try:
        folder.port_file.write_text(str(server.port))
        make_tables(server.uri)
        yield server.uri
    finally:
        server.stop()


class Generator:
    """A thread that changes rows until it is stopped, or until `rows` of them are changed."""

    def __init__(self, uri: str, *, every: float, rows: int | None = None) -> None:
        self.changed = 0
        self._uri, self._every, self._rows = uri, every, rows
        self._failed: HeadwaterError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="demo generator", daemon=True)

    def __enter__(self) -> Generator:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(STOP_SECONDS)

    def check(self) -> None:
        """Raise what went wrong in the thread, if anything did."""
        if self._failed is not None:
            raise self._failed

    def wait(self, seconds: float) -> bool:
        """True if it has ended within so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            with connected(self._uri) as connection:
                office = Office(connection)
                while not self._ended.is_set() and self._left() > 0:
                    self.changed += office.work(self._left())
                    self._ended.wait(self._every if self._left() else 0)
        except HeadwaterError as error:
            self._failed = error

    def _left(self) -> int:
        return MOST_AT_ONCE if self._rows is None else min(MOST_AT_ONCE, self._rows - self.changed)
