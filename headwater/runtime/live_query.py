"""A live SELECT in this process: a pipeline that nobody keeps, told to one who looks on."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.log.positions import Cut
from headwater.plan.keys import row_key
from headwater.runtime.conversation import Onlooker
from headwater.runtime.facts import Listener, Silent
from headwater.runtime.inspect import drop_state
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import Turning
from headwater.schema import Schema

QUERIES = "query-"
"""How the names of their pipelines begin."""

_OURS = re.compile(rf"{QUERIES}\d+-\d+")
"""A process and a number: a pipeline that somebody called `query-orders` is his."""


def remove_leftovers(home: Path) -> None:
    """Remove what queries made whose process was killed, at their sources too.

    Those that run hold their folders. Where a server does not answer now, a later session tries again.
    """
    for folder in sorted(home.glob(f"{QUERIES}*")):
        if _OURS.fullmatch(folder.name):
            with suppress(HeadwaterError):
                drop_state(folder, listener=Silent())


@dataclass
class LocalQuery:
    """A live query in this process; what it made goes when it ends."""

    name: str
    mode: str
    opening: Callable[[Listener], Pipeline]
    once: bool
    ended: threading.Event = field(default_factory=threading.Event)
    _turning: Turning | None = None

    @property
    def problem(self) -> HeadwaterError | None:
        """Why it failed."""
        return self._turning.problem if self._turning is not None else None

    @property
    def turning(self) -> Turning | None:
        """The pipeline in the background, once it was started."""
        return self._turning

    def start(self, onlooker: Onlooker) -> None:
        """Begin; returns at once."""
        self._turning = Turning(
            self.name,
            lambda: self.opening(onlooker),
            once=self.once,
            is_kept=False,
            watch=_Showing(onlooker),
            ended=self.ended,
        )
        self._turning.start()

    def stop(self) -> None:
        """Let the step at hand end, then end; returns at once."""
        if self._turning is not None:
            self._turning.stop()


@dataclass(frozen=True)
class _Showing:
    """Tells an onlooker that the pipeline stands."""

    onlooker: Onlooker

    def opened(self, pipeline: Pipeline) -> None:
        for answer in pipeline.answers:
            self.onlooker.say(answer)
        self.onlooker.open(_Live(pipeline))

    def stepped(self, pipeline: Pipeline) -> None:
        """The onlooker has heard the batch itself."""

    def ending(self, pipeline: Pipeline) -> None:
        """What was shown stays."""

    def ended(self, state: str, problem: HeadwaterError | None) -> None:
        """Whoever waits for the end sees it."""


@dataclass(frozen=True)
class _Live:
    """The queries of a pipeline, as someone sees them who looks on."""

    pipeline: Pipeline

    @property
    def queries(self) -> tuple[str, ...]:
        return self.pipeline.queries

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        return self.pipeline.rows(relation, limit)

    def schema(self, relation: str) -> Schema:
        return replace(self.pipeline.schema(relation), key=self.row_key(relation) or ())

    def cut(self) -> Cut:
        return self.pipeline.cut()

    def row_key(self, relation: str) -> tuple[str, ...] | None:
        return row_key_of(self.pipeline, relation)


def row_key_of(pipeline: Pipeline, relation: str) -> tuple[str, ...] | None:
    """The columns of whose values a relation has one row each; none if it has one row, None if nobody knows."""
    program = pipeline.program
    unique = {name: table.schema.key or None for name, table in program.tables.items()}
    # A result reads only what stands before it.
    for name, result in program.results.items():
        unique[name] = row_key(result.plan, unique)
    return unique[relation]
