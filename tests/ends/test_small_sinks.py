"""Print, blackhole and the in-memory sink. Oracle: the lines and rows below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.schema import Schema
from headwater.sinks import print as print_module
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.blackhole import BLACKHOLE, BlackholeOptions, BlackholeSink
from headwater.sinks.print import PrintOptions, PrintSink
from headwater.sinks.values import KEPT, Kept, ValuesOptions, ValuesSink, kept
from tests.ends.postgres_world import arrow_changes, changes, schema

TOTALS = schema("id int, total int", "id")
BAG = schema("id int, total int")


def printed(table: SinkTable, *batches: ChangeSet) -> list[str]:
    """The lines of some batches."""
    lines: list[str] = []
    sink = PrintSink([table], SinkContext("p", lines.append))
    for number, batch in enumerate(batches, 1):
        sink.write([batch], number)
        sink.write([batch], number)
        assert sink.last_batch() == number
    sink.close()
    return lines


def test_old_and_new_of_one_key_are_printed_together() -> None:
    table = SinkTable("totals", TOTALS, PrintOptions())
    batch = changes(table, (1, 3, 30), (-1, 1, 10), (-1, 2, 20), (1, 2, 21), (1, 4, None))
    assert printed(table, batch) == ["-D[1, 10]", "-U[2, 20]", "+U[2, 21]", "+I[3, 30]", "+I[4, null]"]


def test_without_a_key_rows_go_and_come() -> None:
    table = SinkTable("bag", BAG, PrintOptions(identifier="bag"))
    batch = changes(table, (1, 2, 21), (-1, 2, 20), (1, 2, 21))
    assert printed(table, batch) == ["bag> -D[2, 20]", "bag> +I[2, 21]", "bag> +I[2, 21]"]


def test_very_many_rows_are_printed_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(print_module, "PAIRED_ROWS", 1)
    table = SinkTable("totals", TOTALS, PrintOptions())
    assert printed(table, changes(table, (1, 2, 21), (-1, 2, 20))) == ["-D[2, 20]", "+I[2, 21]"]


def test_values_are_printed_as_flink_prints_them() -> None:
    kinds = schema(
        "a boolean, b decimal(10,2), c binary, d date, e timestamp, f timestamp_ntz, g array<string>, "
        "h map<string,int>, i struct<x:int,y:string>, j double, k string"
    )
    table = SinkTable("t", kinds, PrintOptions())
    noon = datetime(2024, 2, 29, 12)
    row = (
        True, Decimal("1.50"), b"\x01\xff", date(2024, 2, 29), noon.replace(tzinfo=UTC), noon, ["a", None],
        [("k", 1)], {"x": 1, "y": "z"}, math.inf, "",
    )  # fmt: skip
    assert printed(table, changes(table, (1, *row))) == [
        "+I[true, 1.50, x'01ff', 2024-02-29, 2024-02-29T12:00:00Z, 2024-02-29T12:00:00, [a, null], {k=1}, "
        "(1, z), inf, ]"
    ]


def test_the_blackhole_remembers_only_the_batch() -> None:
    sink = BlackholeSink([SinkTable("t", BAG, BlackholeOptions())], SinkContext("p"))
    assert sink.last_batch() is None
    sink.write([], 3)
    assert sink.last_batch() == 3
    sink.close()
    assert BLACKHOLE.group(BlackholeOptions()) == "blackhole"


@pytest.fixture
def memory() -> Iterator[Kept]:
    """What pipeline `p` keeps."""
    KEPT.pop("p", None)
    yield kept("p")
    del KEPT["p"]


def values_sink(kind: Schema, *, append_only: bool = False) -> tuple[SinkTable, ValuesSink]:
    table = SinkTable("t", kind, ValuesOptions(), append_only)
    return table, ValuesSink([table], SinkContext("p"))


def test_what_is_kept_is_every_batch_and_the_rows_that_result(memory: Kept) -> None:
    table, sink = values_sink(TOTALS)
    sink.write([changes(table, (1, 1, 10), (1, 2, 20))], 1)
    sink.write([changes(table, (-1, 1, 10), (1, 1, 11), (-1, 2, 20))], 2)
    sink.write([changes(table, (1, 9, 9))], 2)
    sink.write([arrow_changes(table, [])], 3)
    assert memory.rows("t") == [(1, 11)]
    assert [batch["t"].num_rows for batch in memory.batches.values()] == [2, 3, 0]
    _, again = values_sink(TOTALS)
    assert again.last_batch() == 3


def test_a_bag_keeps_rows_as_often_as_they_came(memory: Kept) -> None:
    table, sink = values_sink(schema("x double, l array<int>"))
    sink.write([changes(table, (1, math.nan, [1]), (1, math.nan, [1]), (1, 1.0, None))], 1)
    sink.write([changes(table, (-1, math.nan, [1]))], 2)
    assert memory.bag("t") == {(math.nan, (1,)): 1, (1.0, None): 1}


def test_two_queries_write_one_table(memory: Kept) -> None:
    table, sink = values_sink(TOTALS)
    sink.write([changes(table, (1, 1, 10)), changes(table, (1, 2, 20))], 1)
    sink.write([changes(table, (1, 2, 21)), changes(table, (-1, 2, 20))], 2)
    assert sorted(memory.rows("t")) == [(1, 10), (2, 21)]
    assert memory.batches[2]["t"].num_rows == 2


def test_rows_that_swap_keys(memory: Kept) -> None:
    table, sink = values_sink(TOTALS)
    sink.write([changes(table, (1, 1, 10), (1, 2, 20))], 1)
    sink.write([changes(table, (-1, 1, 10), (-1, 2, 20), (1, 1, 20), (1, 2, 10))], 2)
    assert sorted(memory.rows("t")) == [(1, 20), (2, 10)]


@pytest.mark.parametrize("earlier", [True, False])
def test_two_rows_of_one_key_are_an_error_and_nothing_is_kept(memory: Kept, earlier: bool) -> None:
    table, sink = values_sink(TOTALS)
    if earlier:
        sink.write([changes(table, (1, 7, 20))], 1)
    batch = changes(table, (1, 7, 30)) if earlier else changes(table, (1, 7, 20), (1, 7, 30))
    before = memory.rows("t")
    with pytest.raises(SinkError) as caught:
        sink.write([batch], 2)
    assert caught.value.message == "two rows want the key (id) = (7) of sink table 't'"
    assert caught.value.detail == "(id, total) = (7, 20) and (id, total) = (7, 30)."
    assert memory.rows("t") == before and 2 not in memory.batches


def test_of_two_rows_that_only_come_the_last_wins(memory: Kept) -> None:
    table, sink = values_sink(TOTALS, append_only=True)
    sink.write([changes(table, (1, 7, 20), (1, 7, 30))], 1)
    sink.write([changes(table, (1, 7, 40))], 2)
    assert memory.rows("t") == [(7, 40)]


@pytest.mark.parametrize("kind", [TOTALS, BAG])
def test_a_row_that_is_not_there_cannot_be_taken(memory: Kept, kind: Schema) -> None:
    table, sink = values_sink(kind)
    sink.write([changes(table, (1, 1, 10))], 1)
    with pytest.raises(SinkError, match="a row is taken from sink table 't' that is not in it"):
        sink.write([changes(table, (-1, 1, 11))], 2)
