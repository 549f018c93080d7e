"""What the tests of reading share: pipelines over values that turn in this process, as a server has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import Turning
from headwater.sources.values import ValuesStore, store
from tests.pipeline.world import Listening
from tests.postgres.world import wait_for

SHOP = """
CREATE TABLE orders (
  id INT, customer STRING, total DECIMAL(10, 2), at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'values', 'name' = '{store}');
CREATE VIEW totals AS SELECT customer, SUM(total) AS total, COUNT(*) AS orders FROM orders GROUP BY customer;
CREATE VIEW customers AS SELECT customer FROM orders;
"""

BANK = """
CREATE TABLE entries (id INT, account STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = '{store}');
CREATE VIEW totals AS SELECT SUM(amount) AS total, COUNT(*) AS entries FROM entries;
CREATE VIEW credits AS SELECT account, SUM(amount) AS total FROM entries WHERE amount > 0 GROUP BY account;
CREATE VIEW debits AS SELECT account, SUM(amount) AS total FROM entries WHERE amount < 0 GROUP BY account;
"""


@dataclass
class Deployed:
    """A pipeline that turns, and the store it reads."""

    name: str
    turning: Turning
    store: ValuesStore

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, which stands."""
        assert self.turning.pipeline is not None
        return self.turning.pipeline

    def catch_up(self) -> None:
        """Wait until it knows what was handed in."""
        assert self.turning.catch_up(120)
        assert self.turning.problem is None

    def stop(self) -> None:
        """Let it end, and wait for that."""
        self.turning.stop()
        self.turning.join()


@dataclass
class World:
    """Everything that runs."""

    folder: Path
    deployed: dict[str, Deployed] = field(default_factory=dict)

    def readable(self) -> Mapping[str, Pipeline]:
        """Those that run, or ran last."""
        return {name: one.pipeline for name, one in self.deployed.items()}

    def deploy(self, name: str, script: str, *, kept_in: str = "") -> Deployed:
        """Start a script; one that is deployed again finds the store it had."""
        kept_in = kept_in or f"{name}_{uuid4().hex[:8]}"
        text = script.replace("{store}", kept_in)

        def opening() -> Pipeline:
            return open_pipeline(text, file=f"{name}.sql", state=self.folder / name, listener=Listening())

        turning = Turning(name, opening)
        turning.start()
        self.deployed[name] = Deployed(name, turning, store(kept_in))
        wait_for(turning.opened.is_set, seconds=120)
        assert turning.problem is None, turning.problem
        return self.deployed[name]


@contextmanager
def made_world(folder: Path) -> Iterator[World]:
    """A world in a folder, in which nothing runs at the end."""
    world = World(folder)
    try:
        yield world
    finally:
        for one in world.deployed.values():
            one.stop()
