"""A chain of records on shared storage: numbered without gaps, each written once and whole, by one of those who try.

    chain = Chain(folder)
    chain.add(1, b"...")        # True
    chain.add(1, b"other")      # False: somebody has written it

That is all that is asked of the storage: to create a name that is not there, with all of its content or not at all. It is
what a file system does with a link and an object store with a conditional write; locks and renames are not needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from headwater.errors import StateError

_RECORD, _COPY = ".json", ".copy"


@dataclass(frozen=True)
class Chain:
    """The records in a folder; see the module."""

    folder: Path

    def is_there(self) -> bool:
        """True if somebody has begun it."""
        return self.last_copy() is not None or self.has(1)

    def has(self, number: int) -> bool:
        """True if a record is there."""
        return self._path(number, _RECORD).exists()

    def add(self, number: int, content: bytes) -> bool:
        """Write a record; False if it is there already, whoever wrote it."""
        return create(self._path(number, _RECORD), content)

    def read(self, number: int) -> bytes | None:
        """A record, None if it is not there."""
        try:
            return self._path(number, _RECORD).read_bytes()
        except FileNotFoundError:
            return None

    def after(self, number: int) -> Iterator[tuple[int, bytes]]:
        """The records that follow a number, up to the last."""
        while (content := self.read(number + 1)) is not None:
            number += 1
            yield number, content

    def put_copy(self, number: int, content: bytes) -> None:
        """Keep what all records up to a number amount to."""
        create(self._path(number, _COPY), content)

    def last_copy(self) -> tuple[int, Path] | None:
        """The newest of what was kept so, and the number it stands for."""
        found = max(self.folder.glob(f"*{_COPY}"), default=None)
        return None if found is None else (int(found.stem), found)

    def forget(self, upto: int, *, but: frozenset[int]) -> None:
        """Remove what a copy stands for, but for the records that hold a place which nobody may take again."""
        for path in self.folder.iterdir():
            number = int(path.stem) if path.stem.isdecimal() else upto + 1
            is_old = number <= upto if path.suffix == _RECORD else number < upto
            if is_old and (number not in but or path.suffix == _COPY):
                path.unlink(missing_ok=True)

    def _path(self, number: int, suffix: str) -> Path:
        return self.folder / f"{number:012d}{suffix}"


def create(path: Path, content: bytes) -> bool:
    """Make a file with all of its content, durably; False if there is one of that name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{token_hex(8)}")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return _linked(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _linked(unfinished: Path, path: Path) -> bool:
    try:
        os.link(unfinished, path)
    except FileExistsError:
        # Over a network the answer may be lost and the question asked again: then the link that is there is ours.
        if unfinished.stat().st_nlink < 2:
            return False
    except OSError as problem:
        raise StateError(
            f'the storage of "{path.parent}" cannot be shared',
            detail=f"A second name cannot be given to a file there: {problem.strerror or problem}.",
            hint="Use a file system that has hard links, such as NFS, CephFS or Lustre.",
        ) from problem
    sync_names(path.parent)
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that only one process writes, again and again; a reader sees all of one content or of the other."""
    unfinished = path.with_name(f"{path.name}.{token_hex(8)}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()


def sync_names(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
