"""The Postgres behind the endpoint, when something went wrong with it.

Oracle: the files that are still there, and how often it was asked.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.schema import Schema
from headwater.server.postgres import shapes
from headwater.server.postgres.shapes import PREFIX, Shape, Shapes


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


def test_a_shape_that_cannot_be_made_now_is_not_tried_at_every_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def refused(connection: object, what: object, statements: object) -> bool:
        tried.append(what)
        return False

    monkeypatch.setattr(shapes, "_tried", refused)
    known = Shapes(tmp_path / "note")
    monkeypatch.setattr(Shapes, "_is_alive", True)
    monkeypatch.setattr(known, "_admin", object())
    relation = _Relation()
    for _ in range(3):
        known.follow([relation])
    assert tried == ["shop", Shape("shop", "totals", "view", Schema(()))]
    monkeypatch.setattr(shapes, "AGAIN_SECONDS", 0.0)
    known.follow([relation])
    assert len(tried) == 4


class _Relation:
    pipeline, name, kind, schema = "shop", "totals", "view", Schema(())
