"""Verify: recompute every result from the tables' State and compare with what is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from sqlglot import exp

from headwater.incremental.change_plan import sums_relation
from headwater.incremental.differentiate import first
from headwater.incremental.open_order import in_order, is_open
from headwater.incremental.rules.aggregate import merged_sums
from headwater.runtime.failures import told
from headwater.runtime.program import Result, ViewNode
from headwater.runtime.stops import Stops
from headwater.schema import WEIGHT
from headwater.spark.compare import differences
from headwater.spark.engine import Engine
from headwater.spark.inputs import Before
from headwater.spark.text import to_text
from headwater.spark.types import struct_of
from headwater.tables.state import State


@dataclass(frozen=True)
class Difference:
    """Where what is saved is not what the query gives."""

    relation: str
    detail: str


def verify(
    stops: Stops, engine: Engine, states: Mapping[str, State], *, only: str | None = None
) -> list[Difference]:
    """The differences between saved results, or one of them, and their queries run from nothing on the saved tables.

    A result that stopped is what it was at its last good cut, which nobody can tell any more: that is a difference.
    """
    program, stopped = stops.program, stops.errors()
    found = [Difference(name, error.message) for name, error in stopped.items() if only in (None, name)]
    truth: dict[str, DataFrame] = {}
    for name in program.tables:
        with told(name, engine.folder.parent):
            truth[name] = engine.bag(states[name])
    for result in program.results.values():
        if result.name in stopped:
            continue
        with told(result.name, engine.folder.parent):
            truth[result.name] = recomputed(result, engine, truth, text=_asked(result))
            if only not in (None, result.name):
                continue
            saved = engine.bag(states[result.name])
            found += [Difference(result.name, line) for line in differences(truth[result.name], saved)]
    nodes = program.views if only is None else program.results[only].nodes
    for node in (program.views[name] for name in nodes if name not in stops.nodes):
        with told(node.name, engine.folder.parent):
            found += [Difference(sums_relation(node.name), line) for line in _sums(node, engine, states)]
    return found


def _asked(result: Result) -> str:
    """The user's own query; where the order of rows decides, with the order in which they are kept."""
    return to_text(in_order(result.plan)) if is_open(result.plan) else result.query_text


def recomputed(
    result: Result, engine: Engine, truth: Mapping[str, DataFrame], *, text: str | None = None
) -> DataFrame:
    """The user's own query, or this one, over recomputed views where it reads views."""
    for name in result.reads:
        engine.register(name, truth[name])
    struct = struct_of(result.schema)
    # Two columns of a query may have one name; ours do not.
    frame = engine.spark.sql(text or result.query_text).toDF(*struct.names)
    return frame.select(*[f.col(f"`{x.name}`").cast(x.dataType).alias(x.name) for x in struct.fields])


def _sums(node: ViewNode, engine: Engine, states: Mapping[str, State]) -> list[str]:
    """Partial sums that are not what the inputs' State adds up to."""
    if node.maintained.measures is None or node.block.group is None:
        return []
    adding = first(node.maintained).statements[0]
    before = Before(states, states, {})
    expected = engine.statement(adding, before)
    engine.register("verified_sums", engine.weighted(states[sums_relation(node.name)]))
    rows = exp.select("*").from_("verified_sums")
    keys, measures = node.block.group.keys, node.maintained.measures
    saved = engine.sql(merged_sums(rows, keys, measures, are_all=True))
    engine.register("expected_sums", expected)
    again = engine.sql(merged_sums(exp.select("*").from_("expected_sums"), keys, measures, are_all=True))
    return differences(again.drop(WEIGHT), saved.drop(WEIGHT))
