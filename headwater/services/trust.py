"""The certificates this machine trusts, in the one form that every Java reads.

A Java that came as a wheel trusts what its makers trusted; a company's own proxy or mirror is not among that.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import ServiceError

BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
"""Where Debian, Fedora and Alpine keep what they trust, one file each."""

PASSWORD = "changeit"
"""Java's customary one: the file holds public certificates only, and this guards nothing."""


def trust_store(folder: Path) -> Path | None:
    """A file in `folder` with all certificates the machine trusts; None if it has no list of them."""
    bundle = machine_bundle()
    if bundle is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(bundle)
    content = java_store(context.get_ca_certs(binary_form=True))
    target = folder / f"trust-{hashlib.sha256(content).hexdigest()[:12]}.jks"
    if not target.is_file():
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        try:
            fresh.write_bytes(content)
            fresh.replace(target)
        except OSError as broken:
            raise ServiceError(
                "the cache folder cannot be written",
                detail=f"{target.parent}: {broken.strerror}.",
                hint="Set XDG_CACHE_HOME to a folder you may write to.",
            ) from broken
    return target


def machine_bundle() -> Path | None:
    """The file of certificates that Python's own connections would use."""
    named = ssl.get_default_verify_paths().cafile
    return next((Path(path) for path in (named, *BUNDLES) if path and Path(path).is_file()), None)


def java_store(certificates: Sequence[bytes]) -> bytes:
    """A Java key store that holds nothing but trusted certificates."""
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        # Two is the kind "trusted certificate"; the zero is when it was added, which nobody asks.
        parts += [struct.pack(">I", 2), _text(f"trusted-{number}"), struct.pack(">Q", 0), _text("X.509")]
        parts += [struct.pack(">I", len(certificate)), certificate]
    body = b"".join(parts)
    return body + hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()


def _text(words: str) -> bytes:
    return struct.pack(">H", len(words)) + words.encode()
