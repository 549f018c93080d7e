"""/applications/{application}/deployments: a version runs, is stopped, goes on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from headwater.server import deployments
from headwater.server.answers import deployment_answer
from headwater.server.applications import find_application, find_version
from headwater.server.bodies import Body
from headwater.server.records import Deployment, Mode
from headwater.server.server import Server


class NewDeployment(Body):
    """Which version is to run, and how."""

    version_id: str = Field(description="id or number of the version")
    parallelism: int = Field(
        default=1, ge=1, le=1024, description="kept and shown; Spark shares out its cores"
    )
    restart_enabled: bool = Field(default=True, description="whether it is started again when it fails")
    mode: Mode = Field(default="continuous", description="follow the sources, or end when all is known")
    every: str | None = Field(default=None, max_length=100, description="in mode schedule: 30s, 10 min, 1h")
    cron: str | None = Field(default=None, max_length=100, description="in mode schedule: 0 * * * *, in UTC")
    confirmed: bool = Field(
        default=False, description="whether it may run though it computes anew what is saved, or lets it go"
    )


class Rollback(Body):
    """To which version to go back."""

    version_id: str | None = Field(default=None, description="id or number; without it the one before")
    confirmed: bool = Field(default=False, description="as for a deployment")


def router(server: Server) -> APIRouter:
    """The pages of deployments; `latest` is the last one of an application."""
    made = APIRouter(prefix="/applications/{application}/deployments", tags=["deployments"])

    @made.post("", status_code=201)
    def deploy(request: Request, application: str, body: NewDeployment) -> dict[str, Any]:
        """Let a version run, in the place of the one that runs now."""
        found = find_application(server, application)
        version = find_version(server, found, body.version_id)
        fields = body.model_dump(exclude={"confirmed"}) | {"version_id": version.id}
        wanted = Deployment(found.id, **fields)
        who, confirmed = request.state.who, body.confirmed
        begun = deployments.deploy(server, found, wanted, who=who, confirmed=confirmed)
        return deployment_answer(server, begun)

    @made.get("")
    def list_all(application: str) -> dict[str, Any]:
        """All deployments of an application, the latest last."""
        found = find_application(server, application)
        known = server.store.all(Deployment, application_id=found.id)
        return {"deployments": [deployment_answer(server, one) for one in known]}

    @made.get("/{deployment}")
    def show(application: str, deployment: str) -> dict[str, Any]:
        """One deployment with its status."""
        found = deployments.find_deployment(server, find_application(server, application), deployment)
        return deployment_answer(server, found)

    _add_changes(made, server)
    return made


def _add_changes(made: APIRouter, server: Server) -> None:
    """What is done with deployments that are there."""

    @made.post("/{deployment}/stop")
    def stop(request: Request, application: str, deployment: str) -> dict[str, Any]:
        """End what runs, after the step at hand; its State stays."""
        found = find_application(server, application)
        one = deployments.find_deployment(server, found, deployment)
        return deployment_answer(server, deployments.stop(server, found, one, who=request.state.who))

    @made.post("/{deployment}/resume")
    def resume(request: Request, application: str, deployment: str) -> dict[str, Any]:
        """Let the latest deployment go on where it ended."""
        found = find_application(server, application)
        one = deployments.find_deployment(server, found, deployment)
        return deployment_answer(server, deployments.resume(server, found, one, who=request.state.who))

    @made.post("/rollback", status_code=201)
    def roll_back(request: Request, application: str, body: Rollback) -> dict[str, Any]:
        """Let an earlier version run, as the last deployment did."""
        found = find_application(server, application)
        last = deployments.find_deployment(server, found, "latest")
        version = (
            find_version(server, found, body.version_id)
            if body.version_id is not None
            else deployments.former_version(server, found)
        )
        how = {
            name: getattr(last, name) for name in ("parallelism", "restart_enabled", "mode", "every", "cron")
        }
        wanted = Deployment(found.id, version.id, **how)
        who, confirmed = request.state.who, body.confirmed
        begun = deployments.deploy(server, found, wanted, who=who, confirmed=confirmed)
        return deployment_answer(server, begun)
