"""What stops when something of a table is lost, and what goes on.

    lost: t.n     views: a (reads t.id), b (reads t.n), c (reads b)     stopped: b, c

A view that reads a column that is lost, or a view that stopped, keeps the rows of its last good cut, and so do its sinks.
It comes back when it is computed anew: its table is read again, or it no longer uses the column.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from headwater.errors import HeadwaterError
from headwater.incremental.batch import query_of
from headwater.incremental.block import Block
from headwater.log.events import Delivery
from headwater.log.losses import Loss, loss_from_json
from headwater.plan.walk import table_name
from headwater.runtime.facts import Listener
from headwater.runtime.program import Program
from headwater.runtime.progress import Progress
from headwater.sources.base import Report
from headwater.sources.history import HistoryOptions
from headwater.tables.blank import blanked
from headwater.tables.state import State

LOST = "lost"
"""The text that keeps what is lost of tables."""

ALL = "*"

_ROWS = ("before", "after")
"""The columns of a history that hold a row each."""


@dataclass
class Stops:
    """What is lost of the tables of a program, and what stopped for it; grows loss by loss."""

    program: Program
    losses: tuple[Loss, ...] = ()
    nodes: Mapping[str, Loss] = field(default_factory=dict)
    """Stored relations that are no longer computed, hidden ones too, and why."""

    def __post_init__(self) -> None:
        self._reads = {name: _reads(view.block) for name, view in self.program.views.items()}
        self.nodes = self._stopped()
        self._told: set[str] = set()

    @property
    def results(self) -> dict[str, Loss]:
        """The results that stopped, and why."""
        found = {}
        for result in self.program.results.values():
            why = [self.nodes[node] for node in result.nodes if node in self.nodes]
            if why:
                found[result.name] = why[0]
        return found

    def errors(self) -> dict[str, HeadwaterError]:
        """What is to be said of each result that stopped."""
        return {name: self._error(name, loss) for name, loss in self.results.items()}

    def check(self) -> None:
        """Raise if nothing is left to go on with."""
        errors = self.errors()
        if errors and len(errors) == len(self.program.results):
            raise next(iter(errors.values()))

    def columns(self, table: str) -> list[str]:
        """The columns that are lost of a table."""
        return [loss.column for loss in self.losses if loss.table == table and loss.column is not None]

    def take(self, deliveries: Iterable[Delivery], states: dict[str, State], batch_id: int) -> None:
        """What deliveries say is lost: rows that are stored forget it, and whoever reads it stops."""
        known = {(loss.table, loss.column) for loss in self.losses}
        told = [loss for delivery in deliveries for loss in delivery.losses]
        new = [s for s in told if s.table in self.program.tables and (s.table, s.column) not in known]
        for table in {loss.table for loss in new if loss.column is not None}:
            gone = [loss.column for loss in new if loss.table == table and loss.column is not None]
            states[table] = blanked(states[table], gone, batch_id)
        # Known only now: where a row could not be blanked it is tried again.
        self.losses = (*self.losses, *new)
        self.nodes = self._stopped()

    def tell(self, listener: Listener) -> None:
        """Tell of all that stopped, once."""
        by_loss: dict[Loss, list[str]] = {}
        for name, loss in self.results.items():
            if name not in self._told:
                by_loss.setdefault(loss, []).append(name)
        for loss, names in by_loss.items():
            said = f"{', '.join(names)}: {loss.message}\ndetail: {loss.detail}\nhint: {loss.hint}"
            listener.report(Report("stopped", said))
            self._told.update(names)

    def text(self) -> str:
        """What is lost, in a form that is kept."""
        tables = self.program.tables
        said = [{"of": tables[loss.table].fingerprint, **loss.to_json()} for loss in self.losses]
        return json.dumps(said)

    def _error(self, name: str, loss: Loss) -> HeadwaterError:
        said = replace(loss, message=f'"{name}" has stopped: {loss.message}')
        return said.error(self.program.tables[loss.table].table.place)

    def _stopped(self) -> dict[str, Loss]:
        lost: dict[tuple[str, str], Loss] = {}
        for loss in self.losses:
            lost.setdefault((loss.table.lower(), (loss.column or ALL).lower()), loss)
        histories = _histories(self.program)
        for (relation, column), loss in list(lost.items()):
            told = (ALL,) if column == ALL else tuple(f"{row}.{column}" for row in _ROWS)
            lost |= {(name, part): loss for name in histories.get(relation, ()) for part in told}
        found: dict[str, Loss] = {}
        for name in self.program.views:
            why = _why(self._reads[name], lost)
            if why is None:
                continue
            found[name] = why
            lost |= {(one, ALL): why for one in (name.lower(), *histories.get(name.lower(), ()))}
        return found


def stops_of(program: Program, progress: Progress, kept: Collection[str]) -> Stops:
    """What progress remembers to be lost of tables that go on as they were."""
    said: list[dict[str, Any]] = json.loads(progress.text(LOST) or "[]")
    known = {name: table.fingerprint for name, table in program.tables.items() if name in kept}
    losses = [(one.pop("of"), loss_from_json(one)) for one in said]
    return Stops(program, tuple(loss for of, loss in losses if known.get(loss.table) == of))


def _why(reads: Collection[tuple[str, str]], lost: Mapping[tuple[str, str], Loss]) -> Loss | None:
    """The first loss that touches what is read: of all of a relation, of one of its columns, or of any."""
    for relation, column in sorted(reads):
        for (where, what), loss in lost.items():
            if where == relation and ({what, column} & {ALL} or what == column):
                return loss
    return None


def _histories(program: Program) -> dict[str, list[str]]:
    """The histories of each relation, by name."""
    found: dict[str, list[str]] = {}
    for node in program.tables.values():
        if isinstance(node.table.options, HistoryOptions):
            found.setdefault(node.table.options.relation.lower(), []).append(node.name.lower())
    return found


def _reads(block: Block) -> set[tuple[str, str]]:
    """The relations and columns that a block reads, in lower case; `""` stands for rows of which no column counts."""
    found = {(relation.lower(), "") for relation in block.inputs}
    for scope in traverse_scope(query_of(block)):
        tables = {
            name: table_name(source).lower()
            for name, source in scope.sources.items()
            if isinstance(source, exp.Table)
        }
        for column in scope.columns:
            named = [tables[column.table]] if column.table in tables else []
            # A column without a qualifier may be of any of them.
            named = named if column.table else list(tables.values())
            found |= {(relation, _called(column)) for relation in named}
        chosen = scope.expression.selects if isinstance(scope.expression, exp.Query) else []
        if any(item.is_star for item in chosen):
            found |= {(relation, ALL) for relation in tables.values()}
    return found


def _called(column: exp.Column) -> str:
    """What a column names: of a row that a history tells, one of its values, or the row with all of them."""
    name, above = column.name.lower(), column.parent
    if name not in _ROWS:
        return name
    return f"{name}.{above.expression.name.lower()}" if isinstance(above, exp.Dot) else ALL
