"""`headwater demo psql`, `mysql` and `generate`: change the demo's database, by hand or for long."""

from __future__ import annotations

import argparse
import os
from typing import NoReturn

from headwater.cli.stop import Stop
from headwater.demo.claims import make_tables
from headwater.demo.classicmodels import DATABASE, TARGET_SCHEMA
from headwater.demo.session import DemoFolder, Generator, demo_folder, not_running
from headwater.demo.stage import notes_of
from headwater.services.artifacts import fetch
from headwater.services.mysql import library_path
from headwater.services.mysql_server import MysqlFamilyServer
from headwater.services.ports import HOST, connects
from headwater.services.postgres import psql_path

SCHEMAS = {"star": TARGET_SCHEMA, "audit": "bank"}
"""Where names without a schema are looked for, in the place of `claims`."""

LISTEN_SECONDS = 0.2
"""A signal is heard so often."""


def demo_command(given: argparse.Namespace) -> int:
    """Run the part of the demo that was typed."""
    folder = demo_folder(given.name, given.state)
    if given.demo == "psql":
        open_client(folder.uri(), given.sql, schema=SCHEMAS.get(given.name, "claims"))
    if given.demo == "mysql":
        open_mysql(folder, given.sql)
    return generate_alone(given.uri or folder.uri(), given.rows, every=given.every)


def open_client(uri: str, sql: str | None, *, schema: str) -> NoReturn:
    """Become psql on the demo's database: for one statement, for what stdin says, or for a prompt."""
    command = [str(psql_path()), uri, "--no-psqlrc", "--set", "ON_ERROR_STOP=1"]
    command += [] if sql is None else ["--command", sql]
    # Replaced and not called: Ctrl-C and the terminal then belong to psql alone.
    os.execve(command[0], command, {**os.environ, "PGOPTIONS": f"-c search_path={schema},public"})


def open_mysql(folder: DemoFolder, sql: str | None) -> NoReturn:
    """Become MySQL's client on the demo's server; it speaks to MariaDB too."""
    notes = notes_of(folder)
    if notes is None or not connects(notes.ports.mysql):
        raise not_running(folder, "MySQL or MariaDB")
    program = fetch("mysql") / "bin" / "mysql"
    command = [str(program), "--no-defaults", f"--host={HOST}", f"--port={notes.ports.mysql}", "--table"]
    command += [f"--user={MysqlFamilyServer.user}", "--default-character-set=utf8mb4", DATABASE]
    command += [] if sql is None else [f"--execute={sql}"]
    # Not among the words of the command, which every user of the machine can read.
    environ = {**os.environ, **library_path(program), "MYSQL_PWD": MysqlFamilyServer.password}
    os.execve(command[0], command, environ)


def generate_alone(uri: str, rows: int | None, *, every: float) -> int:
    """Make the tables and change them, without a view."""
    with Stop() as stop:
        made = make_tables(uri)
        stop.gently()
        print("made the claims tables" if made else "the claims tables are there", flush=True)
        with Generator(uri, every=every, rows=rows) as generator:
            while stop.asked is None and not generator.wait(LISTEN_SECONDS):
                pass
        print(f"changed {generator.changed:,} rows", flush=True)
        generator.check()
        stop.end()
    return 0
