"""Sets of packages: whole or not there. Oracle: the lock files, and the public repository itself."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.services import packages
from headwater.services.artifacts import cached, fetch
from headwater.services.debian import library_folders
from headwater.services.packages import package_set, parse_package, set_names
from headwater.services.running import wait_for
from headwater.services.trust import java_store

POOL = package_set("spark-kafka").packages[-1]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "headwater" / "artifacts"


def lock(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let `small` be the set of these packages."""
    (folder / "small.txt").write_text("\n".join(lines))
    monkeypatch.setattr(packages, "LOCKS", folder)


def test_the_sets_are_known_by_name() -> None:
    wanted = {
        "kafka",
        "opensearch",
        "mysql",
        "spark-delta",
        "spark-iceberg",
        "spark-kafka",
        "debezium-postgres",
        "debezium-mysql",
        "debezium-mariadb",
    }
    assert set(set_names()) == wanted
    with pytest.raises(ServiceError, match="no set of packages named 'kafkaa'") as raised:
        fetch("kafkaa")
    assert "spark-kafka" in raised.value.hint


def test_every_set_names_exact_files_once() -> None:
    for name in set_names():
        files = [package.file for package in package_set(name).packages]
        assert files and len(files) == len(set(files)), name


def test_a_line_of_a_lock_file_is_read() -> None:
    plugin = parse_package(f"io.debezium:debezium-connector-postgres:3.6.3.Final:plugin@tar.gz {'0' * 64}")
    assert plugin.file == "debezium-connector-postgres-3.6.3.Final-plugin.tar.gz"
    assert str(plugin) == "io.debezium:debezium-connector-postgres:3.6.3.Final:plugin"
    assert parse_package(f"a.b:c:1 {'0' * 64}").file == "c-1.jar"
    with pytest.raises(ServiceError, match="lock file"):
        parse_package("a.b:c:latest")


@pytest.mark.services
def test_a_set_is_fetched_once_also_by_two_at_once(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(tmp_path, monkeypatch, f"{POOL} {POOL.sha256}")
    heard: list[tuple[str, int, int]] = []
    assert cached("small") is None
    with ThreadPoolExecutor(2) as two:
        found = set(two.map(lambda _: fetch("small", lambda *told: heard.append(told)), range(2)))
    assert found == {cached("small")}
    # Found and fetched, told by the one who did it.
    assert heard == [("small", 0, 2), ("small", 1, 2), ("small", 2, 2), ("small", 2, 2)]
    folder = found.pop()
    assert [path.name for path in folder.iterdir()] == [POOL.file]
    assert hashlib.sha256((folder / POOL.file).read_bytes()).hexdigest() == POOL.sha256
    fetch("small", lambda *told: heard.append(told))
    assert len(heard) == 4


@pytest.mark.services
def test_a_fetch_that_was_killed_leaves_nothing_that_is_taken_for_whole(cache: Path) -> None:
    script = "from headwater.services.artifacts import fetch; fetch('spark-kafka')"
    house = str(Path(__file__).parent.parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": house}, start_new_session=True
    ) as process:
        assert wait_for(lambda: bool(list(cache.glob("*.partial/files/*.jar"))), 60)
        os.killpg(process.pid, 9)
    assert cached("spark-kafka") is None
    whole = fetch("spark-kafka")
    assert sorted(path.name for path in whole.iterdir()) == sorted(
        package.file for package in package_set("spark-kafka").packages
    )
    assert not list(cache.glob("*.partial"))


@pytest.mark.services
def test_a_package_that_cannot_be_had_is_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(tmp_path, monkeypatch, f"{POOL} {POOL.sha256}", f"org.example.nowhere:nothing:1.0 {'0' * 64}")
    with pytest.raises(ServiceError, match=r"package org\.example\.nowhere:nothing:1\.0 cannot be had"):
        fetch("small")
    assert cached("small") is None


@pytest.mark.services
def test_a_file_with_another_content_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(tmp_path, monkeypatch, f"{POOL} {'0' * 64}")
    with pytest.raises(ServiceError, match=r"commons-pool2:2\.12\.1 is not the one we know") as raised:
        fetch("small")
    assert POOL.sha256 in raised.value.detail
    assert cached("small") is None


@pytest.mark.services
def test_the_wheels_java_fetches_with_the_certificates_of_this_machine(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    lock(tmp_path, monkeypatch, f"{POOL} {POOL.sha256}")
    assert (fetch("small") / POOL.file).is_file()
    assert list(cache.parent.glob("java-*/trust-*.jks"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ServiceError, match="cannot be written"):
        fetch("spark-kafka")


@pytest.mark.services
def test_a_package_of_debian_is_unpacked_and_not_installed(cache: Path) -> None:
    tree = fetch("libaio")
    assert tree == cached("libaio") == cache / "libaio"
    assert any(
        path.name.startswith("libaio.so") for folder in library_folders(tree) for path in folder.iterdir()
    )


def test_a_java_key_store_of_nothing_is_header_and_digest() -> None:
    # Told by the format: magic, version 2, no entry, and a SHA-1 over Java's password, its salt and the rest.
    body = bytes.fromhex("feedfeed 00000002 00000000")
    salted = "changeit".encode("utf-16-be") + b"Mighty Aphrodite" + body
    assert java_store([]) == body + hashlib.sha1(salted).digest()
