"""One text file that grows. Oracle: the bytes below."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from headwater.errors import SinkError
from headwater.sinks.filesystem import growing
from tests.ends.filesystem_world import opened, table_of
from tests.ends.postgres_world import changes, schema, wait_for

ROWS = schema("id int, name string")
KEYED = schema("id int, name string", "id")


def note(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.with_name(f".{path.name}.headwater").read_text())
    return found


def test_rows_are_appended_as_they_come_and_the_length_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "rows.csv"
    table = table_of(path, ROWS, append_only=True, format="csv")
    sink = opened(table)
    assert (sink.last_batch(), path.read_bytes()) == (None, b"")
    sink.write([changes(table, (1, 1, "ann"), (1, 2, None))], 4)
    sink.write([], 5)
    sink.write([changes(table, (1, 3, "bob, jr"))], 7)
    assert path.read_text() == '1,ann\n2,\n3,"bob, jr"\n'
    assert (note(path)["batch_id"], note(path)["length"], sink.last_batch()) == (7, 21, 7)
    assert sorted(p.name for p in path.parent.iterdir()) == [".rows.csv.headwater", "rows.csv"]


def test_a_batch_that_comes_again_is_written_once_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    table = table_of(path, ROWS, append_only=True, format="json")
    first = changes(table, (1, 1, "ann"))
    sink = opened(table)
    sink.write([first], 1)
    sink.write([first], 1)
    sink.close()
    sink = opened(table)
    assert sink.last_batch() == 1
    sink.write([first], 1)
    sink.write([changes(table, (1, 2, "bob"))], 2)
    assert path.read_text() == '{"id":1,"name":"ann"}\n{"id":2,"name":"bob"}\n'


def test_what_a_crash_left_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table = table_of(path, ROWS, append_only=True, format="csv")
    opened(table).write([changes(table, (1, 1, "ann"))], 1)
    with path.open("a") as file:
        file.write("2,bo")
    sink = opened(table)
    assert path.read_text() == "1,ann\n"
    sink.write([changes(table, (1, 2, "bob"))], 2)
    assert path.read_text() == "1,ann\n2,bob\n"


def test_changes_have_their_signs_and_old_and_new_stand_together(tmp_path: Path) -> None:
    path = tmp_path / "changes.csv"
    table = table_of(path, KEYED, format="csv", csv__write_header="true")
    sink = opened(table)
    sink.write([changes(table, (1, 2, "bob"), (1, 1, "ann"), (1, 3, "cy"))], 1)
    sink.write([changes(table, (1, 1, "anne"), (-1, 2, "bob"), (1, 4, "di"), (-1, 1, "ann"))], 2)
    assert path.read_text() == (
        "op,id,name\n+I,2,bob\n+I,1,ann\n+I,3,cy\n-U,1,ann\n+U,1,anne\n-D,2,bob\n+I,4,di\n"
    )


def test_without_a_key_rows_go_before_others_come(tmp_path: Path) -> None:
    path = tmp_path / "changes.json"
    table = table_of(path, ROWS, format="json", sink__op_column="sign")
    opened(table).write([changes(table, (1, 1, "anne"), (-1, 1, "ann"), (1, 1, "anne"))], 1)
    come = '{"sign":"+I","id":1,"name":"anne"}\n'
    assert path.read_text() == '{"sign":"-D","id":1,"name":"ann"}\n' + 2 * come


def test_null_and_empty_text_are_told_apart_if_asked_and_odd_texts_are_quoted(tmp_path: Path) -> None:
    odd = schema("a,b string, läge string")
    path = tmp_path / "größe 'n' \"q\".csv"
    table = table_of(path, odd, append_only=True, format="csv", csv__null_literal="NULL")
    table_rows = changes(table, (1, None, ""), (1, 'say "hi"', "two\nlines"), (1, "naïve 🙂", "a,b"))
    opened(table).write([table_rows], 1)
    assert path.read_text() == 'NULL,\n"say ""hi""","two\nlines"\nnaïve 🙂,"a,b"\n'


def test_names_with_signs_stand_quoted_in_the_first_line_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table = table_of(path, schema("a,b int"), append_only=True, format="csv", csv__write_header="true")
    for batch_id in (1, 2):
        opened(table).write([changes(table, (1, batch_id))], batch_id)
    assert path.read_text() == '"a,b"\n1\n2\n'


def test_text_of_one_column_is_written_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    table = table_of(path, schema("line string"), append_only=True, format="raw")
    opened(table).write([changes(table, (1, 'a "b", c'), (1, None), (1, "ü"))], 1)
    assert path.read_text() == 'a "b", c\n\nü\n'


def test_a_batch_larger_than_memory_waits_in_a_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "HELD_BYTES", 100)
    path = tmp_path / "rows.csv"
    table = table_of(path, ROWS, append_only=True, format="csv")
    opened(table).write([changes(table, *((1, number, "x" * 10) for number in range(1000)))], 1)
    assert path.read_text() == "".join(f"{number},{'x' * 10}\n" for number in range(1000))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("harm", ["shortened", "removed"])
@pytest.mark.parametrize("when", ["at the start", "while it runs"])
def test_a_file_that_somebody_shortened_or_removed_is_an_error(tmp_path: Path, harm: str, when: str) -> None:
    path = tmp_path / "rows.csv"
    table = table_of(path, ROWS, append_only=True, format="csv")
    sink = opened(table)
    sink.write([changes(table, (1, 1, "ann"))], 1)
    path.write_text("1") if harm == "shortened" else path.unlink()
    with pytest.raises(SinkError) as caught:
        opened(table) if when == "at the start" else sink.write([changes(table, (1, 2, "bob"))], 2)
    there = "it has 1" if harm == "shortened" else "it is gone"
    assert caught.value.message == f"'{path}' is shorter than this pipeline left it"
    assert caught.value.detail == f"It had 6 bytes with batch 1, and {there}."
    assert "remove the note .rows.csv.headwater beside it" in caught.value.hint
    path.unlink(missing_ok=True)
    (tmp_path / ".rows.csv.headwater").unlink()
    opened(table).write([changes(table, (1, 2, "bob"))], 2)
    assert path.read_text() == "2,bob\n"


def test_who_follows_the_file_sees_whole_batches(tmp_path: Path) -> None:
    # Batches of 1024 bytes never cross the end of a page, within which the system shows a write at once.
    path = tmp_path / "rows.csv"
    table = table_of(path, schema("text string"), append_only=True, format="csv")
    sink = opened(table)
    seen: list[int] = []
    done = threading.Event()

    def follow() -> None:
        with path.open("rb") as file:
            while not done.is_set():
                file.seek(0, 2)
                seen.append(file.tell())

    follower = threading.Thread(target=follow)
    follower.start()
    wait_for(lambda: bool(seen))
    for batch_id in range(1, 51):
        sink.write([changes(table, *[(1, "x" * 63)] * 16)], batch_id)
    wait_for(lambda: seen[-1] == 50 * 1024)
    done.set()
    follower.join()
    assert path.stat().st_size == 50 * 1024
    assert {size % 1024 for size in seen} == {0}
