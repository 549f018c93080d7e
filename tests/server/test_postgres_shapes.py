"""The Postgres behind the endpoint, when something went wrong with it. Oracle: the files that are still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.server.postgres.shapes import PREFIX, Shapes


@pytest.mark.parametrize("said", ["", ".", "/", "precious"])
def test_a_note_that_names_no_folder_of_ours_removes_nothing(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    note = tmp_path / "note"
    note.write_text(said if said != "/" else str(tmp_path))
    Shapes(note).close()
    assert (tmp_path / "precious" / "file").exists()
    assert not note.exists()


def test_the_folder_of_a_postgres_that_was_killed_goes(tmp_path: Path) -> None:
    folder = tmp_path / f"{PREFIX}x"
    folder.mkdir()
    note = tmp_path / "note"
    note.write_text(str(folder))
    Shapes(note).close()
    assert not folder.exists()
