"""What MySQL and MariaDB have in common: their settings, their users, how a server of either is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pymysql

from headwater.errors import ServiceError
from headwater.services.ports import HOST
from headwater.services.postgres_files import Owner
from headwater.services.ready_data import keep, kept_place, take

USER, PASSWORD, DATABASE = "headwater", "headwater", "headwater"
"""For a server on this machine, and no secret."""

ANSWER_SECONDS = 2
MAKE_SECONDS = 120.0

SETTINGS: Mapping[str, str] = {
    "bind-address": HOST,
    "server-id": "1",
    "log-bin": "binlog",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    # Names of clients are not looked up: that takes long on machines without a name service.
    "skip-name-resolve": "ON",
    # No socket in the file system: its path may not be long.
    "socket": "",
    "innodb-buffer-pool-size": "64M",
    "performance-schema": "OFF",
}
"""What differs from a server as it comes: a binary log with whole rows, and less memory."""

SETUP = (
    f"CREATE DATABASE IF NOT EXISTS {DATABASE}",
    f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'",
    f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION",
)
"""Run at every start; harmless when repeated."""


def write_setup(folder: Path, statements: tuple[str, ...] = SETUP) -> Path:
    """A file with statements for a server's start, one a line."""
    path = folder / "setup.sql"
    path.write_text("".join(f"{statement};\n" for statement in statements))
    return path


def flags(settings: Mapping[str, str]) -> list[str]:
    """Settings as a command line takes them."""
    return [f"--{name}={value}" for name, value in settings.items()]


def answers_query(port: int) -> bool:
    """True if the server lets our user in and answers."""
    try:
        connection = pymysql.connect(
            host=HOST, port=port, user=USER, password=PASSWORD, connect_timeout=ANSWER_SECONDS
        )
    except pymysql.err.OperationalError:
        return False
    with connection, connection.cursor() as cursor:
        return bool(cursor.execute("SELECT 1"))


def make_data(
    folder: Path, command: list[str], *, owner: Owner, environ: Mapping[str, str], said: str = ""
) -> None:
    """Make the data folder once, by a command that takes `--datadir` and reads `said`; a half-made one is made anew."""
    data, making = folder / "data", folder / "making"
    if data.exists():
        return
    shutil.rmtree(making, ignore_errors=True)
    place = kept_place(command, said, os.environ)
    try:
        if not take(place, making, owner):
            _make(making, command, owner=owner, environ=environ, said=said)
            keep(making, place)
        making.rename(data)
    except OSError as problem:
        shutil.rmtree(making, ignore_errors=True)
        raise ServiceError(
            f"the data folder of {Path(command[0]).name} could not be made",
            detail=str(problem),
            hint=f"Is there room, and may {folder} be written to?",
        ) from problem


def _make(making: Path, command: list[str], *, owner: Owner, environ: Mapping[str, str], said: str) -> None:
    making.mkdir()
    if owner.uid is not None and owner.gid is not None:
        os.chown(making, owner.uid, owner.gid)
    made = subprocess.run(
        [*command, f"--datadir={making}"],
        input=said,
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, **environ},
        timeout=MAKE_SECONDS,
        **owner.popen(),
    )
    if made.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise ServiceError(
            f"{Path(command[0]).name} could not make its data folder",
            detail=made.stderr.strip()[-800:],
            hint=f"Is there room, and may {making.parent} be written to?",
        )
