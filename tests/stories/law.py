"""The law: every view, insert and live query equals its query run from nothing by Spark.

It runs on the rows a story has handed in so far. They are kept here; nothing of the pipeline's own State goes into the
expectation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.runtime.history import histories
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.verify import recomputed
from headwater.schema import WEIGHT, Schema, arrow_schema
from headwater.tables import slices
from tests.stories.values_text import counted, plain, texts, unpacked

Bag: TypeAlias = Counter[tuple[str, ...]]

_ANSWERS: dict[tuple[str, str], dict[str, Bag]] = {}
"""What Spark has answered, by what was said and the rows there were."""


@dataclass
class Truth:
    """The rows of each table as the story has said them."""

    bags: dict[str, Counter[tuple[Any, ...]]] = field(default_factory=dict)

    def remember(self, name: str, schema: Schema, sign: str, values: dict[str, Any]) -> None:
        """Take in one line of a `$ change`."""
        bag = self.bags.setdefault(name, Counter())
        if sign in ("u", "d"):
            places = [schema.names.index(k) for k in schema.key]
            key = [values[k] for k in schema.key]
            before = [row for row in bag if [row[p] for p in places] == key]
            for row in before:
                del bag[row]
            if sign == "u":
                old = dict(zip(schema.names, before[0], strict=True)) if before else {}
                bag[tuple(plain(values.get(n, old.get(n))) for n in schema.names)] += 1
            return
        row = tuple(plain(values.get(n)) for n in schema.names)
        bag[row] += 1 if sign == "+" else -1

    def rows(self, name: str, schema: Schema) -> pa.Table:
        """What a table holds, as far as the story says."""
        rows = [row for row, count in self.bags.get(name, Counter()).items() for _ in range(count)]
        columns = [
            pa.array([unpacked(row[i], f.type) for row in rows], f.type)
            for i, f in enumerate(arrow_schema(schema))
        ]
        return pa.Table.from_arrays(columns, schema=arrow_schema(schema))


def check_law(pipeline: Pipeline, truth: Truth, *, way: str, said: str) -> None:
    """Every result equals its query run from nothing on what the story handed in; `said` is its SQL up to here."""
    for name, expected in _expected(pipeline, truth, said).items():
        held = held_rows(pipeline, name)
        assert held == expected, (
            f"the law is broken: {name} ({way})\nmissing: {expected - held}\nextra: {held - expected}"
        )


def _expected(pipeline: Pipeline, truth: Truth, said: str) -> dict[str, Bag]:
    """What Spark answers, asked once for the same SQL over the same rows: stories are told four times."""
    moment = (
        said,
        repr(sorted((name, sorted(map(repr, (+bag).items()))) for name, bag in truth.bags.items())),
    )
    if moment not in _ANSWERS:
        found, may_be_kept = _asked(pipeline, truth)
        if not may_be_kept:
            return found
        _ANSWERS[moment] = found
    return _ANSWERS[moment]


def _asked(pipeline: Pipeline, truth: Truth) -> tuple[dict[str, Bag], bool]:
    """What Spark answers now, and whether that depends on nothing but what the story has said."""
    engine, program = pipeline.engine, pipeline.program
    # What happened cannot be told from what is true: a history is taken as it stands.
    told = {node.name for nodes in histories(program.tables.values()).values() for node in nodes}
    frames = {
        n: engine.bag(pipeline.states[n]) if n in told else engine.local(t.schema, truth.rows(n, t.schema))
        for n, t in program.tables.items()
    }
    found: dict[str, Bag] = {}
    for result in program.results.values():
        frame = recomputed(result, engine, frames)
        frames[result.name] = frame
        found[result.name] = counted(frame.toArrow(), result.schema)
    return found, not told


def held_rows(pipeline: Pipeline, name: str) -> Counter[tuple[str, ...]]:
    """What the State of a relation adds up to, without Spark."""
    state = pipeline.states[name]
    rows = slices.whole(state, state.schema.names)
    bag: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(texts(rows.drop_columns([WEIGHT])), rows.column(WEIGHT).to_pylist(), strict=True):
        bag[row] += weight
    assert all(count >= 0 for count in bag.values()), f"{name} holds rows that went more often than they came"
    return +bag
