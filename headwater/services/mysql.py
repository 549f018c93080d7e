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
from headwater.services.mysql_files import (
    PASSWORD,
    SETTINGS,
    USER,
    answers_query,
    flags,
    make_data,
    write_setup,
)
from headwater.services.ports import free_port
from headwater.services.postgres_files import let_enter, owner_of
from headwater.services.process import Launch, Lifetime, Server

OWN_SETTINGS: Mapping[str, str] = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "mysqlx": "OFF",
    "default-authentication-plugin": "mysql_native_password",
    "secure-file-priv": "NULL",
}

LIBRARIES = {"libaio.so.1": "libaio", "libnuma.so.1": "libnuma"}
"""What the program needs of the machine, and the set that has it."""


class MysqlServer(Server):
    """One server; the folder keeps its data from one start to the next."""

    name = "mysql"
    user = USER
    password = PASSWORD

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
    ) -> None:
        super().__init__(folder, free_port() if port is None else port, lifetime=lifetime)
        self._settings = dict(settings or {})

    def launch(self) -> Launch:
        """Make the data folder if there is none, and say how the server is started."""
        owner = owner_of(self.folder)
        base = fetch("mysql")
        program = base / "bin" / "mysqld"
        environ = library_path(program)
        if owner.uid is not None:
            let_enter(program.parent)
            let_enter(self.folder)
        begin = [str(program), "--no-defaults", f"--basedir={base}"]
        make_data(self.folder, [*begin, "--initialize-insecure"], owner=owner, environ=environ)
        own = {"port": str(self.port), "datadir": str(self.folder / "data")}
        given = {**SETTINGS, **OWN_SETTINGS, **self._settings, **own}
        setup = f"--init-file={write_setup(self.folder)}"
        return Launch([*begin, *flags(given), setup], environ, owner.popen())

    def answers(self) -> bool:
        """True if the server lets our user in and answers."""
        return answers_query(self.port)


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
