"""A table of a lake as a sink: one commit a batch, which says whose batch it is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.changes.change_set import ChangeSet
from headwater.errors import OptionError, SinkError, placed
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.by_key import by_table
from headwater.sinks.lake.columns import check_columns
from headwater.sinks.lake.contract import Lake, LakeTable
from headwater.sinks.lake.rows import written_rows

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds before a batch is tried again after another writer was in between; each further pause is twice as long."""


@dataclass(frozen=True)
class Target:
    """A declared table and what its lake is told of it."""

    table: SinkTable
    there: LakeTable
    shown: str
    """How messages call it: `the Delta table '/data/totals'`."""
    folder: str
    properties: Mapping[str, str]
    max_retries: int
    widened: bool = False
    """True if the lake has no small integers."""


class LakeSink:
    """Merges each batch into its tables, one commit a table that carries its id; a batch it has is left out.

    No transaction spans two tables, so after a crash some may have the last batch and others not yet. A table is asked
    which batch it has before its first write, and again after one that failed: it may have arrived all the same.
    """

    def __init__(self, targets: Sequence[Target], context: SinkContext) -> None:
        self._targets = {target.table.name: target for target in targets}
        self._pipeline, self._folder = context.pipeline, context.folder
        self._last_written: dict[str, int] = {}

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; tries again if somebody else, such as its upkeep, wrote to a table meanwhile."""
        for name, found in by_table(changes).items():
            if found.count:
                self._write(self._targets[name], found, batch_id)

    def _write(self, target: Target, changes: ChangeSet, batch_id: int) -> None:
        with written_rows(target.table, changes, self._folder) as rows:
            failures = 0
            while not self._try(target, rows, batch_id=batch_id, is_last=failures == target.max_retries):
                time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures))
                failures += 1

    def _try(self, target: Target, rows: ChangeSet, *, batch_id: int, is_last: bool) -> bool:
        """True if the table has the batch now, False if it is worth another try."""
        there, name = target.there, target.table.name
        try:
            last = self._last_written.pop(name, None)
            if last is None:
                last = there.last(self._pipeline)
            if last is None or batch_id > last:
                there.write(rows, writer=self._pipeline, batch_id=batch_id)
                last = batch_id
            self._last_written[name] = last
        except there.failure as problem:
            if there.is_conflict(problem) and not is_last:
                return False
            raise _refused(target, problem, "written") from problem
        return True

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that one of the tables holds."""
        found = [last for target in self._targets.values() if (last := self._last(target)) is not None]
        return max(found, default=None)

    def _last(self, target: Target) -> int | None:
        try:
            return target.there.last(self._pipeline)
        except target.there.failure as problem:
            raise _refused(target, problem, "read") from problem

    def close(self) -> None:
        """Nothing is held between two batches."""


def lake_of(context: SinkContext, table: SinkTable) -> Lake:
    """What opens tables of a lake; a pipeline has it."""
    if context.lake is None:
        raise SinkError(
            f"sink table '{table.name}' is written by Spark, and there is none here", place=table.place
        )
    return context.lake


def check_retries(table: SinkTable) -> None:
    """Complain of a number that means nothing."""
    if table.options.max_retries < 0:
        raise OptionError("option 'sink.max-retries' is negative", hint="Use 0 or more.", place=table.place)


def open_targets(targets: Sequence[Target], context: SinkContext) -> LakeSink:
    """Make the tables that are missing, and see that the others fit."""
    for number, target in enumerate(targets):
        target.table.check_key_is_declared()
        _check_alone(target, targets[:number])
    for target in targets:
        with placed(target.table.place):
            _open(target, context.pipeline)
    return LakeSink(targets, context)


def _open(target: Target, pipeline: str) -> None:
    there = target.there
    try:
        found = there.columns()
        if found is None:
            target.table.check_may_be_made()
            _check_empty(target)
            there.create(target.table.schema, target.properties)
        else:
            check_columns(target.table, target.shown, found, widened=target.widened)
            there.settle(pipeline)
    except OSError as problem:
        raise _refused_because(target, f"{problem.strerror or problem}", "opened") from problem
    except there.failure as problem:
        raise _refused(target, problem, "opened") from problem


def _check_alone(target: Target, others: Sequence[Target]) -> None:
    for other in others:
        if other.folder == target.folder:
            raise SinkError(
                f"sink tables '{other.table.name}' and '{target.table.name}' are the same table",
                detail=f"Both are {target.shown}.",
                hint="Give each its own, or declare one table and INSERT INTO it several times.",
                place=target.table.place,
            )


def _check_empty(target: Target) -> None:
    """No table is made among the files of somebody else."""
    folder = Path(target.folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SinkError(
            f"{target.shown} of sink table '{target.table.name}' cannot be made where something else is",
            detail="There is a " + ("folder with other files." if folder.is_dir() else "file."),
            hint="Name another place, or move away what is there.",
            place=target.table.place,
        )


def _refused(target: Target, problem: Exception, what: str) -> SinkError:
    said = target.there.said(problem)
    if target.there.is_conflict(problem):
        return SinkError(
            f"sink table '{target.table.name}' could not be written in {target.max_retries + 1} tries",
            detail=f"Somebody else writes to {target.shown} at the same time: {said.rstrip('.')}.",
            hint="The next start repeats the batch, and leaves it out if the table has it. Raise 'sink.max-retries' "
            "to try longer.",
            place=target.table.place,
        )
    return _refused_because(target, said, what)


def _refused_because(target: Target, said: str, what: str) -> SinkError:
    return SinkError(
        f"{target.shown} of sink table '{target.table.name}' cannot be {what}",
        detail=f"{said.rstrip('.')}.",
        hint="May its folder be written to, and was nothing in it removed? The next start repeats the batch.",
        place=target.table.place,
    )
