"""A course by everyone who is named: one after the other, each on a fresh copy of the same rows."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.contender import CAUSES, Ground, waited
from bench.course import Course, Part, foreseen, run_beside, run_through
from bench.peers.table import CONTENDERS, YARDSTICKS, taking_part
from bench.relay import Relay, relay, telling
from bench.results import Failure, Figure
from bench.watch import cursor
from bench.ways import Way
from headwater.services.postgres import EmbeddedPostgres

SERVER = {
    # The same for everyone. A contender that is frozen for a while is not to be cut off.
    "wal_sender_timeout": "0",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
}
SEED, ORACLE = "seed", "oracle"


@dataclass(frozen=True)
class Stage:
    """What stands from the first contender to the last: the server of all databases, what relays it, a folder."""

    server: EmbeddedPostgres
    relay: Relay | None
    folder: Path


def raced(course: Course, names: Sequence[str], say: Callable[[str], None]) -> Iterator[Figure | Failure]:
    """All figures and failures, as they come."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        with (
            EmbeddedPostgres(folder / "postgres", settings=SERVER) as server,
            between(course.way, folder) as relayed,
        ):
            say(f"{course.workload}: {course.rows:,} first rows, {course.changes:,} changes")
            fill(server, course)
            parts = foreseen(course, address(server, ORACLE))
            drop(server, ORACLE)
            entered = {each.name for each in taking_part(names, course.job, course.way)}
            for name in names:
                if name in entered:
                    yield from taken(course, name, Stage(server, relayed, folder), parts)
                else:
                    say(f"{name} has no part in {course.workload}")
    finally:
        shutil.rmtree(folder)


def between(way: Way, folder: Path) -> AbstractContextManager[Relay | None]:
    """What stands between the server and everyone."""
    return relay(folder) if way is Way.TOPICS else nullcontext()


def taken(course: Course, name: str, stage: Stage, parts: Mapping[str, Part]) -> Iterator[Figure | Failure]:
    """What one contender or yardstick comes to; what it fails at ends its own run and nobody else's."""
    legs = ["start"]
    contender = next((each for each in CONTENDERS if each.name == name), None)
    yardstick = next((each for each in YARDSTICKS if each.name == name), None)
    try:
        with prepared(course, name, stage) as ground:
            if contender is not None:
                contender.prepare(ground)
                with telling(course.job, ground, course.rows, contender.events()):
                    yield from run_through(course, contender, ground, parts, legs.append)
            if yardstick is not None:
                yield from run_beside(course, yardstick, ground, parts, legs.append)
    except CAUSES as broken:
        yield Failure(course.workload, legs[-1], name, reason(broken))


def reason(broken: Exception) -> str:
    """An error as one line; of a program that failed also what it said."""
    said = getattr(broken, "stderr", None) or ""
    return " ".join(f"{broken} {str(said)[-600:]}".split()) or repr(broken)


def address(server: EmbeddedPostgres, database: str) -> str:
    """Where clients of a database connect."""
    return f"{server.uri.rsplit('/', 1)[0]}/{database}"


def fill(server: EmbeddedPostgres, course: Course) -> None:
    """Make the first rows once; everybody gets a copy."""
    with cursor(server.uri) as client:
        client.execute(f"CREATE DATABASE {SEED}")
    with cursor(address(server, SEED)) as client:
        for table in course.job.tables:
            client.execute(table.postgres())
        client.execute(course.filled)
        client.execute("VACUUM ANALYZE")
    copy(server, ORACLE)


def copy(server: EmbeddedPostgres, name: str) -> None:
    """A database with the first rows."""
    with cursor(server.uri) as client:
        client.execute(f"CREATE DATABASE {name} TEMPLATE {SEED} STRATEGY FILE_COPY")


def drop(server: EmbeddedPostgres, name: str) -> None:
    """Drop a database and all slots on it, whoever left them."""
    with cursor(server.uri) as client:
        free = "SELECT count(*) = 0 FROM pg_replication_slots WHERE active AND database = %s"

        def left() -> bool:
            client.execute(free, [name])
            return bool(client.fetchone()[0])

        waited(left, lambda: None, 60.0, f"the end of all readers of {name}")
        client.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", [name]
        )
        client.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def prepared(course: Course, name: str, stage: Stage) -> Iterator[Ground]:
    """A fresh copy of the source, an empty target, a folder; names of topics, if it reads from some."""
    word, server = re.sub(r"\W", "_", name), stage.server
    source = f"source_{word}"
    topics = stage.relay.topics(source) if stage.relay else None
    ground = Ground(server, source, f"target_{word}", stage.folder / word, topics)
    ground.folder.mkdir()
    copy(server, ground.source)
    with cursor(server.uri) as client:
        client.execute(f"CREATE DATABASE {ground.target}")
    with cursor(ground.uri(ground.target)) as client:
        client.execute(course.job.target.postgres())
    with cursor(server.uri) as client:
        client.execute("CHECKPOINT")
    try:
        yield ground
    finally:
        drop(server, ground.source)
        drop(server, ground.target)
        shutil.rmtree(ground.folder)
