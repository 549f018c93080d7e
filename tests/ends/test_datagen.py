"""The generator makes the same row for the same number. Oracle: a second reading, and the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from headwater.errors import OptionError, StateError
from headwater.log.events import POSITION, SEQ, Delivery, event_schema
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import Schema
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.datagen import DATAGEN, DatagenOptions, DatagenSource
from tests.ends.postgres_world import schema

WIDE = schema(
    "id int, s string, b binary, d decimal(10,2), big decimal(38,4), t timestamp, n timestamp_ntz, day date, "
    "f float, g double, yes boolean, l bigint, y tinyint, word string",
    "id",
)
FIELDS = {
    "fields.id.kind": "sequence",
    "fields.word.kind": "sequence",
    "fields.word.start": "100",
    "fields.s.length": "5",
    "fields.s.null-rate": "0.25",
    "fields.b.length": "9",
    "fields.d.min": "-1.5",
    "fields.d.max": "2.25",
    "fields.g.min": "10",
    "fields.g.max": "20",
    "fields.n.min": "2024-01-01",
    "fields.n.max": "2024-01-31T10:00:00",
}


class Clock:
    """A clock that moves only when it is told to, or when someone waits."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def options(**given: str) -> DatagenOptions:
    named = {name.replace("_", "-"): value for name, value in given.items()}
    return read_options(DatagenOptions, named, owner="connector 'datagen'", place=None)


def source(folder: Path, clock: Clock, *tables: tuple[str, Schema, DatagenOptions]) -> DatagenSource:
    declared = [SourceTable(*table) for table in tables]
    context = SourceContext("p", folder, lambda report: None)
    return DatagenSource(declared, context, clock=clock, pause=clock.pause)


def rows(delivery: Delivery | None, table: str = "t") -> pa.Table:
    assert delivery is not None
    found = delivery.tables[table].rows
    assert found is not None
    return found


def test_the_same_number_gives_the_same_row(tmp_path: Path, clock: Clock) -> None:
    made = ("t", WIDE, options(**{"rows-per-second": "1000", **FIELDS}))
    one = source(tmp_path, clock, made)
    one.start(None)
    clock.now += 5
    whole = rows(one.read(None, 10_000))
    assert whole.num_rows == 5_000 and whole.schema.equals(event_schema(WIDE))
    clock.now += 60
    two = source(tmp_path, clock, made)
    two.start(Position(1_234))
    assert rows(two.read(Position(1_234), 100)).equals(whole.slice(1_234, 100))
    assert rows(two.read(Position(1_234), 1, upto=Position(1_300))).equals(whole.slice(1_234, 66))
    assert whole.column(POSITION).to_pylist() == list(range(1, 5_001))
    assert len(pc.unique(whole.column(SEQ))) == 5_000


def test_values_keep_to_what_was_asked_for(tmp_path: Path, clock: Clock) -> None:
    made = source(tmp_path, clock, ("t", WIDE, options(**{"rows-per-second": "1000", **FIELDS})))
    made.start(None)
    clock.now += 5
    found = rows(made.read(None, 10_000))
    ranges = {name: tuple(pc.min_max(found.column(name)).as_py().values()) for name in ("d", "g", "n", "y")}
    assert ranges["d"] == (Decimal("-1.50"), Decimal("2.25"))
    assert 10 <= ranges["g"][0] < 10.1 and 19.9 < ranges["g"][1] < 20
    assert datetime(2024, 1, 1) <= ranges["n"][0] and ranges["n"][1] <= datetime(2024, 1, 31, 10)
    assert ranges["y"] == (-128, 127)
    assert found.column("id").to_pylist() == list(range(1, 5_001))
    assert found.column("word").to_pylist()[:2] == ["100", "101"]
    assert set(pc.utf8_length(found.column("s")).to_pylist()) == {5, None}
    assert {len(value) for value in found.column("b").to_pylist()} == {9}
    assert 1_100 < found.column("s").null_count < 1_400
    assert 2_300 < pc.sum(found.column("yes")).as_py() < 2_700
    assert len(pc.unique(found.column("l"))) == 5_000
    # A moment without a range is when the row is released.
    assert found.column("t")[999].as_py() == datetime.fromtimestamp(clock.now - 4, UTC)
    assert found.column("day")[0].as_py() == datetime.fromtimestamp(clock.now, UTC).date()


