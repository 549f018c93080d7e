"""Who may work on the folder of a pipeline: on one machine by a lock, on storage that several share by turns.

On shared storage State and log lie in the folder itself, where executors read and write them. The SQLite files lie at a
desk on this machine; what they say stands in the folder too, record by record (`storage.book`).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import StateError
from headwater.runtime.facts import Listener
from headwater.runtime.keeping import is_saved
from headwater.runtime.program import Program
from headwater.runtime.progress import lock
from headwater.sources.base import waits
from headwater.storage.place import Desk, furnish, is_of_later_turn
from headwater.storage.turns import is_shared as is_shared_folder
from headwater.storage.turns import take_turn

WORK = "work"

_MARKED = re.compile(rf"(?:{WORK}|compaction)-t\d+")

SHARED_SOURCES = ("postgres-cdc", "mysql-cdc", "kafka", "upsert-kafka", "datagen")
"""The connectors whose sources keep all they note on shared storage."""


@dataclass(frozen=True)
class Hold:
    """A folder that is ours for now."""

    books: Path
    """Where progress and sources keep their notes."""
    work: Path
    """Where what need not stay is put, and executors find it."""
    is_shared: bool = False
    check: Callable[[], None] = lambda: None
    """Raises if somebody else has taken over."""


def held_folder(folder: Path, closing: ExitStack, listener: Listener, *, is_shared: bool = False) -> Hold:
    """Hold a folder until `closing` is closed; one that was shared once is shared from then on."""
    if not is_shared and not is_shared_folder(folder):
        lock(folder, closing)
        return Hold(folder, folder / WORK)
    if is_saved(folder):
        raise StateError(
            f'the state in "{folder}" was made by a driver that did not share it',
            detail="Its progress stands in one file there, which two machines cannot share.",
            hint="Run it without --master, or begin with an empty folder.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    turn = take_turn(folder, closing, lambda trouble: listener.report(waits(trouble)))
    desk = Path(tempfile.mkdtemp(prefix="headwater-desk-"))
    closing.callback(shutil.rmtree, desk, ignore_errors=True)
    furnish(Desk(desk, folder, turn.number))
    for former in (path for path in marked(folder) if not is_of_later_turn(desk, path.name)):
        shutil.rmtree(former, ignore_errors=True)
    return Hold(desk, folder / f"{WORK}-t{turn.number}", is_shared=True, check=turn.check)


def marked(folder: Path) -> list[Path]:
    """What drivers have put into a shared folder that need not stay."""
    return [path for path in folder.iterdir() if _MARKED.fullmatch(path.name)]


@contextmanager
def looked_at(folder: Path) -> Iterator[Path]:
    """Where what is saved in a folder can be read, whoever works on it; nothing is changed."""
    if not is_shared_folder(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="headwater-desk-") as desk:
        furnish(Desk(Path(desk), folder, 0))
        yield Path(desk)


def check_sources(program: Program, hold: Hold) -> None:
    """Refuse a source that would leave its notes on one machine."""
    for table in program.tables.values() if hold.is_shared else ():
        if table.connector not in SHARED_SOURCES and table.connector != "headwater":
            raise StateError(
                f"table '{table.name}' cannot be read where state is on shared storage",
                detail=f"The connector '{table.connector}' keeps what it has read on one machine."
                f" Those that share it are {', '.join(SHARED_SOURCES)}.",
                hint="Run the pipeline on one machine, without --master, and in a folder that was never shared.",
                place=table.table.place,
            )
