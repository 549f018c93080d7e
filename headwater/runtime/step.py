"""One step: from the changes of tables to the changes of every view, all at one cut."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.incremental.change_plan import ChangePlan, sums_relation
from headwater.incremental.differentiate import anew, differentiate, first
from headwater.incremental.weights import consolidated
from headwater.runtime.costs import Cost, CostModel, Way
from headwater.runtime.program import Program, ViewNode
from headwater.schema import WEIGHT, Column, Schema, is_number, sql_type
from headwater.spark.engine import Engine
from headwater.spark.inputs import Before
from headwater.tables.state import State, appended


@dataclass
class Step:
    """The States before and after a batch and the changes between; grows relation by relation."""

    engine: Engine
    program: Program
    batch_id: int
    old: dict[str, State]
    new: dict[str, State] = field(default_factory=dict)
    changes: dict[str, ChangeSet] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """What has to be kept with the batch besides its rows."""

    def __post_init__(self) -> None:
        self.new = dict(self.old)

    @property
    def moved(self) -> dict[str, int]:
        """How many rows came or went, by relation."""
        return {name: changes.count for name, changes in self.changes.items()}

    def take_table(self, changes: ChangeSet) -> None:
        """A table changed."""
        if changes.count == 0:
            return
        self.changes[changes.relation] = changes
        self._append(changes)

    def compute(self, node: ViewNode, plans: PlanCache, costs: CostModel) -> None:
        """Bring one view up to date, if something it reads changed, by the way that is the cheapest."""
        changed = frozenset(name for name in node.block.inputs if name in self.changes)
        if not changed:
            return
        moved, total = sum(self.changes[name].count for name in changed), self._total(node)
        way = costs.choose(node.name, changed=moved, total=total)
        rows = moved if way is Way.CHANGE else total
        plan = plans.change(node, changed) if way is Way.CHANGE else plans.anew(node)
        cost = self._run(node, plan, is_first=False)
        expected = costs.expected(node.name, way, rows=rows)
        costs.note(node.name, replace(cost, way=way, changed=moved, expected=expected), rows=rows)

    def fill(self, node: ViewNode, replaced: State | None, costs: CostModel) -> None:
        """Compute a view from nothing; what a former version of it had is taken back in the same change."""
        cost = self._run(node, first(node.maintained), is_first=True)
        costs.note(node.name, cost, rows=self._total(node))
        if replaced is not None and replaced.runs:
            self.changes[node.name] = self._difference(node, replaced)

    def _total(self, node: ViewNode) -> int:
        return sum(self.new[name].rows for name in node.block.inputs)

    def _run(self, node: ViewNode, plan: ChangePlan, *, is_first: bool) -> Cost:
        begin = time.perf_counter()
        names = {plan.statements[-1].target: node.schema.names}
        before = Before(self.old, self.new, self.changes)
        ran = self.engine.run(plan, before, first=is_first or plan.starts_over, names=names)
        # A change that touches nothing is over before there are any.
        if plan.sums in ran.results and node.sums_schema is not None:
            kept = _changes(sums_relation(node.name), node.sums_schema, ran.results[plan.sums])
            self._append(self._started_over(kept) if plan.starts_over else kept)
        made = ran.results.get(plan.statements[-1].target)
        changes = (
            ChangeSet(node.name, node.schema) if made is None else _changes(node.name, node.schema, made)
        )
        if changes.count:
            self.changes[node.name] = changes
            self._append(changes)
        took = time.perf_counter() - begin
        return Cost(Way.ANEW, plan.strategy.value, 0, ran.read, changes.count, took)

    def _started_over(self, kept: ChangeSet) -> ChangeSet:
        """What is kept now, in the place of all that was kept."""
        before = self.new[kept.relation]
        gone = Files(before.paths, before.rows, negated=True)
        return ChangeSet(kept.relation, kept.schema, (gone, *kept.parts))

    def _append(self, changes: ChangeSet) -> None:
        state = self.new[changes.relation]
        self.new[changes.relation] = appended(state, changes, self.batch_id)

    def _difference(self, node: ViewNode, replaced: State) -> ChangeSet:
        """What comes, less what a former version had.

        Where columns were edited and a key names the rows, all come again: what a sink holds of such a column nobody
        knows, and a NULL that stands for it must not cancel a NULL that is true.
        """
        come = self.changes.get(node.name, ChangeSet(node.name, node.schema))
        self.engine.register("replaced_rows", self.engine.weighted(replaced))
        self.engine.register("come_rows", self.engine.frame(come))
        is_edited = bool(node.schema.key) and replaced.schema.columns != node.schema.columns
        held = _selected(replaced.schema.names, "replaced_rows")
        before = consolidated(held, replaced.schema.names) if is_edited else held
        gone = [_as_it_was(column, replaced.schema, by_key=is_edited) for column in node.schema]
        turned = exp.alias_(exp.cast(exp.Neg(this=exp.column(WEIGHT)), "tinyint"), WEIGHT)
        both = exp.union(
            exp.select(*gone, turned).from_(before.subquery("b")),
            _selected(node.schema.names, "come_rows"),
            distinct=False,
        )
        rows = both if is_edited else consolidated(both, node.schema.names)
        return _changes(node.name, node.schema, self.engine.saved(self.engine.sql(rows)))


def _selected(names: Sequence[str], relation: str) -> exp.Select:
    """The weighted rows of a relation."""
    return exp.select(*[exp.column(name, quoted=True) for name in (*names, WEIGHT)]).from_(relation)


def _as_it_was(column: Column, before: Schema, *, by_key: bool) -> exp.Expr:
    """A column of a former version, in the type it has now; NULL if it does not fit that, or the key is enough."""
    if column in before.columns:
        return exp.column(column.name, quoted=True)
    held: exp.Expr = exp.Null() if by_key else exp.column(column.name, quoted=True)
    was = before.find(column.name)
    if was is not None and not (is_number(was.type) and is_number(column.type)):
        # Spark does not make a number of a date, but it makes a text of everything that is not nested.
        held = exp.cast(held, "string")
    made = exp.TryCast(this=held, to=exp.DataType.build(sql_type(column.type), dialect="spark"))
    return exp.alias_(made, column.name, quoted=True)


@dataclass
class PlanCache:
    """Change plans by view and by which of its inputs changed: each is made once."""

    _plans: dict[tuple[str, frozenset[str]], ChangePlan] = field(default_factory=dict)
    _anew: dict[str, ChangePlan] = field(default_factory=dict)

    def anew(self, node: ViewNode) -> ChangePlan:
        """The plan that computes a view from nothing and compares."""
        if node.name not in self._anew:
            self._anew[node.name] = anew(node.maintained)
        return self._anew[node.name]

    def change(self, node: ViewNode, changed: frozenset[str]) -> ChangePlan:
        """The change plan of a view for a set of changed inputs."""
        key = (node.name, changed)
        if key not in self._plans:
            self._plans[key] = differentiate(node.maintained, changed)
        return self._plans[key]


def _changes(relation: str, schema: Schema, made: pa.Table | Files) -> ChangeSet:
    if isinstance(made, Files):
        return ChangeSet(relation, schema, (made,))
    return ChangeSet(relation, schema, (Rows(made),) if made.num_rows else ())
