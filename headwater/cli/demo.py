"""`headwater demo psql` and `headwater demo generate`: change the demo's database, by hand or for long."""

from __future__ import annotations

import argparse
import os
from typing import NoReturn

from headwater.cli.stop import Stop
from headwater.demo.claims import make_tables
from headwater.demo.session import Generator, demo_folder
from headwater.services.postgres import psql_path

LISTEN_SECONDS = 0.2
"""A signal is heard so often."""


def demo_command(given: argparse.Namespace) -> int:
    """Run the part of the demo that was typed."""
    folder = demo_folder(given.name, given.state)
    if given.demo == "psql":
        open_client(folder.uri(), given.sql)
    return generate_alone(given.uri or folder.uri(), given.rows, every=given.every)


def open_client(uri: str, sql: str | None) -> NoReturn:
    """Become psql on the demo's database: for one statement, for what stdin says, or for a prompt."""
    command = [str(psql_path()), uri, "--no-psqlrc", "--set", "ON_ERROR_STOP=1"]
    command += [] if sql is None else ["--command", sql]
    # Replaced and not called: Ctrl-C and the terminal then belong to psql alone.
    os.execve(command[0], command, {**os.environ, "PGOPTIONS": "-c search_path=claims,public"})


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
