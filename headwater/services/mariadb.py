"""A real MariaDB on 127.0.0.1, from Debian's package, with a row binary log.

with MariadbServer(Path("data")) as server:
    pymysql.connect(host="127.0.0.1", port=server.port, user=server.user, password=server.password)
"""

from __future__ import annotations

from pathlib import Path

from headwater.services.artifacts import fetch
from headwater.services.debian import library_folders
from headwater.services.mysql_files import SETUP, flags
from headwater.services.mysql_server import MysqlFamilyServer, Recipe

MAKE_FLAGS = {"enforce-storage-engine": "", "max-allowed-packet": "8M"}

SYSTEM_TABLES = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")

# Who has no name or no password would be let in before our user is.
NOBODY_ELSE = (
    "DELETE FROM mysql.global_priv WHERE user = '' OR (user = 'root' AND host <> 'localhost')",
    "FLUSH PRIVILEGES",
)


class MariadbServer(MysqlFamilyServer):
    """One server; the folder keeps its data from one start to the next."""

    name = "mariadb"

    def recipe(self) -> Recipe:
        """MariaDB is told its system tables, and that nobody but our user comes in."""
        tree = fetch("mariadb")
        return Recipe(
            base=tree / "usr",
            program=tree / "usr" / "sbin" / "mariadbd",
            environ={"LD_LIBRARY_PATH": ":".join(map(str, library_folders(tree)))},
            make=["--bootstrap", *flags(MAKE_FLAGS)],
            said=_system_tables(tree),
            setup=(*NOBODY_ELSE, *SETUP),
        )


def _system_tables(tree: Path) -> str:
    """What a server without tables has to be told, a statement to a line where it is ours."""
    scripts = [(tree / "usr" / "share" / "mysql" / name).read_text() for name in SYSTEM_TABLES]
    return "\n".join(["CREATE DATABASE mysql;", "USE mysql;", "SET @auth_root_socket = NULL;", *scripts])
