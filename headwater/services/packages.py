"""The exact packages of every set, from the lock files beside this module.

    org.apache.kafka:kafka-clients:4.3.1 0f3b…
    io.debezium:debezium-connector-postgres:3.6.3.Final:plugin@tar.gz 77aa…

A line names one file and the SHA-256 of its content; nothing is resolved any further when a set is fetched.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ServiceError

LOCKS = Path(__file__).parent / "locks"

_LINE = re.compile(
    r"(?P<group>[^:\s]+):(?P<name>[^:\s]+):(?P<version>[^:@\s]+)"
    r"(?::(?P<classifier>[^@\s]+))?(?:@(?P<kind>\S+))? (?P<sha256>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Package:
    """One file of a public repository."""

    group: str
    name: str
    version: str
    classifier: str
    kind: str
    sha256: str

    @property
    def file(self) -> str:
        """What the file is called."""
        return "-".join(filter(None, (self.name, self.version, self.classifier))) + f".{self.kind}"

    def __str__(self) -> str:
        return f"{self.group}:{self.name}:{self.version}" + (f":{self.classifier}" if self.classifier else "")


@dataclass(frozen=True)
class PackageSet:
    """The packages that make one service or plugin."""

    name: str
    packages: tuple[Package, ...]

    @property
    def edition(self) -> str:
        """A name that changes with the packages, so that another version never meets an old folder."""
        told = "\n".join(f"{package} {package.sha256}" for package in self.packages)
        return f"{self.name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def set_names() -> list[str]:
    """The sets there are."""
    return sorted(path.stem for path in LOCKS.glob("*.txt"))


def package_set(name: str) -> PackageSet:
    """The set of this name, or a ServiceError with the names there are."""
    path = LOCKS / f"{name}.txt"
    if not path.is_file():
        raise ServiceError(
            f"there is no set of packages named '{name}'", hint=f"The sets are {', '.join(set_names())}."
        )
    return PackageSet(name, tuple(map(parse_package, path.read_text().splitlines())))


def parse_package(line: str) -> Package:
    """One line of a lock file."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise ServiceError("a line of a lock file cannot be read", detail=line)
    given = found.groupdict(default="")
    return Package(**{**given, "kind": given["kind"] or "jar"})
