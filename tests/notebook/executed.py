"""A notebook of the docs after all its cells were run, in a kernel of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
CELL_SECONDS = 400


class Executed:
    """A notebook after all its cells were run."""

    def __init__(self, name: str, folder: Path) -> None:
        self._cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)  # type: ignore[no-untyped-call]
        client = NotebookClient(
            self._cells,
            timeout=CELL_SECONDS,
            startup_timeout=CELL_SECONDS,
            # What a cell showed may come after the word that it is done.
            iopub_timeout=CELL_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()

    def outputs(self, words: str) -> list[Any]:
        """What is below the one cell in which these words stand."""
        (cell,) = [c for c in self._cells.cells if c.cell_type == "code" and words in c.source]
        return [output for output in cell.outputs if output.output_type != "stream"]

    def text(self, words: str) -> str:
        """The same, as text."""
        return "\n".join(output["data"]["text/plain"] for output in self.outputs(words))


def tables(text: str) -> list[list[list[str]]]:
    """The tables in a text, each as its rows."""
    found: list[list[list[str]]] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.fullmatch(r"-+(  -+)*", line):
            found.append([])
            widths = [part.span() for part in re.finditer(r"-+", line)]
            for row in lines[at + 1 :]:
                if re.match(r"[\d,]+ (of [\d,]+ )?rows?$", row) or row.startswith(("sink", "--")):
                    break
                found[-1].append([row[begin:end].strip() for begin, end in widths])
    return found
