"""When a deployment runs again: every so often, or at the times of a cron expression in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from headwater.errors import UsageError
from headwater.options import Duration
from headwater.server.records import Deployment

SHORTEST = 1.0
"""In seconds, between the beginnings of two runs."""


def check_schedule(deployment: Deployment) -> None:
    """Raise if what is said about the schedule is not one."""
    given = [text for text in (deployment.every, deployment.cron) if text is not None]
    if deployment.mode != "schedule":
        if given:
            raise UsageError(
                f"a deployment that runs in mode '{deployment.mode}' has no schedule",
                hint="Leave out every and cron, or set mode to schedule.",
            )
        return
    if len(given) != 1:
        raise UsageError(
            "a schedule is either every or cron",
            hint='Write "every": "1h", or "cron": "0 * * * *" (in UTC).',
        )
    next_run(deployment, 0.0)


def first_run(deployment: Deployment, now: float) -> float:
    """When a deployment begins: at once, but for one that waits for its first time in cron."""
    return next_run(deployment, now) if deployment.cron is not None else now


def next_run(deployment: Deployment, began: float) -> float:
    """When it runs again after a run that began at a moment, in seconds since 1970."""
    if deployment.cron is not None:
        return _next_of(deployment.cron, began)
    return began + _seconds_of(deployment.every or "")


def _next_of(cron: str, after: float) -> float:
    try:
        return next(CronSim(cron, datetime.fromtimestamp(after, UTC))).timestamp()
    except (CronSimError, StopIteration) as problem:
        raise UsageError(
            f"'{cron}' is not a cron expression that comes to pass",
            detail=f"{problem}" if str(problem) else "",
            hint="Write minute, hour, day, month, day of the week: '0 * * * *' is every full hour, in UTC.",
        ) from None


def _seconds_of(every: str) -> float:
    hint = "Write a number and a unit: 5s, 10 min, 1h, 1 day."
    try:
        seconds = float(Duration.of(every))
    except ValueError:
        raise UsageError(f"'{every}' is not a length of time", hint=hint) from None
    if not SHORTEST <= seconds <= 366 * 86400:
        raise UsageError(
            f"'{every}' is no time between two runs",
            detail="It is at least a second, and at most a year.",
            hint=hint,
        )
    return seconds
