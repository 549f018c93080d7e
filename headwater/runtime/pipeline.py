"""The wheel: one loop turns all sources and views of a pipeline together.

read whole transactions → step → write the sinks → commit progress → let the sources forget.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.fault_points import pass_by
from headwater.incremental.change_plan import sums_relation
from headwater.log.events import Delivery
from headwater.log.positions import Cut, Position
from headwater.runtime.chronicle import Chronicle
from headwater.runtime.clock import Clock, Doing
from headwater.runtime.compaction import Compactor
from headwater.runtime.costs import CostModel
from headwater.runtime.decode import Decoder
from headwater.runtime.ends import Ends, committed_at
from headwater.runtime.facts import BatchDone, Listener
from headwater.runtime.failures import told
from headwater.runtime.feed import FOLDER, Feed, changes_of_views
from headwater.runtime.hidden import Hidden
from headwater.runtime.intake import Intake
from headwater.runtime.letters import Letters
from headwater.runtime.outgoing import outgoing
from headwater.runtime.program import Program, Question, fingerprints
from headwater.runtime.progress import Progress, Saved
from headwater.runtime.questions import Answer, answer
from headwater.runtime.snapshot import Snapshot, Snapshots
from headwater.runtime.step import PlanCache, Step
from headwater.runtime.stops import LOST, Stops, stops_of
from headwater.runtime.stored_rows import stored_rows
from headwater.schema import Schema
from headwater.spark.engine import Engine
from headwater.tables import held
from headwater.tables.state import State

COSTS = "costs"
"""The text that keeps what steps have cost."""


@dataclass
class Pipeline:
    """A compiled script that runs. Made by `open_pipeline`."""

    name: str
    folder: Path
    program: Program
    engine: Engine
    progress: Progress
    ends: Ends
    listener: Listener
    states: dict[str, State]
    pending: set[str]
    """Views that have to be computed from nothing, once all their tables are whole."""
    replaced: Mapping[str, State]
    """What a former version of a pending view had."""
    compactor: Compactor
    closing: ExitStack
    hidden: Hidden = field(default_factory=Hidden)
    costs: CostModel = field(default_factory=CostModel)
    feed: Feed | None = None
    """The changes of the views in recent batches, if somebody may want to follow them from outside."""
    stops: Stops = field(init=False)
    """What is lost of tables, and what stopped for it."""
    letters: Letters = field(init=False)
    """What was put aside, and how it goes."""
    _plans: PlanCache = field(default_factory=PlanCache)
    _clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.stops = stops_of(self.program, self.progress, self.progress.relations)
        self.stops.tell(self.listener)
        self._chronicle = Chronicle(self.engine, self.program, self.progress)
        self.letters = self._chronicle.letters
        self._intake = Intake(self.progress, self.stops, self._chronicle, Decoder(self.engine))
        self._snapshots = Snapshots(self._snapshot())
        if self.program.subscriptions:
            self.keep_feed()
        self.costs.may_recompute = self.program.settings.recompute != "forbid"
        if (known := self.progress.text(COSTS)) is not None:
            self.costs.take_text(known)

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the live SELECTs, in the order of the script."""
        return self.program.queries

    @property
    def answers(self) -> tuple[str, ...]:
        """What EXPLAIN, SHOW and DESCRIBE said."""
        return self.program.answers

    def cut(self) -> Cut:
        """The moment at which every answer is true now."""
        return self.progress.cut

    def schema(self, relation: str) -> Schema:
        """The columns of a view, insert or live query."""
        return self.program.results[relation].schema

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        """What is true now of a relation, at most `limit` rows."""
        return stored_rows(self.engine, self.states[relation], limit)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """What is true at the last batch that is done, for a reader in any thread; its files stay inside the block."""
        return self._snapshots.held()

    def keep_feed(self) -> Feed:
        """From now on keep the changes of the views for whoever follows them; to be called before the next step."""
        self.feed = self.feed or Feed(self.progress.books / FOLDER, self.progress.batch_id)
        return self.feed

    @property
    def stopped(self) -> Mapping[str, HeadwaterError]:
        """The results that go on no more, as something that they read is lost, and what is to be said of it."""
        return self.stops.errors()

    @property
    def doing(self) -> Doing | None:
        """What the step at hand is busy with, for someone in another thread; None between two steps."""
        return self._clock.doing

    def asked(self) -> list[Answer]:
        """The answers to VERIFY and EXPLAIN ANALYZE, at the present cut."""
        return [self.answer(question) for question in self.program.questions]

    def answer(self, question: Question) -> Answer:
        """The answer to one question, at the present cut."""
        with self.hidden.watching(), told(question.result, self.folder):
            return answer(question, self.stops, self.engine, self.states, self.costs.recent)

    def step(self, *, wait: float = 0.0) -> BatchDone | None:
        """Do one batch if there is one within `wait` seconds; None if nothing was to be done."""
        with self.hidden.watching(), told(self.name, self.folder):
            try:
                return self._step(wait)
            finally:
                self.engine.rest()

    def _step(self, wait: float) -> BatchDone | None:
        self.progress.check_turn()
        self.stops.check()
        self._clock = clock = Clock()
        if self._chronicle.is_due():
            return self._batch({}, self.progress.cut, None, clock)
        repeat = self.progress.planned_cut if self.progress.planned_batch > self.progress.batch_id else None
        with clock.stop("read"):
            deliveries = self.ends.read(
                self.progress.cut,
                self.program.settings.batch_rows,
                wait=0.0 if self._due() else wait,
                upto=repeat,
            )
        cut = self.progress.cut
        for source, delivery in deliveries.items():
            cut = cut.moved(source, delivery.position)
        fill = self.pending if self.ends.whole_at(cut) else set()
        told = any(one.tables or one.messages or one.losses for one in deliveries.values())
        if not fill - self.stops.nodes.keys() and not told:
            self._move(cut)
            return None
        return self._batch(deliveries, cut, fill, clock)

    def run_once(self) -> None:
        """Process the snapshot and everything committed before this call, then return."""
        target = self.now()
        while not self.has_reached(target):
            self.step(wait=0.2)

    def now(self) -> Mapping[str, Position]:
        """How far the sources have come."""
        with self.hidden.watching():
            return self.ends.now()

    def has_reached(self, target: Mapping[str, Position]) -> bool:
        """True if every answer is there and knows all that was committed before the target."""
        self.stops.check()
        is_done = not self.pending - self.stops.nodes.keys() and not self._chronicle.is_due()
        return is_done and self.ends.reached(self.progress.cut, target)

    def close(self) -> None:
        """Stop reading, close the sinks, let the folder go. What is done stays done."""
        self.compactor.close()
        self._compact()
        self.closing.close()

    def _due(self) -> bool:
        return bool(self.pending - self.stops.nodes.keys()) and self.ends.whole_at(self.progress.cut)

    def _move(self, cut: Cut) -> None:
        """Nothing changed, but the log went on: so does the cut."""
        if cut != self.progress.cut:
            self.progress.commit(self.progress.batch_id, cut, {})
            self._snapshots.publish(self._snapshot())
            self.ends.commit(cut)

    def _batch(
        self, deliveries: Mapping[str, Delivery], cut: Cut, filled: set[str] | None, clock: Clock
    ) -> BatchDone:
        """One batch, with the views that are computed from nothing; None if it only lets go what is not kept."""
        batch_id = self.progress.batch_id + 1
        is_repeat = self.progress.planned_batch == batch_id
        self.stops.take(deliveries.values(), self.states, batch_id)
        fill = (filled or set()) - self.stops.nodes.keys()
        step = Step(self.engine, self.program, batch_id, self.states)
        with clock.stop("tables"):
            rows = self._intake.take(deliveries, step)
            if filled is None:
                self._chronicle.let_go(step)
        with clock.stop("views"):
            self._compute(step, fill, committed_at(deliveries))
        with clock.stop("sinks"):
            self._write(step, cut, is_letting_go=filled is None)
        if self.feed is not None:
            self.feed.write(batch_id, cut, *changes_of_views(step, fill, self.replaced))
        step.texts |= {COSTS: self.costs.to_text(), LOST: self.stops.text()}
        with clock.stop("progress"):
            self._commit(step, cut, self.pending - fill)
        self.pending -= fill
        self._publish(batch_id)
        self.ends.commit(cut)
        self.stops.tell(self.listener)
        shown = {name: step.changes[name] for name in self.program.results if name in step.changes}
        spent, committed = dict(clock.seconds), committed_at(deliveries)
        done = BatchDone(batch_id, cut, rows, shown, spent, committed, time.time(), step.moved, is_repeat)
        self.listener.batch(done)
        self.engine.tidy()
        self._compact()
        self.compactor.offer(self.states, self.progress.batch_id)
        return done

    def _compute(self, step: Step, fill: set[str], committed: float | None) -> None:
        for node in self.program.views.values():
            if node.name in self.stops.nodes:
                continue
            self._clock.part(node.name)
            with told(node.name, self.folder):
                if node.name in fill:
                    step.fill(node, self.replaced.get(node.name), self.costs)
                elif node.name not in self.pending:
                    step.compute(node, self._plans, self.costs)
            self._chronicle.of_view(node.name, step, committed=committed, first=node.name in fill)

    def _write(self, step: Step, cut: Cut, *, is_letting_go: bool) -> None:
        if found := outgoing(step, is_letting_go=is_letting_go):
            self.progress.plan(step.batch_id, cut)
            pass_by("batch planned")
            for sink, changed in found.items():
                self._clock.part(sink)
                self.ends.sinks[sink].write(changed, step.batch_id)
                pass_by("sink written")

    def _commit(self, step: Step, cut: Cut, waiting: set[str]) -> None:
        """Save what changed; views that wait for their tables are not there yet."""
        absent = waiting | {sums_relation(name) for name in waiting}
        made_from = fingerprints(self.program)
        now = {n: Saved(made_from[n], state) for n, state in step.new.items() if n not in absent}
        known = self.progress.relations
        changed = {n: saved for n, saved in now.items() if saved != known.get(n)}
        self.progress.commit(step.batch_id, cut, changed, texts=step.texts)
        pass_by("progress saved")
        self.states = step.new

    def _compact(self) -> None:
        """Put runs that were merged meanwhile in the place of those they came from; what is saved still stays."""
        done = self.compactor.finished()
        if done is None:
            return
        state = done.applied(self.states[done.relation])
        if state is not None:
            saved = {done.relation: Saved(fingerprints(self.program)[done.relation], state)}
            self.progress.commit(self.progress.batch_id, self.progress.cut, saved)
            pass_by("runs merged")
            self.states[done.relation] = state
            self._snapshots.publish(self._snapshot())
        unnamed = set(done.before) ^ set(done.after) if state is None else set(done.before) - set(done.after)
        for run in unnamed - {*self.states[done.relation].runs, *self.progress.runs(done.relation)}:
            held.remove(run.path)

    def _publish(self, batch_id: int) -> None:
        """From now on whoever reads or follows knows of a batch."""
        self._snapshots.publish(self._snapshot())
        if self.feed is not None:
            self.feed.publish(batch_id)

    def _snapshot(self) -> Snapshot:
        """What readers may see now."""
        waiting = self.pending | (set() if self.ends.whole_at(self.progress.cut) else {*self.program.tables})
        now = self.progress
        return Snapshot(now.cut, now.batch_id, dict(self.states), frozenset(waiting), self.stopped)
