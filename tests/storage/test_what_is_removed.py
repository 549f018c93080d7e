"""What is removed of a folder: what a pipeline made there, and nothing else. Oracle: the files as a test laid them."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from headwater.errors import SourceError
from headwater.log.store import LogWriter
from headwater.runtime.ends import open_ends
from headwater.runtime.facts import Silent
from headwater.runtime.holding import held_folder, marked
from headwater.runtime.progress import Progress
from headwater.storage.book import Overtaken
from headwater.storage.place import Desk, files_of, furnish
from headwater.tables import lookup


def laid(*paths: Path) -> list[Path]:
    """Files with nothing in them."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return list(paths)


def desk(folder: Path, turn: int) -> Path:
    """A desk at which the shared folder is worked on."""
    furnish(Desk(folder / f"desk-{turn}", folder / "shared", turn))
    return folder / f"desk-{turn}"


def test_a_relation_may_be_called_as_what_is_kept_beside_runs(tmp_path: Path) -> None:
    # On shared storage the folder of a turn may lie between a relation and its runs.
    homes = [tmp_path / name / turn for name in ("orders", lookup.FOLDER) for turn in ("", "t12")]
    runs = laid(*(home / "7-c.parquet" for home in homes))
    beside = laid(*(home / lookup.FOLDER / "7-c-1" / "0.order" for home in homes))
    lookup.forget_all(tmp_path)
    assert all(path.exists() for path in runs)
    assert not any(path.parent.parent.exists() for path in beside)


def test_whoever_stood_still_removes_nothing_of_those_who_came_after_him(tmp_path: Path) -> None:
    log = "log/a"
    mine, theirs = laid(*(tmp_path / "shared/state/orders" / f"t{turn}/7-0.parquet" for turn in (2, 3)))
    stems = [f"00000000000{turn}-t{turn}{rest}" for turn in (1, 2, 3, 11) for rest in ("", "-0", "-0abc-1")]
    laid(*(tmp_path / "shared" / log / f"{stem}.parquet" for stem in stems))
    place = desk(tmp_path, 2)
    with closing(Progress(place)) as progress:
        assert progress.leftovers() == [mine] and theirs.exists()
    with closing(LogWriter(place / log, notation="number")):
        left = {path.stem for path in (tmp_path / "shared" / log).glob("*.parquet")}
        assert left == {stem for stem in stems if "-t3" in stem or "-t11" in stem}


def test_on_one_machine_whatever_is_not_saved_is_a_leftover(tmp_path: Path) -> None:
    found = laid(*(tmp_path / "state" / name / "7-0.parquet" for name in ("orders", "t9")))
    with closing(Progress(tmp_path)) as progress:
        assert sorted(progress.leftovers()) == found


def test_of_a_shared_folder_only_what_drivers_before_us_have_put_there_goes(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    former, later, *others = laid(
        *(folder / name / "x" for name in ("work-t0", "compaction-t9", "work-mine", "compaction-t9b"))
    )
    assert sorted(marked(folder)) == sorted(path.parent for path in (former, later))
    with ExitStack() as held:
        assert held_folder(folder, held, Silent(), is_shared=True).work == folder / "work-t1"
        assert not former.exists() and all(path.exists() for path in (later, *others))


@dataclass(frozen=True)
class Declared:
    """What is asked of a declared table."""

    name: str
    anew: bool = False
    place: None = None


class Begun:
    """A source that begins, and one that does not; `made` is what is there of them."""

    def __init__(self, meanwhile: Any = None) -> None:
        self.made: list[str] = []
        self._meanwhile = meanwhile

    def open(self, tables: list[Any], context: Any) -> Any:
        if tables[0].name == "bad":
            if self._meanwhile is not None:
                self._meanwhile()
            raise SourceError("it is not there")
        laid(context.folder / "notes", files_of(context.folder) / "7.parquet")
        return SimpleNamespace(start=lambda _: self.made.append(tables[0].name), close=lambda: None)

    def forget(self, tables: list[Any], context: Any) -> None:
        assert (context.folder / "notes").exists()
        self.made.remove(tables[0].name)

    def opened(self, place: Path) -> None:
        """Both, by a driver whose desk goes with it."""
        tables = {
            name: SimpleNamespace(name=name, source=name, type=self, table=Declared(name))
            for name in ("good", "bad")
        }
        program = SimpleNamespace(settings=SimpleNamespace(name="p"), sinks=(), tables=tables)
        with ExitStack() as held:
            held.callback(shutil.rmtree, place)
            progress = held.enter_context(closing(Progress(place)))
            open_ends(cast(Any, program), progress, lambda _: None, kept=(), closing=held)


def test_what_began_is_undone_if_another_source_does_not_begin(tmp_path: Path) -> None:
    begun = Begun()
    with pytest.raises(SourceError):
        begun.opened(desk(tmp_path, 1))
    assert begun.made == [] and not list((tmp_path / "shared" / "log").iterdir())


def test_what_began_stays_if_another_driver_has_it_now(tmp_path: Path) -> None:
    with ExitStack() as others:
        begun = Begun(lambda: others.enter_context(closing(Progress(desk(tmp_path, 2)))))
        with pytest.raises(Overtaken):
            begun.opened(desk(tmp_path, 1))
    assert begun.made == ["good"] and list((tmp_path / "shared" / "log").iterdir())
