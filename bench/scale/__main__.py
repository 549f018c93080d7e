"""What a step takes on more machines: a model fitted to measured steps, and a simulation of all around them.

    make bench-scale                     # about ten minutes on two cores; ends with 1 if the model is off
    make bench-scale ARGS="--quick"      # a tiny grid, to see that it runs; its figures mean nothing
    make bench-scale ARGS="--keep"       # write the tables into docs/scale.md
    make bench-scale ARGS="--again"      # tables from the figures that were kept, without measuring

Steps of the claims join are measured over a grid of changes, State, views and cores, and some that are larger than
all others are held out of the fit. If the model is off by more than 30 % there, this fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import page
from bench.engine import said
from bench.scale import beside, told
from bench.scale.fit import DRIVER, EXECUTORS, HELD_OUT_WITHIN, Load, Measured, Model, Search, error, fitted
from bench.scale.grid import Field, Found, Round, measured
from bench.scale.simulate import Rates, World
from headwater.services.java import cache_folder

PAGE = page.PAGE.parent / "scale.md"
KEPT = page.PAGE.parent / "benchmarks" / "scale.json"

K, M = 1_000, 1_000_000


@dataclass(frozen=True)
class Taken:
    """All that a run measured, and on what machine."""

    machine: str
    command: str
    steps: tuple[Measured, ...]
    rates: Rates
    search: Search


def main() -> None:
    """Measure, fit, compare, simulate, print; keep it if that is asked for."""
    parser = argparse.ArgumentParser(
        prog="make bench-scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tiny grid")
    parser.add_argument("--keep", action="store_true", help="write the tables into docs/scale.md")
    parser.add_argument(
        "--again", action="store_true", help="do not measure, take the figures that were kept"
    )
    given = parser.parse_args()
    if given.quick and given.keep:
        parser.error("the figures of a tiny grid mean nothing and are not kept")
    taken = read(KEPT) if given.again else measured_all(tiny() if given.quick else whole())
    path = KEPT if given.keep else cache_folder(os.environ) / "bench" / "scale.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(taken))
    model = fitted(taken.steps, taken.search)
    for name, text in tables(taken, model).items():
        print(f"\n{name}\n\n{text}", flush=True)
        if given.keep:
            page.keep(name, taken.command, text, on=PAGE, where=taken.machine)
    print(f"\n{path}")
    sys.exit(verdict(taken.steps, model))


def verdict(steps: Sequence[Measured], model: Model) -> str | None:
    """What is to be said if the model is off where it was not fitted; None if it is not."""
    off = max(abs(error(model, each)) for each in steps if each.is_held_out)
    return f"off by {off:.0%} where it was not fitted" if off > HELD_OUT_WITHIN else None


def tables(taken: Taken, model: Model) -> dict[str, str]:
    """All tables of the page, by the name of their place."""
    world = World(model, taken.rates)
    held = [error(model, each) for each in taken.steps if each.is_held_out]
    worst = max(held, key=abs)
    return {
        "scale parts": told.parts(model),
        "scale compared": f"{told.compared(model, taken.steps)}\n\nWhere it was not fitted it is off by {worst:+.0%}.",
        "scale given": told.given(taken.rates, world.assumed),
        "scale predicted": told.predicted(world),
        "scale limits": told.limits(world),
        "scale remedies": told.remedies(world),
        "scale sizes": told.sizes(taken.rates),
    }


def whole() -> Mapping[int, Sequence[Field]]:
    """The grid, by cores; what is held out is larger than all else."""
    # So few steps that no runs are merged meanwhile.
    rounds = (
        Round(DRIVER, 100, 2, 3),
        Round(DRIVER, K, 1, 3),
        Round(DRIVER, 10 * K, 1, 2),
        Round(EXECUTORS, K, 1, 3),
        Round(EXECUTORS, 30 * K, 1, 2),
        Round(EXECUTORS, 100 * K, 1, 3),
    )
    larger = (Round(DRIVER, 20 * K, 2, 5), Round(EXECUTORS, K, 1, 3), Round(EXECUTORS, 200 * K, 1, 3))
    # Not in order of size: what is left of Java's warming up is no growth.
    grid = [Field(state, views, rounds) for state in (M, 4 * M, M // 4) for views in (3, 1)]
    held_out = Field(8 * M, 4, larger, is_held_out=True)
    return {1: grid, 2: [*grid[:3], held_out, *grid[3:]]}


def tiny() -> Mapping[int, Sequence[Field]]:
    """A grid to try it."""
    rounds = (Round(DRIVER, 100, 1, 1), Round(DRIVER, K, 1, 1), Round(EXECUTORS, K, 1, 1))
    larger = (Round(DRIVER, 2 * K, 1, 1), Round(EXECUTORS, 2 * K, 1, 1))
    grid = [Field(state, views, rounds) for state in (20 * K, 50 * K) for views in (1, 2)]
    return {2: [*grid, Field(100 * K, 2, larger, is_held_out=True)]}


def measured_all(grid: Mapping[int, Sequence[Field]]) -> Taken:
    """The steps of the grid, and what stands around them."""
    begin = time.perf_counter()
    found: list[Found] = [measured(cores, fields) for cores, fields in grid.items()]
    sunk, sink_seconds = beside.sunk()
    said(f"measured in {told.seconds(time.perf_counter() - begin)}")
    rates = Rates(
        captured=beside.captured(),
        sunk=sunk,
        sink_seconds=sink_seconds,
        synced=beside.synced(),
        launched=found[-1].launched,
        row_bytes=found[-1].row_bytes,
        lookup_bytes=found[-1].lookup_bytes,
        change_bytes=found[-1].change_bytes,
    )
    words = [word for word in sys.argv[1:] if word != "--keep"]
    return Taken(
        machine=page.machine(),
        command=f'make bench-scale ARGS="{" ".join(words)}"' if words else "make bench-scale",
        steps=tuple(step for each in found for step in each.steps),
        rates=rates,
        search=found[-1].search,
    )


def written(taken: Taken) -> str:
    """A run as JSON."""
    return json.dumps(asdict(taken), indent=1) + "\n"


def read(path: Path) -> Taken:
    """What a run left."""
    kept = json.loads(path.read_text())
    steps = tuple(Measured(**{**step, "load": Load(**step["load"])}) for step in kept["steps"])
    return Taken(kept["machine"], kept["command"], steps, Rates(**kept["rates"]), Search(**kept["search"]))


if __name__ == "__main__":
    main()
