"""A real MariaDB on 127.0.0.1, from Debian's package, with a row binary log.

with MariadbServer(Path("data")) as server:
    pymysql.connect(host="127.0.0.1", port=server.port, user=server.user, password=server.password)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headwater.services.artifacts import fetch
from headwater.services.debian import library_folders
from headwater.services.mysql_files import (
    PASSWORD,
    SETTINGS,
    SETUP,
    USER,
    answers_query,
    flags,
    make_data,
    write_setup,
)
from headwater.services.ports import free_port
from headwater.services.postgres_files import let_enter, owner_of
from headwater.services.process import Launch, Lifetime, Server

MAKE_FLAGS = {"enforce-storage-engine": "", "max-allowed-packet": "8M"}

SYSTEM_TABLES = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")

# Who has no name or no password would be let in before our user is.
NOBODY_ELSE = (
    "DELETE FROM mysql.global_priv WHERE user = '' OR (user = 'root' AND host <> 'localhost')",
    "FLUSH PRIVILEGES",
)


class MariadbServer(Server):
    """One server; the folder keeps its data from one start to the next."""

    name = "mariadb"
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
        tree = fetch("mariadb")
        program = tree / "usr" / "sbin" / "mariadbd"
        environ = {"LD_LIBRARY_PATH": ":".join(map(str, library_folders(tree)))}
        if owner.uid is not None:
            let_enter(program.parent)
            let_enter(self.folder)
        begin = [str(program), "--no-defaults", f"--basedir={tree / 'usr'}"]
        make = [*begin, "--bootstrap", *flags(MAKE_FLAGS)]
        make_data(self.folder, make, owner=owner, environ=environ, said=_system_tables(tree))
        own = {"port": str(self.port), "datadir": str(self.folder / "data")}
        given = {**SETTINGS, **self._settings, **own}
        setup = f"--init-file={write_setup(self.folder, (*NOBODY_ELSE, *SETUP))}"
        return Launch([*begin, *flags(given), setup], environ, owner.popen())

    def answers(self) -> bool:
        """True if the server lets our user in and answers."""
        return answers_query(self.port)


def _system_tables(tree: Path) -> str:
    """What a server without tables has to be told, a statement to a line where it is ours."""
    scripts = [(tree / "usr" / "share" / "mysql" / name).read_text() for name in SYSTEM_TABLES]
    return "\n".join(["CREATE DATABASE mysql;", "USE mysql;", "SET @auth_root_socket = NULL;", *scripts])
