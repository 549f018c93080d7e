"""A real MySQL 8.0 on 127.0.0.1, with a row binary log and global transaction ids.

with MysqlServer(Path("data")) as server:
    pymysql.connect(host="127.0.0.1", port=server.port, user=server.user, password=server.password)
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from headwater.errors import ServiceError
from headwater.services.artifacts import fetch
from headwater.services.debian import library_folders
from headwater.services.mysql_server import MysqlFamilyServer, Recipe

OWN_SETTINGS: Mapping[str, str] = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "mysqlx": "OFF",
    "default-authentication-plugin": "mysql_native_password",
    "secure-file-priv": "NULL",
}

LIBRARIES = {"libaio.so.1": "libaio", "libnuma.so.1": "libnuma"}
"""What the program needs of the machine, and the set that has it."""


class MysqlServer(MysqlFamilyServer):
    """One server; the folder keeps its data from one start to the next."""

    name = "mysql"

    def recipe(self) -> Recipe:
        """MySQL makes its data folder by itself."""
        base = fetch("mysql")
        program = base / "bin" / "mysqld"
        return Recipe(base, program, library_path(program), ["--initialize-insecure"], settings=OWN_SETTINGS)


def library_path(program: Path) -> dict[str, str]:
    """The environment in which a program finds the libraries that this machine lacks."""
    linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
    missing = re.findall(r"(\S+) => not found", linked)
    if unknown := [name for name in missing if name not in LIBRARIES]:
        raise ServiceError(
            f"library {unknown[0]} is missing",
            detail=f"{program.name} needs {', '.join(missing)}.",
            hint="Install the packages that have them.",
        )
    folders = [folder for name in missing for folder in library_folders(fetch(LIBRARIES[name]))]
    return {"LD_LIBRARY_PATH": ":".join(map(str, folders))} if folders else {}
