"""Where an area is drawn: in place under a cell, or, on a terminal, only when somebody looks."""

from __future__ import annotations

from uuid import uuid4

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from headwater.notebook.page import Bundle


class Screen:
    """The place of one area. A terminal cannot draw again above the prompt, so it is shown there on demand."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._in_place = hasattr(shell, "kernel")
        self._id = f"headwater-{uuid4()}"
        self._is_there = False
        self._last: Bundle | None = None

    def paint(self, picture: Bundle) -> None:
        """Draw, in the place of what was drawn before."""
        self._last = picture
        if self._in_place:
            show(picture, display_id=self._id, update=self._is_there)
            self._is_there = True

    def show(self) -> None:
        """Somebody looks now."""
        if not self._in_place and self._last is not None:
            show(self._last)


def show(picture: Bundle, **more: object) -> None:
    """Show something; `more` is for IPython."""
    display(picture, raw=True, **more)  # type: ignore[no-untyped-call]  # IPython does not type it
