"""Books on shared storage: what one driver has written the next one has, and nobody writes out of his turn.

Oracle: the same statements in a SQLite file of one machine.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from headwater.errors import StateError
from headwater.storage import book
from headwater.storage.book import Overtaken, chain_of, connect, has_book, settle
from headwater.storage.place import Desk, desk_of, files_of, furnish, own_mark, remove

TABLES = """
CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, number REAL);
"""
FILE = "t.db"


def desk(folder: Path, turn: int, name: str | None = None) -> Path:
    """A desk at which the shared folder is worked on."""
    made = folder / (name or f"desk-{turn}")
    furnish(Desk(made, folder / "shared", turn))
    return made


def opened(folder: Path) -> sqlite3.Connection:
    connection = connect(folder / FILE)
    connection.executescript(TABLES)
    settle(connection)
    return connection


def rows(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT * FROM t ORDER BY id").fetchall()


def said(connection: sqlite3.Connection) -> None:
    """Some transactions: by itself, together, undone, many at once."""
    connection.execute("INSERT INTO t (name, number) VALUES (?, ?)", ("it's", 1.1234567890123456))
    with connection:
        connection.execute("INSERT INTO t (name) VALUES (NULL)")
        connection.execute("UPDATE t SET name = 'b' WHERE id = ?", (2,))
    with pytest.raises(ZeroDivisionError), connection:
        connection.execute("INSERT INTO t (name) VALUES ('gone')")
        raise ZeroDivisionError
    connection.executemany("INSERT INTO t (name, number) VALUES (?, ?)", [("ü", 2), ("d", -1e300)])
    connection.commit()
    connection.execute("DELETE FROM t WHERE name = 'd'")
    connection.commit()


def test_the_next_driver_finds_what_the_one_before_has_written(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    oracle = opened(plain)
    said(oracle)
    first = opened(desk(tmp_path, 1))
    said(first)
    assert rows(first) == rows(oracle)
    # Nothing is closed: it has died.
    second = opened(desk(tmp_path, 2))
    assert rows(second) == rows(oracle)
    for one in (second, oracle):
        one.execute("INSERT INTO t (name) VALUES ('next')")
        one.commit()
    assert rows(opened(desk(tmp_path, 3))) == rows(oracle)


def test_who_was_overtaken_writes_nothing_more(tmp_path: Path) -> None:
    first = opened(desk(tmp_path, 1))
    first.execute("INSERT INTO t (name) VALUES ('a')")
    second = opened(desk(tmp_path, 2))
    with pytest.raises(Overtaken) as told, first:
        first.execute("INSERT INTO t (name) VALUES ('late')")
    assert "has taken over" in told.value.message
    with pytest.raises(Overtaken):
        first.execute("INSERT INTO t (name) VALUES ('late')")
    second.execute("INSERT INTO t (name) VALUES ('b')")
    assert [name for _, name, _ in rows(second)] == ["a", "b"]
    assert rows(opened(desk(tmp_path, 3))) == rows(second)
    # It cannot begin again either.
    with pytest.raises(Overtaken):
        opened(desk(tmp_path, 1, "again"))


def test_who_is_overtaken_in_the_middle_of_a_transaction_has_not_done_it(tmp_path: Path) -> None:
    first = opened(desk(tmp_path, 1))
    with pytest.raises(Overtaken), first:
        first.execute("INSERT INTO t (name) VALUES ('a')")
        second = opened(desk(tmp_path, 2))
    assert rows(first) == rows(second) == []


def test_two_processes_of_a_driver_write_one_book_and_one_that_dies_between_record_and_file_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = desk(tmp_path, 1)
    capture, driver = opened(place), opened(place)
    capture.execute("INSERT INTO t (name) VALUES ('a')")
    driver.execute("INSERT INTO t (name) VALUES ('b')")
    chain = chain_of(tmp_path / "shared" / FILE)
    number = max(number for number, _ in chain.after(0))
    # The record of a third one is there, and he is not any more.
    statement = ["INSERT INTO t (name) VALUES (?)", ["c"]]
    record = {"form": 1, "turn": 1, "new": False, "said": [statement]}
    assert chain.add(number + 1, json.dumps(record).encode())
    driver.execute("INSERT INTO t (name) VALUES ('d')")
    assert [name for _, name, _ in rows(capture)] == ["a", "b", "c", "d"]
    assert rows(opened(desk(tmp_path, 2))) == rows(driver)


def test_old_records_go_and_what_they_said_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "RECORDS_PER_COPY", 10)
    first = opened(desk(tmp_path, 1))
    for number in range(45):
        first.execute("INSERT INTO t (name) VALUES (?)", (str(number),))
    chain = chain_of(tmp_path / "shared" / FILE)
    # The record by which the turn was taken holds its place for ever; from the copy before the last on all are there.
    assert [n for n in range(1, 60) if chain.has(n)] == [1, *range(31, 47)]
    second = opened(desk(tmp_path, 2))
    assert rows(second) == rows(first) and len(rows(second)) == 45
    for number in range(45):
        second.execute("INSERT INTO t (name) VALUES (?)", (str(number),))
    assert chain.has(47) and not chain.has(50)
    with pytest.raises(Overtaken):
        first.execute("INSERT INTO t (name) VALUES ('late')")


def test_one_who_only_looks_on_changes_nothing_and_stops_nobody(tmp_path: Path) -> None:
    first = opened(desk(tmp_path, 1))
    first.execute("INSERT INTO t (name) VALUES ('a')")
    looking = opened(desk(tmp_path, 0))
    assert rows(looking) == rows(first)
    looking.execute("INSERT INTO t (name) VALUES ('mine')")
    first.execute("INSERT INTO t (name) VALUES ('b')")
    assert [name for _, name, _ in rows(opened(desk(tmp_path, 2)))] == ["a", "b"]


def test_records_of_another_form_are_refused(tmp_path: Path) -> None:
    chain_of(tmp_path / "shared" / FILE).add(1, json.dumps({"form": 2}).encode())
    with pytest.raises(StateError) as told:
        opened(desk(tmp_path, 1))
    assert "form 2" in told.value.message


def test_files_lie_where_all_machines_find_them_and_names_are_given_once(tmp_path: Path) -> None:
    place = desk(tmp_path, 7)
    assert files_of(place / "log" / "a") == tmp_path / "shared" / "log" / "a"
    assert (tmp_path / "shared" / "log" / "a").is_dir()
    assert own_mark(place / "log") == "-t7" and own_mark(tmp_path) == ""
    assert files_of(tmp_path) == tmp_path and desk_of(tmp_path) is None
    assert not has_book(place / FILE)
    opened(place)
    assert has_book(place / FILE) and has_book(desk(tmp_path, 8) / FILE)
    remove(place / "log")
    assert not (tmp_path / "shared" / "log").exists()


def test_a_statement_that_failed_is_not_said_to_the_next_driver(tmp_path: Path) -> None:
    first = opened(desk(tmp_path, 1))
    with first:
        first.execute("INSERT INTO t (name) VALUES ('a')")
        with pytest.raises(sqlite3.IntegrityError):
            first.execute("INSERT INTO t (id, name) VALUES (1, 'twice')")
        first.execute("INSERT INTO t (name) VALUES ('b')")
    assert rows(opened(desk(tmp_path, 2))) == rows(first) == [(1, "a", None), (2, "b", None)]


def test_a_note_that_somebody_else_has_laid_above_a_folder_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = desk(tmp_path, 1)
    folder = place / "state"
    folder.mkdir()
    assert desk_of(folder) is not None
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: place.stat().st_uid + 1)
        assert desk_of(folder) is None and files_of(folder) == folder
    (place / "headwater-desk.json").rename(tmp_path / "elsewhere.json")
    (place / "headwater-desk.json").symlink_to(tmp_path / "elsewhere.json")
    assert desk_of(folder) is None


def test_a_copy_of_a_book_that_is_written_ahead_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "RECORDS_PER_COPY", 5)
    for turn in (1, 2, 3):
        connection = connect(desk(tmp_path, turn) / FILE)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(TABLES)
        settle(connection)
        for _ in range(12):
            connection.execute("INSERT INTO t (name) VALUES ('a')")
    assert [number for number, _, _ in rows(opened(desk(tmp_path, 4)))] == list(range(1, 37))


def test_what_no_record_would_tell_is_not_done(tmp_path: Path) -> None:
    first = opened(desk(tmp_path, 1))
    for statement in (
        "REPLACE INTO t VALUES (1, 'a', 1)",
        "CREATE TABLE u (id)",
        "WITH a AS (SELECT 1) DELETE FROM t",
    ):
        with pytest.raises(AssertionError):
            first.execute(statement)
