"""Tells a story on a real pipeline, one of four ways, and checks the law after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.incremental.differentiate import differentiate
from headwater.runtime import compaction
from headwater.runtime.compaction import MOST_RUNS
from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.schema import WEIGHT, Schema
from headwater.sinks.values import KEPT, kept
from headwater.sources.base import Report
from headwater.sources.values import STORES, ValuesStore
from tests.stories.law import Truth, check_law, held_rows
from tests.stories.story import Block, as_lines, signed
from tests.stories.values_text import parsed, text_of, texts

WAYS = ("as written", "in one batch", "with restarts", "delivered twice")


class Crash(Exception):
    """The process died here."""


@dataclass
class Teller:
    """One telling of one story in a folder of its own."""

    way: str
    folder: Path
    name: str = "story"
    script: list[str] = field(default_factory=list)
    pipeline: Pipeline | None = None
    truth: Truth = field(default_factory=Truth)
    last: BatchDone | None = None
    moved: int = 0
    answers: dict[int, list[str]] = field(default_factory=dict)
    """What came out instead of what was expected, by the block's line."""
    is_update: bool = False
    waiting: bool = True
    """True while something was said that no step has taken yet."""
    is_broken: bool = False
    """True after a step that had to fail: the pipeline stands still."""

    def __post_init__(self) -> None:
        STORES[self.name] = ValuesStore(deliver_twice=self.way == "delivered twice")
        KEPT.pop(self.name, None)

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Keep what the last batch changed."""
        self.last = done
        self.moved += sum(changes.count for changes in done.changes.values())

    def tell(self, blocks: list[Block]) -> dict[str, Counter[tuple[str, ...]]]:
        """The whole story; what every result holds at the end."""
        # A restart finds runs that were merged after every step.
        compaction.MOST_RUNS = 1 if self.way == "with restarts" else MOST_RUNS
        try:
            for block in blocks:
                self.take(block)
            if not self.is_broken:
                self._step()
                self._check_law()
            return {} if self.is_broken else self._end()
        finally:
            self.close()
            compaction.MOST_RUNS = MOST_RUNS

    def _check_law(self) -> None:
        check_law(self._opened(), self.truth, way=self.way, said="\n".join(self.script))

    def close(self) -> None:
        """Close what is open."""
        if self.pipeline is not None:
            self.pipeline.close()
            self.pipeline = None

    def take(self, block: Block) -> None:
        """One block of a story."""
        match block.sign:
            case ">":
                self.script.append(block.text.rstrip().rstrip(";") + ";")
                self.waiting = True
                if self.pipeline is not None:
                    self._reopen()
                if block.expected:
                    said = self._opened().answers[-1].splitlines()
                    self._expect(block, said, ordered=True)
            case "!":
                self._fails(block)
            case _:
                verb, _, rest = block.text.partition(" ")
                actions: dict[str, Callable[[Block, str], None]] = {
                    "change": self._change,
                    "step": self._do_step,
                    "changes": self._changes,
                    "rows": self._rows,
                    "sink": self._sink,
                    "explain": self._explain,
                    "restart": lambda _, __: self._reopen(),
                    "crash": self._crash,
                }
                actions[verb](block, rest.strip())

    def _opened(self) -> Pipeline:
        if self.pipeline is None:
            text = f"SET 'pipeline.name' = '{self.name}';\n" + "\n".join(self.script)
            self.pipeline = open_pipeline(text, file="story.sql", state=self.folder, listener=self)
        return self.pipeline

    def _reopen(self) -> None:
        if self.pipeline is not None:
            self.pipeline.close()
            self.pipeline = None
        self._opened()

    def _fails(self, block: Block) -> None:
        self.script.append(block.text.rstrip().rstrip(";") + ";")
        if self.pipeline is not None:
            self.pipeline.close()
            self.pipeline = None
        try:
            self._opened()
        except HeadwaterError as problem:
            self._expect(block, _told(problem), ordered=True)
        else:
            raise AssertionError(f"line {block.line}: this should fail: {block.text}")
        finally:
            self.script.pop()

    def _change(self, block: Block, name: str) -> None:
        pipeline = self._opened()
        schema = pipeline.program.tables[name].schema
        changes = []
        for sign, row in signed(block.expected):
            values = {column: parsed(text, schema, column) for column, text in row.items() if text != "same"}
            changes.append((sign, values))
            self.truth.remember(name, schema, sign, values)
        STORES[self.name].append({name: changes})
        self.waiting = True

    def _do_step(self, block: Block, _: str) -> None:
        if self.way == "in one batch" and not block.expected:
            return
        if block.expected:
            self._step_fails(block)
            return
        self._step()
        self._check_law()
        if self.way == "with restarts":
            self._reopen()

    def _step_fails(self, block: Block) -> None:
        self.is_broken = True
        try:
            self._step()
        except HeadwaterError as problem:
            self._expect(block, _told(problem), ordered=True)
        else:
            raise AssertionError(f"line {block.line}: this step should fail")

    def _step(self) -> None:
        self.last = None
        self._opened().run_once()
        self.waiting = False

    def _crash(self, block: Block, _: str) -> None:
        """Die after the sinks were written and before progress was: the batch has to come again, the same."""
        pipeline = self._opened()

        def die(*_: object, **__: object) -> None:
            raise Crash

        pipeline.progress.commit = die  # type: ignore[method-assign]  # the fault this action stands for
        try:
            pipeline.run_once()
        except Crash:
            self._reopen()
        else:
            raise AssertionError(f"line {block.line}: there was nothing to crash in")

    def _changes(self, block: Block, name: str) -> None:
        if self.way == "in one batch":
            return
        assert self.last is not None, f"line {block.line}: no step yet"
        changes = self.last.changes.get(name)
        rows = changes.table() if changes is not None else None
        self._expect_table(block, rows, self._opened().schema(name), with_op=True)

    def _rows(self, block: Block, name: str) -> None:
        if self.way == "in one batch" and self.waiting:
            return
        found = [list(row) for row, count in held_rows(self._opened(), name).items() for _ in range(count)]
        self._compare(block, as_lines(list(self._opened().schema(name).names), sorted(found)))

    def _sink(self, block: Block, name: str) -> None:
        if self.way == "in one batch" and self.waiting:
            return
        schema = next(n.table.schema for n in self._opened().program.sinks if n.table.name == name)
        found = [[text_of(value) for value in row] for row in kept(self.name).rows(name)]
        self._compare(block, as_lines(list(schema.names), sorted(found)))

    def _explain(self, block: Block, name: str) -> None:
        program = self._opened().program
        lines = []
        for node in program.results[name].nodes:
            view = program.views[node]
            for relation in view.block.inputs:
                plan = differentiate(view.maintained, {relation})
                because = f", because of {plan.reason}" if plan.reason else ""
                lines.append(f"{node} when {relation} changes: {plan.strategy.value}{because}")
        self._expect(block, lines, ordered=True)

    def _expect_table(self, block: Block, rows: pa.Table | None, schema: Schema, *, with_op: bool) -> None:
        assert with_op
        found: list[list[str]] = []
        if rows is not None:
            weights = rows.column(WEIGHT).to_pylist()
            cells = texts(rows.drop_columns([WEIGHT]))
            found = [["+" if w > 0 else "-", *t] for t, w in zip(cells, weights, strict=True)]
        order = sorted(found, key=lambda row: (row[1:], row[0] == "+"))
        self._compare(block, as_lines(["op", *schema.names], order))

    def _compare(self, block: Block, lines: list[str]) -> None:
        """Tables are compared as bags: the order of rows does not count, the names of columns do."""

        def cells(text: str) -> tuple[str, ...]:
            return tuple(cell.strip() for cell in text.split("|"))

        found, expected = [cells(x) for x in lines], [cells(x) for x in block.expected]
        if found[:1] != expected[:1] or Counter(found) != Counter(expected):
            self._differs(block, lines)

    def _differs(self, block: Block, lines: list[str]) -> None:
        self.answers[block.line] = lines
        assert self.is_update, f"line {block.line} ({self.way}): {block.text}\n" + "\n".join(lines)

    def _expect(self, block: Block, lines: list[str], *, ordered: bool) -> None:
        assert ordered
        if list(block.expected) != lines:
            self._differs(block, lines)

    def _end(self) -> dict[str, Counter[tuple[str, ...]]]:
        return {name: held_rows(self._opened(), name) for name in self._opened().program.results}


def _told(problem: HeadwaterError) -> list[str]:
    lines = [f"error: {problem.message}"]
    lines += [f"detail: {problem.detail}"] if problem.detail else []
    return lines + ([f"hint: {problem.hint}"] if problem.hint else [])
