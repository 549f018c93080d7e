"""A Postgres that takes only those who come over TLS, and knows some of them by their certificate."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2

from headwater.services.certificates import Certificates
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from headwater.services.postgres_files import Programs, owner_of
from headwater.sources.postgres.connect import address_of, session
from headwater.sources.postgres.options import PostgresOptions
from tests.postgres.world import Database, wait_for

CLIENT = "headwater-client"
"""The role that is known by its certificate, which says this name."""

LETS_IN = f"""
host    all plain        all scram-sha-256
hostssl all "{CLIENT}"   all cert
hostssl all postgres     all scram-sha-256
hostssl all stranger     all cert
"""

ROLES = (
    f'CREATE ROLE "{CLIENT}" SUPERUSER LOGIN',
    "CREATE ROLE stranger LOGIN",
    "CREATE ROLE plain LOGIN PASSWORD 'plain'",
)


IS_ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"


class Guarded:
    """The server, and whose certificate it shows."""

    def __init__(self, server: EmbeddedPostgres, own: Certificates) -> None:
        self.server, self.own = server, own

    @property
    def database(self) -> Database:
        """A client of it, over TLS."""
        return Database(self.server.uri)

    def show(self, certificates: Certificates) -> None:
        """Show the certificate of a server of theirs from now on, and trust their authority."""
        data, owner = self.server.folder / "data", owner_of(self.server.folder)
        for file, name in (
            (certificates.server_key, "server.key"),
            (certificates.server_certificate, "server.crt"),
            (certificates.authority, "root.crt"),
        ):
            shutil.copy(file, data / name)
            (data / name).chmod(0o600)
            if owner.uid is not None and owner.gid is not None:
                os.chown(data / name, owner.uid, owner.gid)
        with _client(self.server) as cursor:
            cursor.execute("ALTER SYSTEM SET ssl_ca_file = 'root.crt'")
            cursor.execute("ALTER SYSTEM SET ssl = on")
            cursor.execute("SELECT pg_reload_conf()")
        wait_for(lambda: self._shows(certificates))

    def connections(self) -> list[str]:
        """What the server's own log says of those it let in under our name."""
        lines = self.server.log.read_text(errors="replace").splitlines()
        return [line for line in lines if "connection authorized" in line and "=headwater" in line]

    def _shows(self, certificates: Certificates) -> bool:
        trusted = {"sslmode": "verify-ca", "sslrootcert": str(certificates.authority)}
        try:
            psycopg2.connect(self.server.uri, **trusted).close()
        except psycopg2.OperationalError:
            return False
        return True


@contextmanager
def guarded_postgres(programs: Programs, own: Certificates) -> Iterator[Guarded]:
    """A server of its own."""
    with temporary_postgres({"fsync": "off", "log_connections": "on"}, programs) as server:
        with _client(server) as cursor:
            for role in ROLES:
                cursor.execute(role)
        (server.folder / "data" / "pg_hba.conf").write_text(LETS_IN)
        made = Guarded(server, own)
        made.show(own)
        yield made


@contextmanager
def _client(server: EmbeddedPostgres) -> Iterator[psycopg2.extensions.cursor]:
    connection = psycopg2.connect(server.uri)
    connection.autocommit = True
    try:
        yield connection.cursor()
    finally:
        connection.close()


def locked(certificates: Certificates, password: str) -> str:
    """The client's key in a file that a password opens."""
    return _key(certificates, "locked.pem", "rsa", "-aes256", "-passout", f"pass:{password}")


def as_java_has_it(certificates: Certificates) -> str:
    """The client's key in the form that the Java driver, and so Debezium, wants."""
    return _key(certificates, "client.pk8", "pkcs8", "-topk8", "-outform", "DER", "-nocrypt")


def _key(certificates: Certificates, name: str, *how: str) -> str:
    file = certificates.folder / name
    command = ["openssl", *how, "-in", str(certificates.client_key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    file.chmod(0o600)
    return str(file)


def shown(certificates: Certificates, key: str | Path | None = None) -> dict[str, str]:
    """The options of a client that shows its certificate."""
    return {
        "username": CLIENT,
        "sslcert": str(certificates.client_certificate),
        "sslkey": str(key or certificates.client_key),
    }


def checked(certificates: Certificates, mode: str = "verify-full") -> dict[str, str]:
    """The options of a client that wants to know whom it talks to."""
    return {"sslmode": mode, "sslrootcert": str(certificates.authority)}


def is_encrypted(options: PostgresOptions) -> bool:
    with session(address_of(options, "headwater")) as cursor:
        cursor.execute(IS_ENCRYPTED)
        return bool(cursor.fetchone()[0])
