"""Data folders of servers, made once and kept in the cache: to copy one takes a tenth of the time."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from headwater.services.java import cache_folder
from headwater.services.postgres_files import Owner

PERSONAL = ("auto.cnf",)
"""What no two servers may share: the name under which they know each other."""


def kept_place(command: Sequence[str], said: str, environ: Mapping[str, str]) -> Path:
    """Where a folder is kept that this command made, and no other."""
    told = hashlib.sha256("\0".join([*command, said]).encode()).hexdigest()[:12]
    return cache_folder(environ) / "data" / f"{Path(command[0]).name}-{told}"


def keep(made: Path, place: Path) -> None:
    """Keep a copy of a folder that was just made and that nobody uses yet.

    A cache that cannot be written is a start that takes longer the next time, too, not one that fails.
    """
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            copied = Path(folder) / "data"
            shutil.copytree(made, copied, ignore=shutil.ignore_patterns(*PERSONAL))
            # Who was first has put it there; a folder is replaced only by itself.
            copied.rename(place)


def take(place: Path, folder: Path, owner: Owner) -> bool:
    """Copy what is kept into a folder that is not there yet, for an owner; False if nothing is kept."""
    if not place.is_dir():
        return False
    shutil.copytree(place, folder)
    if owner.uid is not None and owner.gid is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner.uid, owner.gid)
    return True
