"""One pipeline of a notebook: it turns in the background, and the area below its cell shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwater.errors import HeadwaterError
from headwater.notebook.area import Area
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import Turning, waited


@dataclass
class Run:
    """A pipeline in the background, and the area that shows it."""

    name: str
    cell: str
    """Which cell: `In [3]`."""
    what: str
    """What it does: `SELECT`, `INSERT INTO fact_orders`."""
    area: Area
    opening: Callable[[Area], Pipeline]
    once: bool
    is_kept: bool
    """False if its State and what it made at the sources go when it ends: a query without a name."""
    turning: Turning = field(init=False)

    def __post_init__(self) -> None:
        self.turning = Turning(
            self.name,
            lambda: self.opening(self.area),
            once=self.once,
            is_kept=self.is_kept,
            watch=_Drawing(self.area),
        )

    @property
    def pipeline(self) -> Pipeline | None:
        """The pipeline, once it stands."""
        return self.turning.pipeline

    @property
    def left(self) -> HeadwaterError | None:
        """Why what it made, and should have taken with it, is still there."""
        return self.turning.left

    @property
    def is_over(self) -> bool:
        """True if nothing runs any more."""
        return self.turning.is_over

    def start(self) -> None:
        """Begin; returns when the pipeline stands, or is over again."""
        self.area.draw()
        self.turning.start()
        waited(self.turning.ended if self.once else self.turning.opened)

    def stop(self) -> None:
        """Let the step at hand end, then close, or try again to remove what it left; returns at once."""
        self.turning.stop()

    def join(self, seconds: float) -> bool:
        """Wait for its end; False if that takes longer."""
        return self.turning.join(seconds)

    def catch_up(self, seconds: float) -> bool:
        """Wait until it knows what is committed now, and shows it; False if that takes longer."""
        return self.turning.catch_up(seconds, then=self.area.draw)


@dataclass(frozen=True)
class _Drawing:
    """Draws what happens, in the thread of the pipeline."""

    area: Area

    def opened(self, pipeline: Pipeline) -> None:
        self.area.open(pipeline)

    def stepped(self, pipeline: Pipeline) -> None:
        self.area.refresh()

    def ending(self, pipeline: Pipeline) -> None:
        self.area.read()

    def ended(self, state: str, problem: HeadwaterError | None) -> None:
        self.area.end(state, problem)
