"""What `make bench` found: figures and failures of one run, as data and as JSON.

Figure("W1", "first load", "flink", 118.2, "s")
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One thing that was measured of one contender."""

    workload: str
    what: str
    who: str
    value: float
    unit: str


@dataclass(frozen=True)
class Failure:
    """What a contender did not do, and why."""

    workload: str
    what: str
    who: str
    reason: str


@dataclass(frozen=True)
class Settings:
    """How a contender was set up."""

    who: str
    given: dict[str, str]


@dataclass(frozen=True)
class Run:
    """One run of the benchmark on one machine."""

    machine: str
    command: str
    sizes: dict[str, int]
    settings: tuple[Settings, ...]
    figures: tuple[Figure, ...]
    failures: tuple[Failure, ...]

    def value(self, workload: str, what: str, who: str) -> float | None:
        """A figure, if there is one."""
        found = [f.value for f in self.figures if (f.workload, f.what, f.who) == (workload, what, who)]
        return found[0] if found else None


def written(run: Run) -> str:
    """The run as JSON."""
    return json.dumps(asdict(run), indent=1) + "\n"


def read(path: Path) -> Run:
    """The run that a file tells of."""
    told = json.loads(path.read_text())
    return Run(
        machine=told["machine"],
        command=told["command"],
        sizes=told["sizes"],
        settings=tuple(Settings(**each) for each in told["settings"]),
        figures=tuple(Figure(**each) for each in told["figures"]),
        failures=tuple(Failure(**each) for each in told["failures"]),
    )
