"""The way of changes through a pipeline with many workers, by simulation: how many a second it takes, and what gives way.

Changes are committed at a steady rate. One process captures them; beside it the wheel turns: it takes what is in the
log, does a step of it, writes the sink, commits, and takes what has come meanwhile. The rate is raised until the lag
grows with every turn. What was busy all the time then is the bottleneck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bench.scale.fit import DRIVER, EXECUTORS, JOINED, Load, Model
from headwater.log.events import SMALL_ROWS
from headwater.settings import Settings
from headwater.spark.inputs import LEAST_SPREAD
from headwater.spark.pace import SPREAD_TASKS

TRANSACTION = 1_000
"""So many changes are committed at once."""

TURNS = 60, 480
"""So many turns of the wheel tell whether the lag grows; if it seems to, more of them whether it goes on."""

GROWS = 1.05
"""The lag grows if it is so many times as large at the end as in the middle."""

ROWS_OF_A_CHANGE = 2
"""An update is a row that goes and one that comes."""

CAPTURE, DISK, STORAGE, NETWORK, SINK, COMMIT = "capture", "disk", "storage", "network", "sink", "commit"
"""What a pipeline can be busy with, besides driver and executors."""


@dataclass(frozen=True)
class Rates:
    """What was measured of all that stands around a step."""

    captured: float
    """Changes that one process captures in a second."""
    sunk: float
    """Rows that a sink of one connection takes in a second."""
    sink_seconds: float
    """What a write to it takes that has a single row."""
    synced: float
    """Seconds until a small record is durable on the disk of this machine."""
    launched: float
    """Seconds of the driver for each task."""
    row_bytes: float
    """What a row of the claims takes on the disk."""
    lookup_bytes: float
    """What is kept beside such a row, so that it is found."""
    change_bytes: float
    """What a changed row takes in memory, and on its way from worker to worker."""


def assumed(value: Any, words: str, unit: str = "") -> Any:
    """A field of what is assumed, as the page tells it."""
    return field(default=value, metadata={"words": words, "unit": unit})


@dataclass(frozen=True)
class Assumed:
    """What was not measured: machines that were not there."""

    row_bytes: float = assumed(100.0, "a row of State on the disk", "bytes of it")
    cores: int = assumed(8, "cores of a worker")
    network: float = assumed(1.25e9, "network of each machine", "bytes/s")
    storage: float = assumed(0.5e9, "storage, read by one worker", "bytes/s")
    storage_all: float = assumed(10e9, "storage, read by all workers", "bytes/s")
    durable: float = assumed(0.005, "storage, until a record is durable", "s")
    memory: float = assumed(64e9, "memory for files of the driver", "bytes")
    looked_at: float = assumed(1e-4, "a look at a place of a file that is not in memory", "s")
    places: int = assumed(4, "such places for each change")


@dataclass(frozen=True)
class Setup:
    """A pipeline and what it runs on; without workers it runs on one machine with a disk of its own."""

    workers: int
    state_bytes: float
    views: int = 2
    from_kafka: bool = False
    """True if executors read the messages of many partitions, in place of one process."""
    batch_rows: int = Settings().batch_rows
    sunk_share: float = 0.0
    """Rows that go to the sink for each change; views of sums have few, whatever changes."""
    shuffle_tasks: int = SPREAD_TASKS


@dataclass(frozen=True)
class World:
    """What everything takes: the model of a step, what was measured beside it, what is assumed."""

    model: Model
    rates: Rates
    assumed: Assumed = Assumed()

    def step(self, setup: Setup, changes: int) -> Mapping[str, float]:
        """The seconds of a step of so many changes, by what they are spent on."""
        load = self.load(setup, changes)
        way, assumed = self.way(setup, load), self.assumed
        is_apart, records = way == EXECUTORS, 3 + 2 * setup.views
        read = self._read(setup, load) if is_apart else 0.0
        computed = self._computed(setup, load) if is_apart else 0.0
        crossed = ROWS_OF_A_CHANGE * changes * self.rates.change_bytes * (1 + setup.views)
        return {
            DRIVER: self.model.serial(load, way),
            DISK: self._looked_up(load, way),
            # Executors compute while they read: what takes longer is what a step waits for.
            STORAGE: read if read > computed else 0.0,
            EXECUTORS: 0.0 if read > computed else computed,
            NETWORK: crossed / (setup.workers * assumed.network) if is_apart else 0.0,
            SINK: self.rates.sink_seconds + changes * setup.sunk_share / self.rates.sunk,
            COMMIT: records * (assumed.durable if setup.workers else self.rates.synced),
        }

    def load(self, setup: Setup, changes: int) -> Load:
        """A step as the model knows it."""
        rows = int(setup.state_bytes / self.assumed.row_bytes)
        cores = max(1, setup.workers * self.assumed.cores)
        return Load(changes, rows, setup.views, cores, self.assumed.row_bytes)

    def way(self, setup: Setup, load: Load) -> str:
        """Who does a step: as `headwater/spark/inputs.py` decides it."""
        is_small = load.changes * ROWS_OF_A_CHANGE <= SMALL_ROWS
        is_cut = load.state / JOINED <= LEAST_SPREAD
        return DRIVER if not setup.workers or (is_small and is_cut) else EXECUTORS

    def _looked_up(self, load: Load, way: str) -> float:
        """Seconds that the driver waits for the disk, where what it looks into is more than its memory."""
        held = sum(load.looked_into(way)) * self.rates.lookup_bytes
        missed = max(0.0, 1 - self.assumed.memory / held) if held else 0.0
        return load.changes * self.assumed.places * self.assumed.looked_at * missed

    def _read(self, setup: Setup, load: Load) -> float:
        """Seconds until the storage has given what executors read."""
        wide = min(setup.workers * self.assumed.storage, self.assumed.storage_all)
        return load.read * load.row_bytes / wide

    def _computed(self, setup: Setup, load: Load) -> float:
        """Seconds from the first task of the executors to the end of the last."""
        alone = replace(load, cores=1)
        nothing = replace(alone, state=0)
        whole = self.model.seconds(alone, EXECUTORS) - self.model.serial(alone, EXECUTORS)
        moved = self.model.seconds(nothing, EXECUTORS) - self.model.serial(nothing, EXECUTORS)
        reading = spread(whole - moved, load.pieces, load.cores, self.rates.launched)
        return reading + spread(moved, setup.shuffle_tasks, load.cores, self.rates.launched)


def spread(work: float, tasks: int, cores: int, launched: float) -> float:
    """Seconds from the first of some equal tasks to the end of the last; the driver launches one after the other.

    >>> spread(8.0, 8, 4, 0.0), spread(8.0, 4, 100, 0.0), spread(1.0, 1000, 1000, 0.01)
    (2.0, 2.0, 9.991)
    """
    each, last = work / tasks, tasks - 1
    begun = max(last * launched, (last % cores) * launched + (last // cores) * each)
    return begun + each


@dataclass(frozen=True)
class Course:
    """What a run at some rate came to: the lag after each turn, and how long everyone was busy."""

    lags: tuple[float, ...]
    busy: Mapping[str, float]
    seconds: float

    @property
    def grows(self) -> bool:
        """True if who waits at the end waits longer than who waited in the middle."""
        tenth = len(self.lags) // 6
        middle = self.lags[len(self.lags) // 2 - tenth : len(self.lags) // 2]
        return sum(self.lags[-tenth:]) > GROWS * sum(middle)


def run(world: World, setup: Setup, rate: float) -> Course:
    """The turns of the wheel while so many changes a second are committed.

    Where a batch becomes too large for the driver alone the lag grows for a while, and then no more.
    """
    short, long = TURNS
    course = turned(world, setup, rate, short)
    return turned(world, setup, rate, long) if course.grows else course


def turned(world: World, setup: Setup, rate: float, turns: int) -> Course:
    """So many turns, in a world that stands still otherwise."""
    captured = rate if setup.from_kafka else min(rate, world.rates.captured)
    durable = world.assumed.durable if setup.workers else world.rates.synced
    now, done = 0.0, 0
    lags: list[float] = []
    busy: dict[str, float] = {}
    while len(lags) < turns:
        logged = int(max(0.0, now - durable) * captured) // TRANSACTION * TRANSACTION
        if logged <= done:
            now = (done + TRANSACTION) / captured + durable + 1e-9
            continue
        batch = min(logged - done, max(setup.batch_rows, TRANSACTION))
        for part, seconds in world.step(setup, batch).items():
            busy[part] = busy.get(part, 0.0) + seconds
            now += seconds
        done += batch
        lags.append(now - done / rate)
    busy[CAPTURE] = 0.0 if setup.from_kafka else min(now, now * rate / world.rates.captured)
    return Course(tuple(lags), busy, now)


@dataclass(frozen=True)
class Limit:
    """The most changes a second that a pipeline keeps up with, what holds it there, and the lag at half of that."""

    rate: float
    bottleneck: str
    share: float
    """How much of the time it is busy."""
    lag: float


def limit(world: World, setup: Setup) -> Limit:
    """Raise the rate until the lag grows, then see who was busy."""
    low, high = 0.0, float(TRANSACTION)
    while not run(world, setup, high).grows:
        low, high = high, high * 2
    while low == 0.0 or high > 1.01 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if run(world, setup, middle).grows else (middle, high)
        if high < 1e-3:
            break
    full = run(world, setup, low)
    name = max(full.busy, key=lambda part: full.busy[part])
    half = run(world, setup, low / 2)
    settled = half.lags[len(half.lags) // 2 :]
    return Limit(low, name, full.busy[name] / full.seconds, sum(settled) / len(settled))
