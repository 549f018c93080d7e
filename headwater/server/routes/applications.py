"""/applications: created, listed, looked at."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from headwater.server.answers import application_answer, version_answer
from headwater.server.applications import create_application, find_application
from headwater.server.bodies import Body
from headwater.server.records import Application, Version
from headwater.server.server import Server


class NewApplication(Body):
    """A name under which versions are kept."""

    name: str = Field(description="letters, digits, _, - and .; 100 at most", max_length=100)


def router(server: Server) -> APIRouter:
    """The pages of applications; each is named by its id or its name."""
    made = APIRouter(tags=["applications"])

    @made.post("/applications", status_code=201)
    def create(request: Request, body: NewApplication) -> dict[str, Any]:
        """Create an application."""
        return application_answer(server, create_application(server, body.name, request.state.who))

    @made.get("/applications")
    def list_all() -> dict[str, Any]:
        """All applications, each with its last deployment."""
        found = server.store.all(Application)
        return {"applications": [application_answer(server, one) for one in found]}

    @made.get("/applications/{application}")
    def show(application: str) -> dict[str, Any]:
        """An application with its versions and its last deployment."""
        found = find_application(server, application)
        versions = server.store.all(Version, application_id=found.id)
        shown = [version_answer(one) for one in versions]
        return application_answer(server, found) | {"application_versions": shown}

    @made.get("/applications/{application}/logs")
    def logs(application: str, limit: int = Query(default=100, ge=1, le=10_000)) -> dict[str, Any]:
        """The last things that happened to an application."""
        found = find_application(server, application)
        return {"logs": server.journal.lines(found.id, limit)}

    return made
