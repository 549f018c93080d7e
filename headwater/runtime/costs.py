"""What steps have cost, and which way of computing the next one is the cheapest.

Each view is kept by its change plan, or by computing it anew and comparing. What either costs is learnt from the steps
that were done: a fixed part and a part for each row; the rows that changed in one case, all that are read in the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

_REMEMBERED = 8
"""So many steps of each kind are remembered."""

_SHOWN = 5
"""So many steps of each view are kept for people."""

_CLEARLY = 0.7
"""Computing anew has to be this much cheaper before the change plan is left."""

_FAR = 0.1
"""After a single step by the change plan, which may have been slow because it was the first one, this much cheaper."""

_WORTH_IT = 0.5
"""Below so many seconds the change plan is not worth a thought."""


class Way(StrEnum):
    """How a step computes a view."""

    CHANGE = "change plan"
    ANEW = "computed anew and compared"


@dataclass(frozen=True)
class Cost:
    """One step of one view: which way, what that was expected to take, and what it took."""

    way: Way
    strategy: str
    changed: int
    read: Mapping[str, int]
    written: int
    seconds: float
    expected: float | None = None


@dataclass
class CostModel:
    """The last steps of every view; `may_recompute` is what the user said."""

    may_recompute: bool = True
    _seen: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    recent: dict[str, list[Cost]] = field(default_factory=dict)
    """The last steps of each view, the newest at the end."""
    _first: set[str] = field(default_factory=set)
    """Of what only the first step was seen: it compiles its statements and makes what later ones find made."""

    @property
    def last(self) -> dict[str, Cost]:
        """The last step of each view."""
        return {name: steps[-1] for name, steps in self.recent.items()}

    def note(self, name: str, cost: Cost, *, rows: int) -> None:
        """A step is done; `rows` is what its way is measured by."""
        key = _key(name, cost.way)
        seen = self._seen.setdefault(key, [])
        if key in self._first:
            seen.clear()
            self._first.remove(key)
        elif not seen:
            self._first.add(key)
        seen.append((float(rows), cost.seconds))
        del seen[:-_REMEMBERED]
        self.recent[name] = [*self.recent.get(name, ()), cost][-_SHOWN:]

    def expected(self, name: str, way: Way, *, rows: int) -> float | None:
        """The seconds a step would take; None if no such step was seen."""
        seen = self._seen.get(_key(name, way))
        if not seen:
            return None
        fixed, rate = _line(seen)
        return fixed + rate * rows

    def choose(self, name: str, *, changed: int, total: int) -> Way:
        """The way that is expected to be the cheapest."""
        by_change = self.expected(name, Way.CHANGE, rows=changed)
        anew = self.expected(name, Way.ANEW, rows=total)
        if by_change is None or anew is None or not self.may_recompute or by_change < _WORTH_IT:
            return Way.CHANGE
        enough = _FAR if _key(name, Way.CHANGE) in self._first else _CLEARLY
        return Way.ANEW if anew < enough * by_change else Way.CHANGE

    def to_text(self) -> str:
        """A form to be kept with the pipeline's progress."""
        recent = {name: [asdict(cost) for cost in steps] for name, steps in self.recent.items()}
        return json.dumps({"seen": self._seen, "recent": recent})

    def take_text(self, text: str) -> None:
        """Go on from what `to_text` gave."""
        said = json.loads(text)
        self._seen = {name: [(r, s) for r, s in seen] for name, seen in said["seen"].items()}
        # Notes of an earlier form have none: what steps took is for people, and comes again with the next ones.
        self.recent = {
            name: [Cost(**{**cost, "way": Way(cost["way"])}) for cost in steps]
            for name, steps in said.get("recent", {}).items()
        }


def _key(name: str, way: Way) -> str:
    return f"{way.value} of {name}"


def _line(seen: list[tuple[float, float]]) -> tuple[float, float]:
    """The fixed part and the part for each row: a line through what was seen, neither part below nothing."""
    count = len(seen)
    rows, seconds = (sum(values) / count for values in zip(*seen, strict=True))
    spread = sum((r - rows) ** 2 for r, _ in seen)
    if spread < 1e-9 * max(rows, 1.0) ** 2:
        return seconds, 0.0
    rate = max(sum((r - rows) * (s - seconds) for r, s in seen) / spread, 0.0)
    fixed = seconds - rate * rows
    if fixed < 0:
        return 0.0, seconds / rows if rows else 0.0
    return fixed, rate
