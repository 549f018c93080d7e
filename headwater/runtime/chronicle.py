"""Keeps the histories of a pipeline: what a batch did to a table or view, for those whose changes somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.log.events import Events
from headwater.runtime.history import histories
from headwater.runtime.program import Program, TableNode
from headwater.runtime.progress import Progress
from headwater.runtime.retention import kept_from_text, kept_to_text, retained
from headwater.runtime.step import Step
from headwater.schema import WEIGHT
from headwater.spark.engine import Engine
from headwater.tables.history import History, history_of_changes


@dataclass
class Chronicle:
    """The histories of one pipeline."""

    engine: Engine
    program: Program
    progress: Progress
    _goes: bool = field(init=False)
    """True if there is a history of which something may go."""

    def __post_init__(self) -> None:
        self._kept = histories(self.program.tables.values())
        self._goes = any(_has_limits(node) for nodes in self._kept.values() for node in nodes)

    def of_events(self, name: str, events: Events, step: Step, *, notation: str) -> None:
        """What the events of a table did, row by row."""
        state = step.old[name]
        for node in self._kept.get(name, ()):
            history = History(node.name, self.program.tables[name].schema, notation, self.engine.folder)
            told = history.of(events, state, lambda: self.engine.saved(self.engine.bag(state)))
            self._take(node, told, step)

    def of_view(self, name: str, step: Step, *, committed: float | None, first: bool) -> None:
        """What a batch did to a view; `committed` is when the last of its transactions was."""
        changes = step.changes.get(name)
        if changes is None:
            return
        moment = None if committed is None else datetime.fromtimestamp(committed, UTC)
        for node in self._kept.get(name, ()):
            told = history_of_changes(node.name, changes, moment, first=first, batch_id=step.batch_id)
            self._take(node, told, step)

    def for_appending(self, changes: ChangeSet) -> ChangeSet:
        """A change for a sink to which rows are only appended: what went of a history stays there."""
        if not self._goes:
            return changes
        if changes.is_small:
            rows = changes.table()
            come: Rows | Files = Rows(rows.filter(pc.greater(rows.column(WEIGHT), 0)))
        else:
            frame = self.engine.frame(changes)
            made = self.engine.saved(frame.where(frame[WEIGHT] > 0))
            come = made if isinstance(made, Files) else Rows(made)
        return ChangeSet(changes.relation, changes.schema, (come,))

    def _take(self, node: TableNode, told: ChangeSet, step: Step) -> None:
        if told.count and _has_limits(node):
            key = f"kept of {node.fingerprint}"
            # A history that begins anew forgets what an equal one had kept before.
            text = self.progress.text(key) if node.name in self.progress.relations else None
            told, kept = retained(
                told,
                step.old[node.name],
                kept_from_text(text),
                limits=node.table.options,
                engine=self.engine,
            )
            step.texts[key] = kept_to_text(kept)
        step.take_table(told)


def _has_limits(node: TableNode) -> bool:
    return node.table.options.seconds is not None or node.table.options.rows is not None
