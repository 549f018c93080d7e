"""A server's answers as lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwater.cli.complain import error_text
from headwater.errors import HeadwaterError, Place

Answer = Mapping[str, Any]


def application_lines(applications: Sequence[Answer]) -> list[str]:
    """A line for each application."""
    if not applications:
        return ["there are no applications"]
    return _columns([("application", "version", "status"), *map(_application, applications)])


def deployment_lines(name: str, deployment: Answer) -> list[str]:
    """What a deployment does, and why it failed."""
    lines = [f"'{name}' version {deployment['version']} is {deployment['status']}{_how(deployment)}"]
    error = deployment["error"]
    if error is not None and deployment["status"] == "FAILED":
        place = Place(**error["place"]) if error["place"] else None
        problem = HeadwaterError(error["message"], detail=error["detail"], hint=error["hint"], place=place)
        lines.append(error_text(problem))
    return lines


def comparison_lines(comparison: Mapping[str, Sequence[str]]) -> list[str]:
    """What happens to what is saved, if a version is deployed."""
    words = (("recomputed", "computed anew"), ("gone", "let go"), ("kept", "kept"), ("new", "new"))
    return [f"  {said}: {', '.join(comparison[key])}" for key, said in words if comparison[key]]


def integration_lines(integrations: Sequence[Answer]) -> list[str]:
    """A line for each integration."""
    if not integrations:
        return ["there are no integrations"]
    filled = [(one["name"], ", ".join(f"{n}={v}" for n, v in one["options"].items())) for one in integrations]
    return _columns([("integration", "fills"), *filled])


def log_lines(logs: Sequence[Answer]) -> list[str]:
    """A line for each thing that happened."""
    lines = []
    for log in logs:
        problem = log.get("problem")
        more = problem["message"] if problem else log.get("detail", "")
        lines.append(f"{log['at']} {log['event']}{f': {more}' if more else ''}")
    return lines


def _application(application: Answer) -> tuple[str, str, str]:
    deployment = application["current_deployment"]
    if deployment is None:
        return application["name"], "-", "not deployed"
    return application["name"], str(deployment["version"]), deployment["status"] + _how(deployment)


def _how(deployment: Answer) -> str:
    if deployment["next_run_at"]:
        return f", next run at {deployment['next_run_at']}"
    return ""


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
