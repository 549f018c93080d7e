"""Where on this machine an option points."""

from __future__ import annotations

import os
import re

from headwater.errors import OptionError, Place
from headwater.options import Secret


def local_path(option: str, text: str | Secret, *, connector: str, place: Place | None = None) -> str:
    """The absolute path that an option names, behind all links; relative ones begin in the working folder."""
    plain = text.reveal() if isinstance(text, Secret) else text
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", plain)
    if scheme is not None and scheme[1] != "file":
        raise OptionError(
            f"connector '{connector}' writes to this machine, and '{option}' begins with {scheme[1]}:",
            hint="Name a path of this machine; a mounted one is good too.",
            place=place,
        )
    local = re.sub(r"^file:(//(?=/))?", "", plain) if scheme is not None else plain
    if not local.strip() or "\0" in local:
        raise OptionError(f"option '{option}' names no path", hint="Name a file or a folder.", place=place)
    return os.path.realpath(local)
