"""Workloads that Headwater runs alone, beside a recompute or beside itself: a step's time and how it grows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import engine
from bench.goals import OURS
from bench.results import Failure, Figure

MILLION = 1_000_000
CHANGES, STEPS, WARM = 1_000, 5, 3


@dataclass(frozen=True)
class Alone:
    """A workload without a field of contenders."""

    workload: str
    figures: Callable[[], Iterator[Figure | Failure]]


def growth(size: int) -> Alone:
    """W4: a step of 1,000 changes on a 64th, a 16th, a quarter and all of so many claims."""

    def figures() -> Iterator[Figure]:
        taken = []
        for share in (64, 16, 4, 1):
            seconds, _ = engine.step_of(size // share, CHANGES, steps=STEPS, warm=WARM)
            taken.append(seconds)
            yield Figure("W4", f"{CHANGES:,} changes on {told(size // share)}", OURS, seconds, "s")
        yield Figure("W4", "growth", OURS, taken[-1] / taken[0], "times")

    return Alone("W4", figures)


def tpch(size: int) -> Alone:
    """W2: the 22 queries of TPC-H as views under refreshes, at the scale that has so many lines."""

    def figures() -> Iterator[Figure | Failure]:
        with tempfile.TemporaryDirectory() as folder:
            found = engine.tpch(Path(folder), size / (6 * MILLION), steps=STEPS, warm=WARM)
        for each in found:
            yield Figure("W2", each.name, OURS, each.step, "s")
            yield Figure("W2", each.name, "Spark anew", each.recompute, "s")
            if each.unlike:
                yield Failure("W2", each.name, OURS, "; ".join(each.unlike))

    return Alone("W2", figures)


def told(rows: int) -> str:
    """A number of rows for people.

    >>> told(64_000_000), told(31_250)
    ('64 M', '31,250')
    """
    return f"{rows // MILLION} M" if rows % MILLION == 0 else f"{rows:,}"
