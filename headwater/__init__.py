"""Headwater keeps SQL results true while the database underneath them changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from headwater.api import Headwater as Headwater
    from headwater.api import open as open
    from headwater.api import register as register
    from headwater.server.program import serve as serve

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`headwater.open`, `headwater.register`, `headwater.serve`; importing headwater alone needs no Spark."""
    if name in ("open", "register", "Headwater"):
        import headwater.api

        return getattr(headwater.api, name)
    if name == "serve":
        import headwater.server.program

        return headwater.server.program.serve
    raise AttributeError(f"module 'headwater' has no attribute {name!r}")


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """`%load_ext headwater`: the magics `%%headwater` and `%headwater`."""
    from headwater.notebook.magics import load

    load(ipython)
