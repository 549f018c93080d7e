"""Keeps the histories of a pipeline: what a batch did to a table or view, for those whose changes somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.changes.change_set import ChangeSet
from headwater.log.events import Events
from headwater.runtime.history import has_limits, histories
from headwater.runtime.letters import Letters
from headwater.runtime.program import Program, TableNode
from headwater.runtime.progress import Progress
from headwater.runtime.retention import Kept, expired, grown, is_due, kept_from_text, kept_to_text
from headwater.runtime.step import Step
from headwater.spark.engine import Engine
from headwater.tables.history import History
from headwater.tables.view_history import history_of_changes


@dataclass
class Chronicle:
    """The histories of one pipeline."""

    engine: Engine
    program: Program
    progress: Progress

    def __post_init__(self) -> None:
        self._kept = histories(self.program.tables.values())
        self._limited = [n for nodes in self._kept.values() for n in nodes if has_limits(n)]
        self.letters = Letters(self.engine, self.progress)

    def of_events(self, name: str, events: Events, step: Step, *, notation: str) -> None:
        """What the events of a table did, row by row."""
        state = step.old[name]
        for node in self._kept.get(name, ()):
            table = self.program.tables[name]
            parks = table.type.parks(table.table.options)
            history = History(node.name, table.schema, notation, self.engine.folder, parks=parks)
            told = history.of(events, state, lambda: self.engine.saved(self.engine.bag(state)))
            self._take(node, told, step)

    def of_view(self, name: str, step: Step, *, committed: float | None, first: bool) -> None:
        """What a batch did to a view; `committed` is when the last of its transactions was."""
        changes = step.changes.get(name)
        if changes is None:
            return
        moment = None if committed is None else datetime.fromtimestamp(committed, UTC)
        for node in self._kept.get(name, ()):
            told = history_of_changes(
                node.name,
                changes,
                moment,
                first=first,
                batch_id=step.batch_id,
                folder=self.engine.folder,
            )
            self._take(node, told, step)

    def is_due(self) -> bool:
        """True if something of a history, or a letter, has to go: it does so in a batch of its own.

        A change that comes and an equal one that goes would cancel, and a sink to which rows are only appended would
        miss the first.
        """
        is_old = any(is_due(self._held(node), node.table.options) for node in self._limited)
        return is_old or self.letters.is_due()

    def let_go(self, step: Step) -> None:
        """Take what is not kept out of the histories that hold too much, and letters that somebody dropped."""
        self.letters.let_go(step)
        for node in self._limited:
            held, limits = self._held(node), node.table.options
            if is_due(held, limits):
                gone, kept = expired(step.old[node.name], held, limits=limits, engine=self.engine)
                step.texts[_key(node)] = kept_to_text(kept)
                step.take_table(gone)

    def _take(self, node: TableNode, told: ChangeSet, step: Step) -> None:
        if told.count and has_limits(node):
            step.texts[_key(node)] = kept_to_text(grown(self._held(node), told))
        step.take_table(told)

    def _held(self, node: TableNode) -> Kept:
        # A history that begins anew forgets what an equal one had kept before.
        is_known = node.name in self.progress.relations
        return kept_from_text(self.progress.text(_key(node)) if is_known else None)


def _key(node: TableNode) -> str:
    return f"kept of {node.fingerprint}"