def test_two_tables_are_made_differently(tmp_path: Path, clock: Clock) -> None:
    plain = schema("n int, m int")
    made = source(tmp_path, clock, ("a", plain, options()), ("b", plain, options()))
    made.start(None)
    clock.now += 1
    delivery = made.read(None, 100)
    a, b = rows(delivery, "a"), rows(delivery, "b")
    assert a.num_rows == b.num_rows == 10
    columns = [c.to_pylist() for c in (a.column("n"), a.column("m"), b.column("n"), b.column("m"))]
    assert len({tuple(column) for column in columns}) == 4
    assert not set(a.column(SEQ).to_pylist()) & set(b.column(SEQ).to_pylist())


def test_rows_are_released_by_the_clock_and_a_reader_waits(tmp_path: Path, clock: Clock) -> None:
    made = source(tmp_path, clock, ("t", schema("n int"), options()))
    made.start(None)
    assert made.read(None, 100) == Delivery(Position(0), {})
    assert made.read(Position(0), 100) is None
    assert rows(made.read(Position(0), 100, wait=10)).num_rows == 1
    clock.now += 1.05
    assert made.now() == Position(11)
    delivery = made.read(Position(1), 4)
    assert delivery is not None and delivery.position == Position(5)
    assert delivery.committed_at == pytest.approx(1_700_000_000.5)
    assert made.read(Position(11), 100, wait=0.01) is None


def test_a_restart_goes_on_from_the_first_start(tmp_path: Path, clock: Clock) -> None:
    made = ("t", schema("n int"), options())
    source(tmp_path, clock, made).start(None)
    clock.now += 10
    again = source(tmp_path, clock, made)
    again.start(Position(40))
    assert again.now() == Position(100)
    lost = source(tmp_path / "lost", clock, made)
    lost.start(Position(40))
    assert lost.now() == Position(40)


def test_a_number_of_rows_ends_it(tmp_path: Path, clock: Clock) -> None:
    made = source(tmp_path, clock, ("t", schema("n int"), options(number_of_rows="25")))
    made.start(None)
    assert made.now() == Position(25)
    clock.now += 100
    delivery = made.read(None, 1_000)
    assert delivery is not None and delivery.position == Position(25) and rows(delivery).num_rows == 25
    assert made.read(Position(25), 10, wait=1) is None


def test_a_sequence_ends_it(tmp_path: Path, clock: Clock) -> None:
    given = {"fields.n.kind": "sequence", "fields.n.start": "5", "fields.n.end": "9"}
    made = source(tmp_path, clock, ("t", schema("n int"), options(**given)))
    made.start(None)
    clock.now += 100
    assert rows(made.read(None, 1_000)).column("n").to_pylist() == [5, 6, 7, 8, 9]


def test_nobody_waits_for_the_end_of_a_sequence_that_is_only_that_of_its_type(
    tmp_path: Path, clock: Clock
) -> None:
    made = source(tmp_path, clock, ("t", schema("n tinyint"), options(**{"fields.n.kind": "sequence"})))
    made.start(None)
    clock.now += 1
    assert made.now() == Position(10)
    clock.now += 100
    assert made.now() == Position(127)
    assert rows(made.read(Position(120), 1_000)).column("n").to_pylist() == [*range(121, 128)]
    assert made.read(Position(127), 10, wait=1) is None


def test_a_table_that_joins_later_begins_with_its_first_row(tmp_path: Path, clock: Clock) -> None:
    kind, given = schema("n int"), {"fields.n.kind": "sequence"}
    first = source(tmp_path, clock, ("a", kind, options(**given)))
    first.start(None)
    clock.now += 1
    both = source(tmp_path, clock, ("a", kind, options(**given)), ("b", kind, options(**given)))
    both.start(Position(10))
    clock.now += 0.3
    delivery = both.read(Position(10), 100)
    assert rows(delivery, "a").column("n").to_pylist() == [11, 12, 13]
    assert rows(delivery, "b").column("n").to_pylist() == [1, 2, 3]


