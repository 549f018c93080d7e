"""A server as people start it: the life cycle of the docs, and a crash with ten pipelines and a view that is followed.

Oracle: for the docs, the file that the application writes, added up by hand; for the crash, the numbers 1, 2, 3 and so
on that each pipeline must have written, each once, whatever happened, and transfers, each of which adds up to nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg2
import pytest

from tests.server.live_world import SECONDS, Copy, events
from tests.server.reading_world import BANK
from tests.server.serving import Served
from tests.server.victim import STORE
from tests.server.waiting import until
from tests.stage.programs import programs_in

# Each starts a server and much in it, more than once.
pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1200)]

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
PIPELINES = 10

NUMBERS = """
CREATE TABLE numbers (id BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '20', 'fields.id.kind' = 'sequence'
);
CREATE TABLE seen (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv');
INSERT INTO seen SELECT id FROM numbers;
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    say(folder, 0)
    program = ("tests.server.victim", str(folder / "count"))
    served = Served(folder / "server", "--pg-port", "0", program=program)
    yield served
    served.kill()


def test_the_life_cycle_of_the_docs_runs(served: Served, tmp_path: Path) -> None:
    served.start()
    script = re.findall(r"```bash\n(set -euo.*?)```", PAGE.read_text(), re.DOTALL)[0]
    programs = programs_in(tmp_path / "programs", "jq")
    path = f"{Path(sys.executable).parent}:{programs}:{os.environ['PATH']}"
    env = os.environ | {"HEADWATER_SERVER": served.url, "PATH": path}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=500
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # On a busy machine a run may take as long as it is until the next one: its log tells what came when.
    assert {'"INITIALIZING"', '"RUNNING"', '"FINISHED"'} & {*ran.stdout.splitlines()}
    became = re.findall(r"deployment is ([A-Z]+)", ran.stdout)
    assert became.index("RUNNING") < became.index("FINISHED") < len(became) - 1
    assert "not without --yes" in ran.stdout and "computed anew: pieces" in ran.stderr
    assert "'pizza-orders' version 1 is CANCELED" in ran.stdout
    # The server stood in another folder when it wrote: relative paths begin where it was started.
    sold = (served.folder.parent / "sold.json").read_text().splitlines()
    assert {json.loads(line)["pizza"] for line in sold} == set(range(1, 10))


@dataclass
class Crash:
    """What was seen of a server before it was killed with -9; when it is seen here, it runs again."""

    files: dict[str, Path]
    """What each of ten pipelines writes."""
    before: dict[str, list[str]]
    copy: Copy
    """What somebody has who followed the bank."""
    shapes: Path
    """The folder of the Postgres behind the endpoint."""


@pytest.fixture(scope="module")
def crash(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """Ten pipelines, a bank that somebody follows, a client of Postgres; and a kill in the middle of what they do."""
    served.start()
    folder = tmp_path_factory.mktemp("seen")
    files = {f"numbers-{n}": folder / f"seen-{n}.csv" for n in range(PIPELINES)}
    for name, file in files.items():
        deploy(served, name, NUMBERS.format(path=file))
    deploy(served, "bank", BANK.replace("{store}", STORE))
    before = {name: until(lambda file=file: lines(file), bool) for name, file in files.items()}  # type: ignore[misc]  # bound now
    connect(served).close()
    shapes = Path((served.folder / "postgres").read_text())
    assert shapes.is_dir()
    copy = Copy()
    for entries in followed(served, copy, transfers=12):
        if entries > 4:
            served.kill()
            break
    served.start()
    return Crash(files, before, copy, shapes)


def test_who_follows_a_view_through_a_crash_loses_no_batch_and_hears_none_twice(
    served: Served, crash: Crash
) -> None:
    copy = crash.copy
    for entries in followed(served, copy, transfers=16):
        if entries == 32:
            break
    assert copy.rows == Counter({(0, 32): 1})
    # Each batch changes the view, so none is missing either.
    assert copy.seen == list(range(copy.seen[0], copy.seen[-1] + 1))


def test_of_the_postgres_behind_a_killed_server_nothing_is_left(served: Served, crash: Crash) -> None:
    connect(served).close()
    assert not crash.shapes.exists()


def test_after_a_crash_ten_pipelines_go_on_and_nothing_comes_twice(served: Served, crash: Crash) -> None:
    for name, file in crash.files.items():
        until(lambda file=file: lines(file), lambda now, then=crash.before[name]: len(now) > len(then))  # type: ignore[misc]  # bound now
    assert [served.wait_for(name, "RUNNING")["runs"] for name in crash.files] == [2] * PIPELINES
    assert served.stop() == 143
    for file in crash.files.values():
        seen = lines(file)
        assert seen == [str(number) for number in range(1, len(seen) + 1)]
    assert not (served.folder / "postgres").exists()


def deploy(served: Served, name: str, script: str) -> None:
    served.ask("POST", "/applications", {"name": name})
    served.ask("POST", f"/applications/{name}/versions", {"statement": script})
    served.ask("POST", f"/applications/{name}/deployments", {"version_id": "1"})


def connect(served: Served) -> psycopg2.extensions.connection:
    address = {"host": "127.0.0.1", "user": "headwater", "dbname": "headwater"}
    return psycopg2.connect(**address, port=served.postgres_port)


def say(folder: Path, transfers: int) -> None:
    """From now on so many transfers are to be handed in to the bank."""
    new = folder / "new"
    new.write_text(str(transfers))
    new.rename(folder / "count")


def followed(served: Served, copy: Copy, *, transfers: int) -> Iterator[int]:
    """How many entries the bank has, after each event of one who goes on where he was; the total is always 0."""
    with httpx.Client(base_url=served.url, timeout=SECONDS) as client:
        # The server starts what ran before by itself.
        until(lambda: client.get("/views/bank.totals").status_code, lambda status: status == 200)
        headers = {} if copy.last_id is None else {"Last-Event-ID": copy.last_id}
        with client.stream("GET", "/views/bank.totals/changes", headers=headers) as answer:
            say(served.folder.parent, transfers)
            for event in events(answer):
                copy.apply(event)
                ((total, entries),) = copy.rows
                assert total == 0 or entries == 0
                yield entries


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
