"""Where a table of a lake lies: a folder of this machine."""

from __future__ import annotations

import hashlib
import os
import re

from headwater.errors import OptionError, Place
from headwater.options import Secret


def local_folder(option: str, text: str, *, connector: str, place: Place | None = None) -> str:
    """The absolute path that an option names, behind all links; relative ones begin in the working folder."""
    plain = text.reveal() if isinstance(text, Secret) else text
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", plain)
    if scheme is not None and scheme[1] != "file":
        raise OptionError(
            f"connector '{connector}' writes tables on this machine, and '{option}' begins with {scheme[1]}:",
            hint="Name a folder of this machine; a mounted one is good too.",
            place=place,
        )
    local = re.sub(r"^file:(//(?=/))?", "", plain) if scheme is not None else plain
    if not local.strip() or "\0" in local:
        raise OptionError(f"option '{option}' names no folder", hint="Name a folder.", place=place)
    return os.path.realpath(local)


def group_name(connector: str, where: str, *, hidden: bool) -> str:
    """One sink for each table: no transaction spans two of them."""
    return f"{connector}-{hashlib.sha256(where.encode()).hexdigest()[:12]}" if hidden else where
