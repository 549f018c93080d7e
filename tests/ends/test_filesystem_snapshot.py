"""A file that always holds the result. Oracle: a bag in memory, and the texts below."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headwater.changes import change_set
from headwater.errors import SinkError
from headwater.schema import Schema
from headwater.sinks import keyed
from headwater.sinks.filesystem import lines, rewrite
from tests.ends.filesystem_world import NULL, Row, bag_of, opened, table_of
from tests.ends.postgres_world import changes, schema
from tests.ends.test_filesystem_folder import KINDS, VALUES

BAG = schema("id int, name string")
KEYED = schema("id int, name string", "id")
NAMES = (None, "", "ann", 'say "hi"', "two\nlines", '"', ",", "\\", "\\N?", "größe 🙂", "\r\n", "a\\")


def shown(row: Row, form: str) -> Row:
    """A row as `bag_of` finds it."""
    return tuple(str(v) if form == "csv" and v is not None else v for v in row)


def random_batch(bag: Counter[Row], chance: random.Random, *, key: bool) -> list[tuple[int, Row]]:
    """Changes that the bag can take; with a key at most one row of each stays."""
    gone = chance.sample(sorted(bag.elements(), key=repr), min(bag.total(), chance.randrange(5)))
    taken = {row[0] for row in bag.elements()} - {row[0] for row in gone}
    come = [(chance.randrange(8), chance.choice(NAMES)) for _ in range(chance.randrange(8))]
    if key:
        come = [(i, name) for i, name in dict(come).items() if i not in taken]
    return [(-1, row) for row in gone] + [(1, row) for row in come]


@pytest.mark.parametrize("form", ["csv", "csv ^", "json", "parquet"])
@pytest.mark.parametrize("of", [BAG, KEYED], ids=["bag", "keyed"])
def test_the_file_equals_the_bag_after_twenty_batches_of_which_three_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, of: Schema
) -> None:
    small_pieces(monkeypatch)
    path, chance = tmp_path / "now", random.Random(form)
    form, _, escape = form.partition(" ")
    given = {"csv__null_literal": NULL} if form == "csv" else {}
    given |= {"csv__escape_character": escape} if escape else {}
    table = table_of(path, of, append_only=False, format=form, sink__mode="snapshot", **given)
    sink, bag = opened(table), Counter[Row]()
    for batch_id in range(1, 21):
        rows = random_batch(bag, chance, key=bool(of.key))
        batch = changes(table, *((weight, *row) for weight, row in rows))
        sink.write([batch], batch_id)
        if batch_id in (5, 11, 20):
            sink = sink if batch_id == 5 else opened(table)
            sink.write([batch], batch_id)
        for weight, row in rows:
            bag[row] += weight
        bag = +bag
        wanted = Counter(shown(row, form) for row in bag.elements())
        assert bag_of(path, form, escape=escape or None) == wanted, batch_id
    assert sorted(p.name for p in tmp_path.iterdir()) == [".now.headwater", "now"]


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that has a bound goes over it."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 7)
    monkeypatch.setattr(rewrite, "GONE_ROWS", 2)
    monkeypatch.setattr(change_set, "BATCH_ROWS", 3)
    monkeypatch.setattr(keyed, "PIECE_ROWS", 2)


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_where_rows_only_come_the_last_of_a_key_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    small_pieces(monkeypatch)
    path, chance = tmp_path / "now", random.Random(form)
    of = schema("name string, id int, key string", "id", "key")
    given = {"csv__null_literal": NULL} if form == "csv" else {}
    table = table_of(path, of, append_only=True, format=form, sink__mode="snapshot", **given)
    last: dict[Row, Row] = {}
    for batch_id in range(1, 9):
        keys = [(chance.randrange(3), chance.choice(NAMES[1:6])) for _ in range(6)]
        rows = [(chance.choice(NAMES), *key) for key in keys]
        sink = opened(table)
        sink.write([changes(table, *((1, *row) for row in rows))], batch_id)
        last |= dict(zip(keys, rows, strict=True))
        assert bag_of(path, form) == Counter(shown(row, form) for row in last.values()), batch_id


def test_a_file_without_rows_is_there_from_the_start_with_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "now.csv"
    table = table_of(path, BAG, format="csv", sink__mode="snapshot", csv__write_header="true")
    sink = opened(table)
    assert path.read_text() == "id,name\n"
    sink.write([changes(table, (1, 1, "id,name"), (1, 2, None))], 1)
    sink.write([changes(table, (-1, 1, "id,name"), (1, 2, ""))], 2)
    sink.write([], 3)
    assert (path.read_text(), sink.last_batch()) == ("id,name\n2,\n2,\n", 3)


def test_all_types_are_found_again_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "now.parquet"
    table = table_of(path, KINDS, format="parquet", sink__mode="snapshot")
    nothing = (None,) * len(VALUES)
    sink = opened(table)
    sink.write([changes(table, (1, *VALUES), (1, *nothing), (1, *VALUES))], 1)
    sink.write([changes(table, (-1, *VALUES), (-1, *nothing))], 2)
    assert [tuple(row.values()) for row in pq.read_table(path).to_pylist()] == [VALUES]


def test_one_row_may_come_and_go_in_one_batch_of_several_queries(tmp_path: Path) -> None:
    path = tmp_path / "now.csv"
    table = table_of(path, BAG, format="csv", sink__mode="snapshot")
    parts = [changes(table, (-1, 1, "a")), changes(table, (1, 1, "a"), (1, 2, "b"))]
    opened(table).write(parts, 1)
    assert path.read_text() == "2,b\n"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_row_that_goes_and_is_not_there_is_an_error_and_nothing_changes(tmp_path: Path, form: str) -> None:
    path = tmp_path / "now"
    table = table_of(path, BAG, format=form, sink__mode="snapshot")
    sink = opened(table)
    sink.write([changes(table, (1, 1, "a"))], 1)
    before = path.read_bytes()
    with pytest.raises(SinkError) as caught:
        sink.write([changes(table, (-1, 2, "b"), (1, 3, "c"))], 2)
    assert caught.value.message == f"a row is taken from sink table 'out' that is not in '{path}'"
    assert caught.value.detail == ("2,b." if form == "csv" else '{"id":2,"name":"b"}.')
    assert (path.read_bytes(), sink.last_batch()) == (before, 1)
    opened(table).write([changes(table, (-1, 1, "a"))], 2)
    assert bag_of(path, form) == Counter()


def test_a_file_that_somebody_else_changed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "now.json"
    table = table_of(path, BAG, format="json", sink__mode="snapshot")
    sink = opened(table)
    sink.write([changes(table, (1, 1, "a"))], 1)
    path.write_text("")
    for attempt in (lambda: opened(table), lambda: sink.write([changes(table, (1, 2, "b"))], 2)):
        with pytest.raises(SinkError) as caught:
            attempt()
        assert caught.value.message == f"'{path}' is not as this pipeline left it"
        assert caught.value.detail == "It had 20 bytes with batch 1, and it has 0."
