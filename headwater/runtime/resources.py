"""What this process's Spark has of cores and memory, and which pipeline is at work on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from headwater.runtime.interactive import busy_cores, running_cores
from headwater.runtime.pipeline import Pipeline
from headwater.sources.base import Retained, Retaining

GONE = (Py4JError, OSError)
"""What is raised where Spark has ended: it has nothing any more, and who watches over it has to hear that."""


@dataclass(frozen=True)
class Resources:
    """Cores and bytes of memory; all zero before Spark has started, and after it has ended."""

    cores: int = 0
    memory: int = 0
    """The most that Spark's heap may take."""
    memory_used: int = 0


@dataclass(frozen=True)
class Held:
    """What one pipeline has."""

    busy_cores: int
    state_rows: dict[str, int]
    """Of each table and view, as it is stored."""
    state_bytes: dict[str, int]


def resources() -> Resources:
    """What there is, and how much memory is in use; nothing is kept in the heap from step to step."""
    try:
        cores, context = running_cores(), SparkContext._active_spark_context
        if cores is None or context is None or context._jvm is None:
            return Resources()
        heap: Any = context._jvm.java.lang.Runtime.getRuntime()
        return Resources(cores, int(heap.maxMemory()), int(heap.totalMemory() - heap.freeMemory()))
    except GONE:
        return Resources()


def held_by(pipeline: Pipeline) -> Held:
    """What a pipeline has now; it may be asked in any thread."""
    with pipeline.snapshot() as snapshot:
        states = {name: state for name, state in snapshot.states.items() if _is_named(pipeline, name)}
        rows = {name: state.rows for name, state in states.items()}
        sizes = {name: _size(state.paths) for name, state in states.items()}
    try:
        busy = busy_cores(pipeline)
    except GONE:
        busy = 0
    return Held(busy, rows, sizes)


def _is_named(pipeline: Pipeline, name: str) -> bool:
    """True for what the script names; parts that are kept for them have names of ours."""
    return name in pipeline.program.tables or name in pipeline.program.results


def _size(paths: Iterable[Any]) -> int:
    return sum(path.stat().st_size for path in paths if path.exists())


def retained_for(pipeline: Pipeline) -> dict[str, Retained]:
    """What databases keep of their logs for a pipeline, by source; for someone in another thread."""
    sources = {name: one for name, one in list(pipeline.ends.sources.items()) if isinstance(one, Retaining)}
    found = {name: one.retained() for name, one in sources.items()}
    return {name: retained for name, retained in found.items() if retained is not None}
