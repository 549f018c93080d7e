"""A state folder notes in which form it is written, and one of another form is left alone.

Oracle: the bytes of the files before and after, and what was written into them.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.errors import StateError
from headwater.log.manifest import FILE, Manifest
from headwater.log.positions import Cut
from headwater.log.state_format import FORMAT
from headwater.runtime.progress import Progress, check_saved
from headwater.sources.kafka.ledger import Entry, Ledger


@dataclass(frozen=True)
class Kept:
    """A file of a state folder: where it notes its format, how something is written to it and read again."""

    file: str
    table: str
    write: Callable[[Path], None]
    read: Callable[[Path], object]


def write_progress(folder: Path) -> None:
    progress = Progress(folder)
    progress.plan(7, Cut())
    progress.close()


def read_progress(folder: Path) -> object:
    progress = Progress(folder)
    progress.close()
    return progress.planned_batch


def write_log(folder: Path) -> None:
    manifest = Manifest(folder)
    manifest.remember("last", "7")
    manifest.close()


def read_log(folder: Path) -> object:
    manifest = Manifest(folder)
    with closing(manifest):
        return manifest.number("last")


def write_ledger(folder: Path) -> None:
    ledger = Ledger(folder)
    ledger.add(Entry(7, {}, {}))
    ledger.close()


def read_ledger(folder: Path) -> object:
    ledger = Ledger(folder)
    with closing(ledger):
        last = ledger.last()
        return last and last.position


ALL = pytest.mark.parametrize(
    "kept",
    [
        pytest.param(Kept("progress.db", "meta", write_progress, read_progress), id="progress"),
        pytest.param(Kept(FILE, "about", write_log, read_log), id="log"),
        pytest.param(Kept("places.db", "about", write_ledger, read_ledger), id="ledger"),
    ],
)


def note(folder: Path, kept: Kept, format: str | None) -> None:
    """Write another number into a file, or none."""
    column = "key" if kept.file == FILE else "name"
    with closing(sqlite3.connect(folder / kept.file)) as connection, connection:
        if format is None:
            connection.execute(f"DELETE FROM {kept.table} WHERE {column} = 'format'")
        else:
            connection.execute(f"UPDATE {kept.table} SET value = ? WHERE {column} = 'format'", (format,))


def noted(folder: Path, kept: Kept) -> list[str]:
    with closing(sqlite3.connect(folder / kept.file)) as connection:
        rows = connection.execute(f"SELECT * FROM {kept.table}").fetchall()
    return [value for name, value in rows if name == "format"]


@ALL
def test_a_file_notes_its_format(tmp_path: Path, kept: Kept) -> None:
    kept.write(tmp_path)
    assert noted(tmp_path, kept) == [str(FORMAT)]
    assert kept.read(tmp_path) == 7


@ALL
def test_a_file_from_before_there_were_numbers_goes_on(tmp_path: Path, kept: Kept) -> None:
    kept.write(tmp_path)
    note(tmp_path, kept, None)
    assert kept.read(tmp_path) == 7
    assert noted(tmp_path, kept) == [str(FORMAT)]


def test_a_ledger_that_has_no_place_for_a_number_goes_on(tmp_path: Path) -> None:
    write_ledger(tmp_path)
    with closing(sqlite3.connect(tmp_path / "places.db")) as connection, connection:
        connection.execute("DROP TABLE about")
    assert read_ledger(tmp_path) == 7


@ALL
@pytest.mark.parametrize("format", ["2", "99", "0", "-1", "", "one"])
def test_a_file_of_another_format_is_refused_and_left_alone(tmp_path: Path, kept: Kept, format: str) -> None:
    kept.write(tmp_path)
    note(tmp_path, kept, format)
    before = (tmp_path / kept.file).read_bytes()
    with pytest.raises(StateError) as raised:
        kept.read(tmp_path)
    error = raised.value
    newer = format in ("2", "99")
    assert (
        "was written by a newer version" if newer else "which this version does not know"
    ) in error.message
    assert format in error.message and str(tmp_path / kept.file) in error.detail
    assert "version that wrote it" in error.hint
    assert (tmp_path / kept.file).read_bytes() == before
    assert noted(tmp_path, kept) == [format]


@ALL
def test_a_number_that_a_crash_left_beside_the_file_counts(tmp_path: Path, kept: Kept) -> None:
    whole, crashed = tmp_path / "one", tmp_path / "two"
    whole.mkdir()
    crashed.mkdir()
    kept.write(whole)
    with closing(sqlite3.connect(whole / kept.file)) as connection:
        column = "key" if kept.file == FILE else "name"
        connection.execute(f"UPDATE {kept.table} SET value = '99' WHERE {column} = 'format'")
        connection.commit()
        for part in whole.iterdir():
            shutil.copy(part, crashed / part.name)
    beside = crashed / f"{kept.file}-wal"
    before = beside.read_bytes()
    assert before, "the number is not in the file itself"
    with pytest.raises(StateError, match="newer version"):
        kept.read(crashed)
    assert beside.read_bytes() == before


def test_a_folder_is_asked_before_anything_is_made(tmp_path: Path) -> None:
    check_saved(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "progress.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(StateError, match="cannot be read"):
        check_saved(tmp_path)
