"""Sets of packages, fetched once into a cache and kept there.

    fetch("kafka")  →  the folder with the jars of the broker and of Connect

A set is made beside its place and moved there when it is whole, so that a half-fetched one is never taken for
whole; of two processes that want the same set, one fetches and the other waits.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from headwater.errors import ServiceError
from headwater.services.alone import alone
from headwater.services.debian import DEBIAN_SETS, Report, fetch_debian
from headwater.services.ivy import download
from headwater.services.java import cache_folder
from headwater.services.packages import Package, PackageSet, package_set

ARCHIVES = ("tar.gz", "zip")
"""Kinds of packages that are unpacked; a jar stays as it is."""


UNUSED = {"mysql": ("bin/mysqld-debug", "lib/mecab", "lib/plugin/debug", "lib/*.a", "docs", "include", "man")}
"""What a set brings and nobody needs; MySQL's half is a server for people who look for bugs in it."""


def silent(name: str, done: int, total: int) -> None:
    """Tell nobody."""


def cached(name: str) -> Path | None:
    """The folder of a set that is here already."""
    folder = _place(name)
    return folder if folder.is_dir() else None


def fetch(name: str, report: Report = silent) -> Path:
    """The folder of a set, fetched first if it is not here yet."""
    place = _place(name)
    if place.is_dir():
        return place
    with alone(place.with_suffix(".lock")):
        if place.is_dir():
            return place
        try:
            if name in DEBIAN_SETS:
                fetch_debian(name, place, report=report)
            else:
                _make(package_set(name), place, report)
        except OSError as broken:
            raise ServiceError(
                f"the packages of {name} cannot be kept",
                detail=f"{place.parent}: {broken.strerror or broken}.",
                hint="Is there room? XDG_CACHE_HOME names another folder for them.",
            ) from broken
    return place


def _make(wanted: PackageSet, place: Path, report: Report) -> None:
    partial = place.with_suffix(".partial")
    whole, total = partial / "whole", 2 * len(wanted.packages)
    report(wanted.name, 0, total)
    files = download(wanted.packages, partial, done=lambda done: report(wanted.name, done, total))
    shutil.rmtree(whole, ignore_errors=True)
    whole.mkdir()
    for package in wanted.packages:
        _check(files / package.file, package)
        if package.kind in ARCHIVES:
            _unpack(files / package.file, whole)
        else:
            (files / package.file).rename(whole / package.file)
    for pattern in UNUSED.get(wanted.name, ()):
        for path in whole.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    whole.rename(place)
    shutil.rmtree(partial)
    report(wanted.name, total, total)


def _check(file: Path, package: Package) -> None:
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != package.sha256:
        file.unlink()
        raise ServiceError(
            f"package {package} is not the one we know",
            detail=f"Its SHA-256 is {found}, expected {package.sha256}.",
            hint="Fetch it again; if that does not help, something between here and the repository changes files.",
        )


def _unpack(archive: Path, folder: Path) -> None:
    shutil.unpack_archive(archive, folder)
    for program in folder.glob("bin/*"):
        program.chmod(0o755)


def _place(name: str) -> Path:
    edition = name if name in DEBIAN_SETS else package_set(name).edition
    return cache_folder(os.environ) / "artifacts" / edition
