"""The names of pipelines in a session. Oracle: the folder in which State is kept, written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SqlError
from headwater.runtime.facts import Silent
from headwater.runtime.interactive import Interactive
from headwater.runtime.session import LocalSession


@pytest.mark.parametrize(
    "name",
    [
        "../applications/shop",
        "/tmp/elsewhere",
        "a/b",
        "..",
        ".",
        "a/",
        "a\0b",
        "a\nb",
        " ",
        "x" * 201,
        "ø" * 101,
    ],
)
def test_a_name_that_no_folder_here_can_have_is_refused(name: str, tmp_path: Path) -> None:
    session = LocalSession(Interactive(tmp_path))
    with pytest.raises(SqlError, match="cannot be the name of a pipeline"):
        session.run(f"SET 'pipeline.name' = '{name}'", "sql", listener=Silent())


def test_a_plain_name_is_taken(tmp_path: Path) -> None:
    session = LocalSession(Interactive(tmp_path))
    session.run("SET 'pipeline.name' = 'my shop.1'", "sql", listener=Silent())
