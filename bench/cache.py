"""Where peers live: folders of the cache, each made whole or not at all; they are never dependencies of the project."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from headwater.services.ivy import download
from headwater.services.java import cache_folder
from headwater.services.packages import Package


def environment(name: str, requirements: Sequence[str]) -> Path:
    """A Python environment with some packages and all they need."""
    folder = _place(name)
    if not (folder / "made").exists():
        venv.create(folder, with_pip=True, clear=True)
        _pip(folder, ["install", "--quiet", *requirements])
        (folder / "made").touch()
    return folder


def package_files(name: str, requirement: str) -> Path:
    """The files of one package without what it needs: the place where an environment keeps its packages."""
    folder = _place(name)
    if not (folder / "made").exists():
        venv.create(folder, with_pip=True, clear=True)
        _pip(folder, ["install", "--quiet", "--no-deps", requirement])
        (folder / "made").touch()
    return next((folder / "lib").glob("python*/site-packages"))


def jars(name: str, wanted: Sequence[str]) -> Path:
    """A folder with jars of the public Java repository, named `group:name:version`; other jars, another folder."""
    folder = _place(f"{name}-{hashlib.sha256(' '.join(wanted).encode()).hexdigest()[:12]}")
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        named = [each.split(":") for each in wanted]
        packages = [Package(group, jar, version, "", "jar", "") for group, jar, version in named]
        download(packages, folder / "fetched", done=lambda count: None).rename(folder / "jars")
        (folder / "made").touch()
    return folder / "jars"


def _place(name: str) -> Path:
    return cache_folder(os.environ) / "bench" / name


def _pip(folder: Path, words: Sequence[str]) -> None:
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", *words], check=True)
