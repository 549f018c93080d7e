"""Programs from packages of Debian and its kin, unpacked into a folder of ours and not installed.

The machine's own `apt-get` says what a package needs that is not here, and fetches it; nothing needs root.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from headwater.errors import ServiceError

Report = Callable[[str, int, int], None]
"""Hears the name of a set, how many steps are done, and of how many."""

DEBIAN_SETS = {
    # set: packages of which the first that exists is taken; their names differ from release to release
    "postgres-15": ("postgresql-15",),
    "mariadb": ("mariadb-server-core", "mariadb-server-core-10.5"),
    "libaio": ("libaio1", "libaio1t64"),
    "libnuma": ("libnuma1",),
    "chromium": ("chromium-headless-shell", "chromium"),
    "tmux": ("tmux",),
    "jq": ("jq",),
}


def fetch_debian(name: str, place: Path, *, report: Report) -> None:
    """Make the folder `place` with what a set's package brings, and with what that needs beyond this machine."""
    partial = place.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "tree").mkdir(parents=True)
    packages = _needed(name)
    total = 2 * len(packages)
    for done, package in enumerate(packages):
        report(name, done, total)
        _run(["apt-get", "download", "-qq", package], package, folder=partial)
    for done, archive in enumerate(sorted(partial.glob("*.deb"))):
        report(name, len(packages) + done, total)
        _run(["dpkg-deb", "--extract", str(archive), str(partial / "tree")], archive.name, folder=partial)
    (partial / "tree").rename(place)
    shutil.rmtree(partial)
    report(name, total, total)


def library_folders(tree: Path) -> list[Path]:
    """Where an unpacked package has its libraries."""
    return sorted(
        {path.parent for pattern in ("lib/**/*.so*", "usr/lib/**/*.so*") for path in tree.glob(pattern)}
    )


def _needed(name: str) -> list[str]:
    """The packages to unpack: the set's own and those it needs that are not installed."""
    said = ""
    for package in DEBIAN_SETS[name]:
        command = ["apt-get", "install", "--simulate", "--no-install-recommends", package]
        answer = _ask(command, package)
        said = (answer.stderr or answer.stdout).strip()
        if answer.returncode == 0:
            found = re.findall(r"^Inst (\S+)", answer.stdout, re.MULTILINE)
            # An installed one is unpacked all the same: a set is whole by itself.
            return found if package in found else [*found, package]
    raise _not_had(DEBIAN_SETS[name][0], said)


def _run(command: Sequence[str], package: str, *, folder: Path) -> None:
    answer = _ask(command, package, folder=folder)
    if answer.returncode != 0:
        raise _not_had(package, answer.stderr.strip())


def _ask(
    command: Sequence[str], package: str, *, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_ENVIRON)
    except FileNotFoundError:
        raise _not_had(package, f"There is no program '{command[0]}' here: this is no Debian.") from None


_ENVIRON = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}


def _not_had(package: str, said: str) -> ServiceError:
    return ServiceError(
        f"Debian package {package} cannot be had",
        detail=said[-400:],
        hint=f"Run apt-get update, or install {package} by hand.",
    )
