"""What is wrong with TLS, or with a certificate, is said in words. Oracle: the texts, by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError
from headwater.services.certificates import Certificates
from headwater.sources.postgres.catalog import describe
from headwater.sources.postgres.config import config_of
from headwater.sources.postgres.options import PostgresOptions
from headwater.sources.postgres.watch import Watch
from tests.postgres.guarded import CLIENT, Guarded, checked, is_encrypted, locked, shown
from tests.postgres.world import Database, World, wait_for

pytestmark = pytest.mark.services


def refused(options: PostgresOptions) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as raised:
        describe(options)
    error = raised.value
    assert error.message and error.detail and error.hint
    assert "sesame" not in error.message + error.detail + error.hint, "a password is shown"
    return error


Given = Callable[[Certificates, Certificates, Path], dict[str, str]]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        pytest.param(
            lambda own, other, folder: {"sslmode": "disable"},
            "does not let 'postgres' in without TLS",
            "Set 'sslmode' to 'require'",
            id="without TLS",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), "password": "sesame"},
            "does not accept the password of 'postgres'",
            "Check the options 'username' and 'password'.",
            id="a wrong password",
        ),
        pytest.param(
            lambda own, other, folder: checked(other),
            "shows a certificate that is not trusted",
            "Set 'sslrootcert' to the certificate of the authority",
            id="another authority",
        ),
        pytest.param(
            lambda own, other, folder: checked(other, "require"),
            "shows a certificate that is not trusted",
            "Set 'sslrootcert' to the certificate of the authority",
            id="another authority, though it need not be asked",
        ),
        pytest.param(
            lambda own, other, folder: {"sslmode": "verify-full"},
            "cannot be checked: no authority is named",
            "Set 'sslrootcert'",
            id="no authority",
        ),
        pytest.param(
            lambda own, other, folder: {"sslmode": "verify-full", "sslrootcert": str(garbage(folder))},
            "cannot be checked: the file of 'sslrootcert' cannot be read",
            "Set 'sslrootcert'",
            id="an authority that is none",
        ),
        pytest.param(
            lambda own, other, folder: {"sslmode": "require", "sslrootcert": "system"},
            "cannot be checked",
            "set 'sslmode' to 'verify-full'",
            id="the authorities of the machine, hardly checked",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), "username": CLIENT},
            "asks for a certificate of the client",
            "Set 'sslcert' and 'sslkey'.",
            id="no certificate",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(other)},
            "does not trust the certificate of 'sslcert'",
            "ssl_ca_file",
            id="a certificate of another authority",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(own), "username": "stranger"},
            "does not take the certificate of 'sslcert' for this role",
            "that of the role",
            id="a certificate of another role",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(own, other.client_key)},
            "was not asked: 'sslcert' and 'sslkey' cannot be used",
            "the key belongs to the certificate",
            id="a key of another certificate",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(own, readable(own, folder))},
            "was not asked: 'sslcert' and 'sslkey' cannot be used",
            "chmod 600",
            id="a key that all may read",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(own), "sslcert": str(garbage(folder))},
            "was not asked: 'sslcert' and 'sslkey' cannot be used",
            "It is a PEM file",
            id="a certificate that is none",
        ),
        pytest.param(
            lambda own, other, folder: {**checked(own), **shown(own, locked(own, "open"))},
            "was not asked: 'sslcert' and 'sslkey' cannot be used",
            "'sslpassword' opens it if it is locked",
            id="a locked key without its password",
        ),
        pytest.param(
            lambda own, other, folder: {
                **checked(own),
                **shown(own, locked(own, "open")),
                "sslpassword": "sesame",
            },
            "was not asked: 'sslcert' and 'sslkey' cannot be used",
            "'sslpassword' opens it if it is locked",
            id="a locked key with another password",
        ),
    ],
)
def test_what_is_wrong_is_said(
    shop: Database,
    own: Certificates,
    other: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    given: Given,
    message: str,
    hint: str,
) -> None:
    # There the library would look for files that are not named.
    monkeypatch.setenv("HOME", str(tmp_path))
    error = refused(shop.options("t", **given(own, other, tmp_path)))
    assert error.message == f"postgres at 127.0.0.1:{shop.port} {message}"
    assert hint in error.hint
    assert "pass phrase" not in "".join(capfd.readouterr()), "the terminal was asked"


def garbage(folder: Path) -> Path:
    made = folder / "garbage.pem"
    made.write_text("no certificate")
    return made


def readable(own: Certificates, folder: Path) -> Path:
    made = folder / "readable.pem"
    shutil.copy(own.client_key, made)
    made.chmod(0o644)
    return made


@pytest.mark.parametrize("name", ["sslrootcert", "sslcert", "sslkey"])
def test_a_file_that_is_not_there(shop: Database, own: Certificates, tmp_path: Path, name: str) -> None:
    given = {**checked(own, "require"), **shown(own), name: str(tmp_path / "nothing.pem")}
    error = refused(shop.options("t", **given))
    assert error.message == f"there is no file for '{name}'"
    assert "nothing.pem" in error.detail


def test_a_watch_whose_file_is_gone_says_so_and_goes_on(
    shop: Database, own: Certificates, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.01)
    file = tmp_path / "authority.pem"
    table = shop.table("t", "id int", "id", sslmode="verify-full", sslrootcert=str(file))
    heard: list[str] = []
    watch = Watch(
        config_of([table], world.context, after=None),
        lambda report: heard.append(report.subject),
        lambda retained: None,
    )
    wait_for(lambda: any("cannot be seen" in subject for subject in heard))
    shutil.copy(own.authority, file)
    wait_for(lambda: any("can be seen again" in subject for subject in heard))
    watch.stop()


def test_a_certificate_of_another_host(
    shop: Database, guarded: Guarded, own: Certificates, other: Certificates
) -> None:
    guarded.show(other)
    try:
        error = refused(shop.options("t", **checked(other)))
        assert error.message.endswith("shows the certificate of another host")
        assert "verify-ca" in error.hint
        assert is_encrypted(shop.options("t", **checked(other, "verify-ca")))
    finally:
        guarded.show(own)


def test_a_server_that_does_not_speak_tls(database: Database) -> None:
    error = refused(database.options("t", sslmode="require"))
    assert error.message == f"postgres at 127.0.0.1:{database.port} does not speak TLS"
    assert "ssl = on" in error.hint
