"""A process with a Spark of its own that can write tables of Delta Lake and Iceberg.

    lake_child.py FOLDER

It runs the pipeline and repeats three batches, then tries the sinks one by one. What it finds is written to
FOLDER/facts.json, one fact a key; the tests compare.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.sources.base import Report
from headwater.sources.values import STORES, ValuesStore
from headwater.spark.iceberg import IcebergTable
from tests.ends.lake_facts import all_facts
from tests.ends.lake_world import BATCHES, SCRIPT, transactions

HALF_WRITTEN, UNNOTED, TWICE = 2, 11, 16
"""The batches that come again: after a crash where Delta has it and Iceberg not yet, after one before progress is kept,
and at once."""


class Crash(BaseException):
    """The process died here."""


class Silent:
    """Hears everything and says nothing."""

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Nobody looks on."""


@contextmanager
def pipeline(folder: Path) -> Iterator[Pipeline]:
    """The pipeline of the script, from where it was left."""
    text = SCRIPT.format(folder=folder)
    running = open_pipeline(text, file="lake.sql", state=folder / "state", listener=Silent())
    with running.closing:
        yield running


def stepped(running: Pipeline, store: ValuesStore, number: int) -> None:
    """Commit a transaction, and do its batch."""
    if store.last.value < number:
        store.append({"orders": transactions()[number - 1][0]})
    done = running.step(wait=60)
    assert done is not None and done.batch_id == number, done


def batches(folder: Path) -> dict[str, Any]:
    """Do all batches, some of them twice; the pipeline is opened anew after each crash."""
    store = STORES["lake"] = ValuesStore()
    store.append({"orders": transactions()[0][0]})
    with pipeline(folder) as running:
        for number in range(1, HALF_WRITTEN):
            stepped(running, store, number)
        with patch.object(IcebergTable, "write", side_effect=Crash), suppress(Crash):
            stepped(running, store, HALF_WRITTEN)
    with pipeline(folder) as running:
        for number in range(HALF_WRITTEN, UNNOTED):
            stepped(running, store, number)
        with patch.object(running.progress, "commit", side_effect=Crash), suppress(Crash):
            stepped(running, store, UNNOTED)
    with ExitStack() as closing:
        running = closing.enter_context(pipeline(folder))
        for number in range(UNNOTED, BATCHES + 1):
            with patched_to_write_twice(running) if number == TWICE else ExitStack():
                stepped(running, store, number)
        last = {f"{name.split()[0]} last": sink.last_batch() for name, sink in running.ends.sinks.items()}
        return last | all_facts(running.engine.spark, folder)


@contextmanager
def patched_to_write_twice(running: Pipeline) -> Iterator[None]:
    """Hand every batch to the sinks a second time."""
    with ExitStack() as patches:
        for sink in running.ends.sinks.values():
            real = sink.write

            def twice(changed: Any, batch_id: int, real: Callable[[Any, int], None] = real) -> None:
                real(changed, batch_id)
                real(changed, batch_id)

            patches.enter_context(patch.object(sink, "write", twice))
        yield


if __name__ == "__main__":
    here = Path(sys.argv[1])
    (here / "facts.json").write_text(json.dumps(batches(here)))
