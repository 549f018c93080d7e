"""What the server keeps: applications, their versions, integrations, deployments, and who did what."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["INITIALIZING", "RUNNING", "FINISHED", "FAILED", "CANCELED"]
Mode = Literal["continuous", "once", "schedule"]

INITIALIZING: Status = "INITIALIZING"
RUNNING: Status = "RUNNING"
FINISHED: Status = "FINISHED"
FAILED: Status = "FAILED"
CANCELED: Status = "CANCELED"


def new_id() -> str:
    """A name that nothing else has."""
    return str(uuid.uuid4())


@dataclass(frozen=True)
class Application:
    """A name under which versions are kept and one of them runs; its State is kept from version to version."""

    name: str
    id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Version:
    """A script as it was given; it never changes."""

    application_id: str
    version: int
    body: Mapping[str, Any]
    """What was sent: `statement` and perhaps `sources` and `sinks`, with secrets and all."""
    created_by: str
    id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Integration:
    """A named connection. What it knows fills the options that a table leaves empty."""

    name: str
    options: Mapping[str, str]
    id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Deployment:
    """One version, told to run."""

    application_id: str
    version_id: str
    parallelism: int = 1
    restart_enabled: bool = True
    mode: Mode = "continuous"
    every: str | None = None
    cron: str | None = None
    status: Status = INITIALIZING
    is_wanted: bool = True
    """True if it is to run after a restart of the server too."""
    problem: Mapping[str, Any] | None = None
    """Why it failed the last time."""
    runs: int = 0
    restarts: int = 0
    next_run_at: float | None = None
    id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)
    started_at: float | None = None
    ended_at: float | None = None


@dataclass(frozen=True)
class Deed:
    """Who did what."""

    who: str
    action: str
    application: str = ""
    detail: str = ""
    id: str = field(default_factory=new_id)
    at: float = field(default_factory=time.time)
