"""Data folders that are kept. Oracle: the files as they were made."""

from __future__ import annotations

from pathlib import Path

from headwater.services.postgres_files import Owner
from headwater.services.ready_data import keep, kept_place, take


def made(folder: Path) -> Path:
    """A folder as a server makes it."""
    (folder / "mysql").mkdir(parents=True)
    (folder / "mysql" / "user.ibd").write_bytes(b"rows")
    (folder / "auto.cnf").write_text("server-uuid=1")
    (folder / "server-key.pem").write_text("key")
    (folder / "server-key.pem").chmod(0o600)
    return folder


def test_what_was_kept_is_taken_without_what_is_personal(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "data" / "mysqld-1"
    assert not take(place, tmp_path / "early", Owner())
    keep(made(tmp_path / "first"), place)
    assert take(place, tmp_path / "second", Owner())
    found = {path.name for path in (tmp_path / "second").rglob("*")}
    assert found == {"mysql", "user.ibd", "server-key.pem"}
    assert (tmp_path / "second" / "server-key.pem").stat().st_mode & 0o777 == 0o600


def test_who_comes_second_changes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "data"
    keep(made(tmp_path / "first"), place)
    other = made(tmp_path / "other")
    (other / "mysql" / "user.ibd").write_bytes(b"more")
    keep(other, place)
    assert (place / "mysql" / "user.ibd").read_bytes() == b"rows"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "first", "other"]


def test_each_way_to_make_one_has_a_place_of_its_own(tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    places = [
        kept_place(["/a/mysqld", "--initialize"], "", cache),
        kept_place(["/b/mysqld", "--initialize"], "", cache),
        kept_place(["/a/mysqld", "--bootstrap"], "", cache),
        kept_place(["/a/mysqld", "--bootstrap"], "CREATE DATABASE mysql;", cache),
    ]
    assert len(set(places)) == 4
    assert all(place.parent == tmp_path / "headwater" / "data" for place in places)
