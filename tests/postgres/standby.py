"""A standby of a Postgres of ours, by the server's own programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2

from headwater.services.postgres import EmbeddedPostgres
from headwater.services.postgres_files import let_enter, owner_of, program

SLOT = "standby"
"""The slot of the standby at its primary."""


@contextmanager
def standby_of(primary: EmbeddedPostgres) -> Iterator[EmbeddedPostgres]:
    """A server that follows another one and can take its place; slots are copied when that is asked for."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-standby-"))
    owner = owner_of(primary.folder)
    if owner.uid is not None and owner.gid is not None:
        os.chown(folder, owner.uid, owner.gid)
        let_enter(folder)
    command = [str(program("pg_basebackup")), "--pgdata", str(folder / "data"), "--dbname", primary.uri]
    command += ["--write-recovery-conf", "--checkpoint", "fast", "--create-slot", "--slot", SLOT]
    try:
        subprocess.run(command, check=True, capture_output=True, cwd="/", **owner.popen())
        settings = {"fsync": "off", "hot_standby_feedback": "on"}
        with EmbeddedPostgres(folder, settings=settings) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def asked(server: EmbeddedPostgres, query: str) -> list[tuple[object, ...]]:
    """What a server answers now."""
    connection = psycopg2.connect(server.uri)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())
    finally:
        connection.close()
