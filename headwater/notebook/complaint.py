"""An error as a cell shows it: message, place, detail and hint, and no trace of Python."""

from __future__ import annotations

from headwater.cli.complain import error_text
from headwater.errors import HeadwaterError

RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
WORDS = ("error:", "detail:", "hint:")


class CellError(Exception):
    """What went wrong in a cell; raising it ends the cell, and a run of the whole notebook."""

    def __init__(self, problem: HeadwaterError) -> None:
        super().__init__(problem.message)
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows in place of a traceback."""
        return [_coloured(line) for line in error_text(self.problem).splitlines()]


def _coloured(line: str) -> str:
    word = next((word for word in WORDS if line.startswith(word)), None)
    if word is not None:
        return f"{BOLD}{RED if word == 'error:' else ''}{word}{PLAIN}{line.removeprefix(word)}"
    # The line of carets under the place.
    return f"{RED}{line}{PLAIN}" if line.lstrip(" |").startswith("^") else line
