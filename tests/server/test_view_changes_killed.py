"""A server is killed with -9 while somebody follows a view, and started again.

Oracle: the transfers that were handed in; each adds up to nothing, and how many there are is known.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.postgres.world import wait_for
from tests.server.live_world import SECONDS, Copy, events
from tests.server.reading_world import BANK
from tests.server.victim import STORE

pytestmark = pytest.mark.jvm

HOUSE = Path(__file__).parents[2]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The server in a process of its own, killed with -9 at the end if it was not before."""
    with (folder / "err").open("a") as err:
        running = subprocess.Popen(
            [sys.executable, "-m", "tests.server.victim", str(folder)],
            cwd=HOUSE,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HOUSE)},
        )
    assert running.stdout is not None
    try:
        address = running.stdout.readline().split()[-1]
        with httpx.Client(base_url=address, timeout=SECONDS) as client:
            yield running, client
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
        running.stdout.close()


def say(folder: Path, count: int) -> None:
    """From now on so many transfers are to be handed in."""
    new = folder / "new"
    new.write_text(str(count))
    new.rename(folder / "count")


def wait_for_view(client: httpx.Client) -> None:
    """Wait until the view is there: the server starts what ran before by itself."""
    wait_for(lambda: client.get("/views/bank.totals").status_code == 200, seconds=SECONDS)


def test_none_is_lost_and_none_is_doubled(tmp_path: Path) -> None:
    copy = Copy()
    say(tmp_path, 0)
    for life, count in enumerate((12, 16)):
        with serving(tmp_path) as (running, client):
            if life == 0:
                client.post("/applications", json={"name": "bank"}).raise_for_status()
                text = BANK.replace("{store}", STORE)
                version = client.post("/applications/bank/versions", json={"statement": text}).json()
                deployed = client.post("/applications/bank/deployments", json={"version_id": version["id"]})
                deployed.raise_for_status()
            wait_for_view(client)
            headers = {} if copy.last_id is None else {"Last-Event-ID": copy.last_id}
            with client.stream("GET", "/views/bank.totals/changes", headers=headers) as answer:
                say(tmp_path, count)
                for event in events(answer):
                    copy.apply(event)
                    ((total, entries),) = copy.rows
                    assert total == 0 or entries == 0
                    if entries == 2 * count or (life == 0 and entries > 4):
                        # In its first life it is killed in the middle of what it does.
                        running.send_signal(signal.SIGKILL)
                        break
    assert copy.rows == Counter({(0, 32): 1})
    assert copy.seen == sorted(set(copy.seen))
    # Nothing that was not asked for: each batch changes the view, so none is missing either.
    assert copy.seen == list(range(copy.seen[0], copy.seen[-1] + 1))
