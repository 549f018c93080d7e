"""Certificates for a server on this machine. Oracle: a TLS handshake in which each side asks for the other's."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.services.certificates import Certificates, make_certificates


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, *, name: str) -> ssl.SSLObject:
    """Let two sides talk in memory until both are content; the server's side."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = server.wrap_bio(up, down, server_side=True)
    other = client.wrap_bio(down, up, server_hostname=name)
    for side in (other, one, other, one):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return one


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_both_sides_know_each_other(certificates: Certificates, name: str) -> None:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.authority))
    server.load_cert_chain(certificates.server)
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cafile=str(certificates.authority))
    client.load_cert_chain(certificates.client_certificate, certificates.client_key)
    seen = shake_hands(server, client, name=name).getpeercert()
    assert seen is not None and seen["subject"] == ((("commonName", "headwater-client"),),)


def test_another_name_is_refused(certificates: Certificates) -> None:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificates.server)
    client = ssl.create_default_context(cafile=str(certificates.authority))
    with pytest.raises(ssl.SSLCertVerificationError, match=r"example\.org"):
        shake_hands(server, client, name="example.org")


def test_a_machine_without_openssl_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ServiceError, match="certificates cannot be made") as raised:
        make_certificates(tmp_path)
    assert "openssl" in raised.value.hint