def test_a_table_of_which_nothing_is_held_begins_again_with_its_first_row(
    tmp_path: Path, clock: Clock
) -> None:
    kind, given = schema("n int"), {"fields.n.kind": "sequence", "fields.n.end": "15"}
    tables = [SourceTable(name, kind, options(**given)) for name in ("a", "b")]
    context = SourceContext("p", tmp_path, lambda report: None)
    DatagenSource(tables, context, clock=clock, pause=clock.pause).start(None)
    clock.now += 1.3
    edited = [tables[0], replace(tables[1], anew=True)]
    for _ in range(2):
        again = DatagenSource(edited, context, clock=clock, pause=clock.pause)
        again.start(Position(10))
        delivery = again.read(Position(10), 100)
        assert rows(delivery, "a").column("n").to_pylist() == [11, 12, 13]
        assert rows(delivery, "b").column("n").to_pylist() == [1, 2, 3]
    assert again.now() == Position(25)


def test_a_large_batch_that_is_repeated_travels_in_a_file(tmp_path: Path, clock: Clock) -> None:
    made = source(tmp_path, clock, ("t", schema("n int"), options(rows_per_second="100000")))
    made.start(None)
    clock.now += 1
    some = made.read(None, 1_000_000)
    assert some is not None and some.position == Position(50_000)
    delivery = made.read(None, 1, upto=Position(80_000))
    assert delivery is not None
    assert pq.read_table(delivery.tables["t"].files[0]).num_rows == 80_000


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (
            {"fields.nn.kind": "random"},
            "connector 'datagen' has no option 'fields.nn.kind'",
            "Did you mean 'n'?",
        ),
        ({"fields.n.mim": "1"}, "connector 'datagen' has no option 'fields.n.mim'", "Did you mean 'min'?"),
        ({"fields.n.kind": "serial"}, "option 'fields.n.kind' does not take the value 'serial'", ""),
        ({"fields.n.min": "x"}, "option 'fields.n.min' does not take the value 'x'", ""),
        ({"fields.n.min": "3", "fields.n.max": "2"}, "option 'fields.n.max' does not take the value '2'", ""),
        ({"fields.n.max": "3000000000"}, "option 'fields.n.max' does not take the value '3000000000'", ""),
        (
            {"fields.n.length": "3"},
            "option 'fields.n.length' does not fit a random column of type int",
            "Remove it.",
        ),
        ({"fields.s.length": "0"}, "option 'fields.s.length' does not take the value '0'", ""),
        ({"fields.n.null-rate": "2"}, "option 'fields.n.null-rate' does not take the value '2'", ""),
        ({"fields.t.min": "2024-01-01"}, "column 't' of datagen needs option 'fields.t.max' too", ""),
        ({"rows-per-second": "0"}, "option 'rows-per-second' does not take the value '0'", ""),
        ({"number-of-rows": "-1"}, "option 'number-of-rows' does not take the value '-1'", ""),
    ],
)
def test_wrong_options_are_errors(
    tmp_path: Path, clock: Clock, given: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(OptionError) as caught:
        source(tmp_path, clock, ("t", schema("n int, s string, t timestamp"), options(**given)))
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_key_that_would_repeat_is_refused(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(OptionError) as caught:
        source(tmp_path, clock, ("t", schema("id int, n int", "id"), options()))
    assert caught.value.message == "the key of table 't' would repeat"
    assert caught.value.hint == "Add 'fields.id.kind' = 'sequence', or remove the PRIMARY KEY."


def test_a_type_it_cannot_make_is_refused(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(OptionError, match="datagen cannot make up column 'm' of type map<string,int>"):
        source(tmp_path, clock, ("t", schema("m map<string,int>"), options()))


def test_damaged_facts_are_a_state_error(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "started.json").write_text("{")
    with pytest.raises(StateError, match=r"what a source saved is unreadable: started\.json"):
        source(tmp_path, clock, ("t", schema("n int"), options())).start(None)


def test_tables_of_one_rate_are_one_group() -> None:
    assert DATAGEN.group(options()) == "datagen-10-endless"
    assert DATAGEN.group(options(rows_per_second="5", number_of_rows="7")) == "datagen-5-7"
    assert DATAGEN.append_only
