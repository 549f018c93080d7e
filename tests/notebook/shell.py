"""A shell of IPython in this process, in which cells are run as a terminal would run them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output
from traitlets.config import Config

from headwater.notebook.complaint import CellError
from headwater.notebook.magics import Notebook


@dataclass(frozen=True)
class Ran:
    """What a cell showed, and how it failed."""

    shown: tuple[RichOutput, ...]
    printed: str
    error: BaseException | None

    @property
    def text(self) -> str:
        """Everything as text."""
        return "\n".join([self.printed, *(str(one.data["text/plain"]) for one in self.shown)])

    @property
    def html(self) -> str:
        """Everything as HTML."""
        return "\n".join(str(one.data["text/html"]) for one in self.shown)

    @property
    def complaint(self) -> str:
        """The lines in place of a traceback, without their colours."""
        assert isinstance(self.error, CellError), repr(self.error)
        lines = "\n".join(self.error._render_traceback_())
        for colour in ("\x1b[31m", "\x1b[1m", "\x1b[0m"):
            lines = lines.replace(colour, "")
        return lines


class Shell:
    """A shell that has the magic."""

    def __init__(self) -> None:
        self.ipython: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        self.notebook = Notebook(self.ipython)
        self.ipython.magics_manager.register_function(
            self.notebook.magic, magic_kind="line_cell", magic_name="headwater"
        )
        self.ipython.events.register("pre_run_cell", self.notebook.before_cell)

    def let(self, **variables: Any) -> None:
        """Set variables."""
        self.ipython.user_ns.update(variables)

    def run(self, text: str, cell_id: str | None = None) -> Ran:
        """Run a cell."""
        with capture_output() as captured:
            result = self.ipython.run_cell(text, store_history=True, cell_id=cell_id)
        shown = tuple(one for one in captured.outputs if "text/plain" in one.data)
        return Ran(shown, captured.stdout, result.error_in_exec or result.error_before_exec)
