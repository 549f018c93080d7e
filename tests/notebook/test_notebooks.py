"""The notebooks of the docs as they are handed out.

Oracle: the format of notebooks.
"""

from __future__ import annotations

import nbformat
import pytest

from tests.notebook.executed import NOTEBOOKS

NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def test_there_is_one_for_the_lab_and_one_for_the_claims() -> None:
    assert NAMES == ["claims", "lab"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_kept_without_what_it_showed(name: str) -> None:
    read = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)  # type: ignore[no-untyped-call]
    nbformat.validate(read)
    code = [cell for cell in read.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)
