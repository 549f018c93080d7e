"""The tables of the page: what a step is made of, how far the model is right, and what it says of larger machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from bench.report import table
from bench.scale.fit import DRIVER, EXECUTORS, TERMS, Measured, Model, error
from bench.scale.simulate import (
    CAPTURE,
    COMMIT,
    ROWS_OF_A_CHANGE,
    STORAGE,
    Assumed,
    Limit,
    Rates,
    Setup,
    World,
    limit,
)
from headwater.tables.slices import MOST_KEYS

GIGABYTE, TERABYTE = 1e9, 1e12
STATES = (GIGABYTE, 100 * GIGABYTE, TERABYTE)
WORKERS = (0, 1, 10, 100)
CHANGES = (1_000, 100_000, 1_000_000)
LIMITS = ("changes a second", "bottleneck", "its share", "lag at half")
MANY_ROWS = 10_000_000
"""Of so many rows a batch is, where it may be large."""


@dataclass(frozen=True)
class Remedy:
    """Something that is done about a bottleneck: in words, and what is otherwise then."""

    words: str
    against: frozenset[str]
    setup: Callable[[Setup], Setup] = lambda setup: setup
    assumed: Callable[[Assumed], Assumed] = lambda assumed: assumed


REMEDIES = (
    Remedy(
        f"`headwater.batch.rows` at {MANY_ROWS:,}",
        frozenset({DRIVER, EXECUTORS, STORAGE, COMMIT}),
        lambda setup: replace(setup, batch_rows=MANY_ROWS),
    ),
    Remedy(
        "and from Kafka, which executors read",
        frozenset({CAPTURE}),
        lambda setup: replace(setup, from_kafka=True),
    ),
    Remedy(
        "and storage that gives ten times as much",
        frozenset({STORAGE}),
        assumed=lambda assumed: replace(
            assumed, storage=10 * assumed.storage, storage_all=10 * assumed.storage_all
        ),
    ),
    Remedy(
        "and a thousand tasks (there is no setting for it)",
        frozenset({EXECUTORS}),
        lambda setup: replace(setup, shuffle_tasks=1_000),
    ),
)


def parts(model: Model) -> str:
    """What a step is made of, in seconds."""
    rows = [
        [way, term.words, seconds(cost)]
        for way, terms in TERMS.items()
        for term, cost in zip(terms, model.costs[way], strict=True)
    ]
    search = [
        [DRIVER, "each part of State that is searched", seconds(model.search.part)],
        [DRIVER, "each change and part", seconds(model.search.key)],
    ]
    return table(["done by", "for", "time"], [*rows, *search])


def compared(model: Model, measured: Sequence[Measured]) -> str:
    """Each step as it was measured, beside what the model says."""
    rows = [
        [
            each.way,
            f"{each.load.changes:,}",
            f"{each.load.state / 1e6:g} M",
            str(each.load.views),
            str(each.load.cores),
            seconds(each.seconds),
            seconds(model.seconds(each.load, each.way)),
            f"{error(model, each):+.0%}",
            "held out" if each.is_held_out else "",
        ]
        for each in measured
    ]
    return table(["done by", "changes", "State", "views", "cores", "measured", "predicted", "off", ""], rows)


def predicted(world: World) -> str:
    """Seconds of a step for sizes of State, changes and workers."""
    rows = []
    for state in STATES:
        for changes in CHANGES:
            told = [
                seconds(sum(world.step(setup, changes).values())) if is_known(setup, changes) else ""
                for setup in (Setup(workers, state) for workers in WORKERS)
            ]
            rows.append([size(state), f"{changes:,}", *told])
    return table(["State", "changes", *map(hosts, WORKERS)], rows)


def is_known(setup: Setup, changes: int) -> bool:
    """False of what the model does not tell: batches that one machine does not do in memory."""
    return setup.workers > 0 or changes * ROWS_OF_A_CHANGE <= MOST_KEYS


def limits(world: World) -> str:
    """The most changes a second, and what holds them there."""
    rows = []
    for state in STATES:
        for workers in WORKERS:
            rows.append([size(state), hosts(workers), *cells(limit(world, Setup(workers, state)))])
    return table(["State", "on", *LIMITS], rows)


def remedies(world: World) -> str:
    """A large State on many workers, and what is done about its bottleneck, as long as there is something."""
    setup, words = Setup(WORKERS[-1], STATES[-1]), "as it is"
    left, rows = list(REMEDIES), list[list[str]]()
    while True:
        found = limit(world, setup)
        rows.append([words, *cells(found)])
        remedy = next((each for each in left if found.bottleneck in each.against), None)
        if remedy is None:
            return table(["", *LIMITS], rows)
        left.remove(remedy)
        words = remedy.words
        world, setup = replace(world, assumed=remedy.assumed(world.assumed)), remedy.setup(setup)


def cells(found: Limit) -> list[str]:
    """What is told of a limit."""
    return [count(found.rate), found.bottleneck, f"{found.share:.0%}", seconds(found.lag)]


def given(rates: Rates, assumed: Assumed) -> str:
    """What was measured beside a step, and what is assumed."""
    rows = [
        ["captured by one process (`make bench-capture`)", f"{rates.captured:,.0f} changes/s", "measured"],
        ["a sink of one connection", f"{rates.sunk:,.0f} rows/s", "measured"],
        ["a write to it", seconds(rates.sink_seconds), "measured"],
        ["a small record on the disk of this machine", seconds(rates.synced), "measured"],
        ["the driver for each task", seconds(rates.launched), "measured"],
        ["a changed row on the network", f"{rates.change_bytes:.0f} bytes", "measured"],
    ]
    for field in fields(assumed):
        value = getattr(assumed, field.name)
        rows.append([field.metadata["words"], quantity(value, field.metadata["unit"]), "assumed"])
    return table(["", "", ""], rows)


def sizes(rates: Rates) -> str:
    """What State takes on a disk."""
    rows = [
        ["a claim, four columns", f"{rates.row_bytes:.0f} bytes", size(rates.row_bytes * 1e9)],
        ["beside it, to look it up", f"{rates.lookup_bytes:.0f} bytes", size(rates.lookup_bytes * 1e9)],
    ]
    return table(["on the disk", "a row", "a billion rows"], rows)


def hosts(workers: int) -> str:
    """Who works."""
    return f"{workers} worker{'s' if workers > 1 else ''}" if workers else "one machine"


def seconds(value: float) -> str:
    """A time, in the unit that suits it.

    >>> seconds(0.0), seconds(2.5e-6), seconds(0.0123), seconds(4.56), seconds(7200)
    ('0', '2.5 µs', '12 ms', '4.6 s', '2.0 h')
    """
    if value == 0:
        return "0"
    for unit, least in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value >= least or unit == "ns":
            number = value / least
            return f"{number:.0f} {unit}" if number >= 10 else f"{number:.1f} {unit}"
    raise AssertionError(value)


def count(value: float) -> str:
    """A rate with two digits that count.

    >>> count(188392.4), count(12.3), count(0.456)
    ('190,000', '12', '0.46')
    """
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.2g}"


def size(value: float) -> str:
    """Bytes for people.

    >>> size(1e9), size(1e12), size(2.5e10)
    ('1 GB', '1 TB', '25 GB')
    """
    return f"{value / TERABYTE:.3g} TB" if value >= TERABYTE else f"{value / GIGABYTE:.3g} GB"


def quantity(value: float, unit: str) -> str:
    """A number with its unit."""
    match unit:
        case "bytes/s":
            return f"{value / GIGABYTE:g} GB/s"
        case "bytes of it":
            return f"{value:.0f} bytes"
        case "bytes":
            return size(value)
        case "s":
            return seconds(value)
        case _:
            return f"{value:g}"
