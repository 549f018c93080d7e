"""Headwater keeps SQL results true while the database underneath them changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """`%load_ext headwater`: the magics `%%headwater` and `%headwater`."""
    from headwater.notebook.magics import load

    load(ipython)
