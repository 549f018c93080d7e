"""Certificates for a server on this machine: an authority, a server, a client, as PEM files.

They are made by the machine's `openssl` program and are worth nothing anywhere else.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ServiceError

DAYS = "3650"
SUBJECTS = {"server": "/CN=localhost", "client": "/CN=headwater-client"}
NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True)
class Certificates:
    """Where the files are; `server` and `client` hold key and certificate, the others are for programs that want
    the two apart."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that signed the others: what both sides trust."""
        return self.folder / "authority.pem"

    @property
    def server(self) -> Path:
        """The server's key and certificate."""
        return self.folder / "server.pem"

    @property
    def server_key(self) -> Path:
        """The server's key alone."""
        return self.folder / "server-key.pem"

    @property
    def server_certificate(self) -> Path:
        """The server's certificate alone."""
        return self.folder / "server-certificate.pem"

    @property
    def client(self) -> Path:
        """The client's key and certificate."""
        return self.folder / "client.pem"

    @property
    def client_key(self) -> Path:
        """The client's key alone."""
        return self.folder / "client-key.pem"

    @property
    def client_certificate(self) -> Path:
        """The client's certificate alone."""
        return self.folder / "client-certificate.pem"


def make_certificates(folder: Path, names: str = NAMES) -> Certificates:
    """New certificates in a folder, for hosts of these names."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificates(folder)
    _new_key(folder / "authority-key.pem", made.authority, subject="/CN=headwater-authority")
    for who in SUBJECTS:
        key, certificate = folder / f"{who}-key.pem", folder / f"{who}-certificate.pem"
        _signed(key, certificate, who=who, folder=folder, names=names)
        both = folder / f"{who}.pem"
        both.touch(0o600)
        both.write_text(key.read_text() + certificate.read_text() + made.authority.read_text())
    return made


def _new_key(key: Path, certificate: Path, *, subject: str) -> None:
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", DAYS, "-subj", subject),
        *("-keyout", str(key), "-out", str(certificate)),
    )


def _signed(key: Path, certificate: Path, *, who: str, folder: Path, names: str) -> None:
    request, extension = folder / f"{who}.request", folder / f"{who}.names"
    extension.write_text(names)
    _openssl(
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", SUBJECTS[who]),
        *("-keyout", str(key), "-out", str(request)),
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-days", DAYS, "-extfile", str(extension)),
        *("-CA", str(folder / "authority.pem"), "-CAkey", str(folder / "authority-key.pem")),
        *("-CAcreateserial", "-out", str(certificate)),
    )
    request.unlink()
    extension.unlink()


def _openssl(*arguments: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise ServiceError(
            "certificates cannot be made",
            detail="There is no program 'openssl' on this machine.",
            hint="Install the package openssl.",
        )
    made = subprocess.run([program, *arguments], capture_output=True, text=True)
    if made.returncode != 0:
        raise ServiceError("certificates cannot be made", detail=made.stderr.strip()[-800:])
