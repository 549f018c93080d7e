"""How connectors are, as the cluster tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RUNNING, FAILED, PAUSED, STOPPED = "RUNNING", "FAILED", "PAUSED", "STOPPED"


@dataclass(frozen=True)
class Part:
    """The connector itself (`task` is None), or one of its tasks."""

    task: int | None
    state: str
    worker: str
    trace: str = ""


@dataclass(frozen=True)
class Status:
    """A connector with its tasks."""

    name: str
    parts: tuple[Part, ...]

    @property
    def failed(self) -> tuple[Part, ...]:
        """What of it has failed."""
        return tuple(part for part in self.parts if part.state == FAILED)

    @property
    def settled(self) -> bool:
        """True if it runs with all its tasks, or rests because someone said so."""
        states = {part.state for part in self.parts}
        if self.parts[0].state in (PAUSED, STOPPED):
            return len(states) == 1
        return states == {RUNNING} and len(self.parts) > 1

    @property
    def tasks(self) -> int:
        """How many tasks it has."""
        return len(self.parts) - 1


def status_of(said: dict[str, Any]) -> Status:
    """A status as Connect writes it."""
    itself = Part(None, *_facts(said["connector"]))
    tasks = sorted(
        (Part(int(task["id"]), *_facts(task)) for task in said["tasks"]), key=lambda p: p.task or 0
    )
    return Status(str(said["name"]), (itself, *tasks))


def _facts(said: dict[str, Any]) -> tuple[str, str, str]:
    return str(said["state"]), str(said["worker_id"]), str(said.get("trace") or "")
