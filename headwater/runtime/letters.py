"""What stands in headwater.dead_letters, and how somebody lets it go.

A letter that is dropped goes in a batch of its own, like what is not kept of a history: a sink that only appends keeps
what it has. What is to go is written down first, so that a batch that is repeated chooses the same letters.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.errors import StateError
from headwater.incremental.weights import consolidated
from headwater.runtime.progress import Progress
from headwater.runtime.step import Step
from headwater.schema import WEIGHT
from headwater.sources.dead_letters import TABLE
from headwater.spark.engine import Engine
from headwater.tables.state import State

_KEY = "letters to drop"
_ID = "letter"


@dataclass(frozen=True)
class Letters:
    """The letters of one pipeline that somebody wants to go."""

    engine: Engine
    progress: Progress

    def drop(self, ids: Sequence[str]) -> None:
        """Let the next batch drop some letters."""
        if self.progress.planned_batch > self.progress.batch_id:
            raise StateError(
                f"batch {self.progress.planned_batch} was interrupted, and is repeated first",
                hint="Ask again in a moment.",
            )
        wanted = sorted({*self._wanted(), *ids})
        self.progress.commit(self.progress.batch_id, self.progress.cut, {}, texts={_KEY: json.dumps(wanted)})

    def is_due(self) -> bool:
        """True if letters wait to go."""
        return bool(self._wanted())

    def let_go(self, step: Step) -> None:
        """Take the letters that were asked for out of the table."""
        wanted = self._wanted()
        if not wanted:
            return
        step.texts[_KEY] = json.dumps([])
        if (
            TABLE in step.old
        ):  # A version that puts nothing aside may have taken the place of the one that was asked.
            step.take_table(_gone(self.engine, step.old[TABLE], wanted))

    def _wanted(self) -> list[str]:
        found: list[str] = json.loads(self.progress.text(_KEY) or "[]")
        return found


def letters_in(engine: Engine, state: State, limit: int) -> list[dict[str, Any]]:
    """The first letters of a State, each with an id made from what it says."""
    names = [exp.column(name, quoted=True) for name in state.schema.names]
    query = exp.select(*names, exp.alias_(_id(state), _ID)).from_("shown_letters")
    order = [
        exp.column(name, quoted=True) for name in ("table_name", "topic", "partition", "offset", "position")
    ]
    engine.register("shown_letters", engine.bag(state))
    found: pa.Table = engine.sql(query.order_by(*order).limit(limit)).toArrow()
    return list(found.to_pylist())


def _gone(engine: Engine, state: State, wanted: Sequence[str]) -> ChangeSet:
    engine.register("shown_letters", engine.weighted(state))
    rows = exp.select("*").from_("shown_letters").where(_id(state).isin(*wanted))
    there = consolidated(rows, state.schema.names)
    turned = exp.alias_(exp.cast(exp.Neg(this=exp.column(WEIGHT)), "tinyint"), WEIGHT)
    names = [exp.column(name, quoted=True) for name in state.schema.names]
    made = engine.saved(engine.sql(exp.select(*names, turned).from_(there.subquery("g"))))
    part = made if isinstance(made, Files) else Rows(made)
    return ChangeSet(state.relation, state.schema, (part,))


def _id(state: State) -> exp.Expr:
    """What tells a letter from others that say something else."""
    names = [exp.column(name, quoted=True) for name in state.schema.names]
    whole = exp.Anonymous(this="TO_JSON", expressions=[exp.Anonymous(this="STRUCT", expressions=names)])
    return exp.Anonymous(this="SHA2", expressions=[whole, exp.Literal.number(256)])
