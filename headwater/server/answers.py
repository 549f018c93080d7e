"""Records as they are answered: plain JSON, without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headwater.runtime.keeping import Comparison
from headwater.server.integrations import shown_options
from headwater.server.records import Application, Deployment, Integration, Version
from headwater.server.server import Server
from headwater.sql.secrets import masked


def application_answer(server: Server, application: Application) -> dict[str, Any]:
    """An application in a list."""
    return {
        "id": application.id,
        "name": application.name,
        "created_at": moment(application.created_at),
        "current_deployment": _current(server, application),
    }


def version_answer(version: Version) -> dict[str, Any]:
    """A version with its SQL."""
    return {
        "id": version.id,
        "version": version.version,
        "created_at": moment(version.created_at),
        "created_by": version.created_by,
        **_masked(version.body),
    }


def deployment_answer(server: Server, deployment: Deployment) -> dict[str, Any]:
    """A deployment as it is now."""
    version = server.store.all(Version, id=deployment.version_id)[0]
    return {
        "id": deployment.id,
        "version_id": deployment.version_id,
        "version": version.version,
        "status": deployment.status,
        "mode": deployment.mode,
        "every": deployment.every,
        "cron": deployment.cron,
        "parallelism": deployment.parallelism,
        "restart_enabled": deployment.restart_enabled,
        "runs": deployment.runs,
        "restarts": deployment.restarts,
        "error": _problem(deployment.problem),
        "stopped": _stopped(server, deployment),
        "created_at": moment(deployment.created_at),
        "started_at": moment(deployment.started_at),
        "ended_at": moment(deployment.ended_at),
        "next_run_at": moment(deployment.next_run_at),
    }


def integration_answer(integration: Integration) -> dict[str, Any]:
    """An integration without its secrets."""
    return {
        "id": integration.id,
        "name": integration.name,
        "created_at": moment(integration.created_at),
        "options": shown_options(integration),
    }


def comparison_answer(comparison: Comparison) -> dict[str, list[str]]:
    """What a version would keep, compute anew, begin and let go."""
    return {
        "kept": list(comparison.kept),
        "recomputed": list(comparison.recomputed),
        "new": list(comparison.new),
        "gone": list(comparison.gone),
    }


def moment(at: float | None) -> str | None:
    """A moment in UTC: 2026-01-02T03:04:05Z."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _current(server: Server, application: Application) -> dict[str, Any] | None:
    found = server.store.newest(Deployment, application_id=application.id)
    return deployment_answer(server, found) if found is not None else None


def _stopped(server: Server, deployment: Deployment) -> dict[str, Any]:
    """The views that go on no more, though the pipeline does, and why."""
    application = server.store.all(Application, id=deployment.application_id)[0]
    deployed = server.deployed(application)
    pipeline = deployed.pipeline if deployed and deployed.deployment.id == deployment.id else None
    if pipeline is None:
        return {}
    with pipeline.snapshot() as snapshot:
        return {name: _problem(problem.to_json()) for name, problem in snapshot.stopped.items()}


def _problem(problem: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if problem is None else {key: problem[key] for key in ("message", "detail", "hint", "place")}


def _masked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a version with its secrets as stars."""
    shown: dict[str, Any] = {"statement": masked(str(body["statement"]))}
    for part in ("sources", "sinks"):
        shown[part] = [
            {"create_table": masked(str(one["create_table"])), "integration_id": one.get("integration_id")}
            for one in body.get(part, ())
        ]
    return shown | {"integration_id": body.get("integration_id")}
