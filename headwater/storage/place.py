"""Where the files of a folder lie: in it, or, if it is the desk of one who works on shared storage, over there.

A desk is a folder on the machine of the driver. It has the SQLite files, which need a disk of their own and are made
again wherever the driver starts; whatever executors read or write lies at the same place below the shared folder.

    desk/log/1f3a/manifest.sqlite        /mnt/shop/log/1f3a/000000000001-7.parquet
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

_NOTE = "headwater-desk.json"

_MARKED = re.compile(r"(?:^|-)t(\d+)(?=[-.]|$)")
"""A mark (`own_mark`) in the name of a file, or as the name of a folder."""


@dataclass(frozen=True)
class Desk:
    """Whose turn it is at a desk, and what it works on."""

    folder: Path
    shared: Path
    turn: int
    """0 for one who only looks on."""

    def counterpart(self, path: Path) -> Path:
        """The place on shared storage that belongs to a place at the desk."""
        return self.shared / path.relative_to(self.folder)


def furnish(desk: Desk) -> None:
    """Note at a desk what it is for, so that other processes of this machine find it."""
    desk.folder.mkdir(parents=True, exist_ok=True)
    (desk.folder / _NOTE).write_text(json.dumps({"shared": str(desk.shared), "turn": desk.turn}))


def desk_of(folder: Path) -> Desk | None:
    """The desk that a folder stands at; None if it is an ordinary one."""
    for above in (folder, *folder.parents):
        note = above / _NOTE
        if _is_ours(note):
            said = json.loads(note.read_text())
            return Desk(above, Path(said["shared"]), int(said["turn"]))
    return None


def _is_ours(note: Path) -> bool:
    """True if a note is there; what somebody else has laid above a folder of ours, as anybody may in /tmp, is none."""
    try:
        found = note.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def files_of(folder: Path) -> Path:
    """Where the files of a folder lie that others read; it is there."""
    desk = desk_of(folder)
    place = folder if desk is None else desk.counterpart(folder)
    place.mkdir(parents=True, exist_ok=True)
    return place


def own_mark(folder: Path) -> str:
    """What the names of our files have in them, so that nobody with another turn gives them; none on one machine."""
    desk = desk_of(folder)
    return "" if desk is None else f"-t{desk.turn}"


def is_of_later_turn(folder: Path, name: str) -> bool:
    """True if a name was given by somebody whose turn came after that of the desk at which a folder stands.

    Whoever stood still may remove what is his own, or older, and was never named; of what came after he knows nothing.
    """
    desk, found = desk_of(folder), _MARKED.search(name)
    return desk is not None and found is not None and int(found[1]) > desk.turn


def remove(folder: Path) -> None:
    """Remove a folder, and what belongs to it on shared storage."""
    desk = desk_of(folder)
    if desk is not None:
        shutil.rmtree(desk.counterpart(folder), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
