"""/applications/{application}/versions: given, listed, looked at; a version never changes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from headwater.errors import UsageError
from headwater.server.answers import comparison_answer, version_answer
from headwater.server.applications import create_version, find_application, find_version
from headwater.server.bodies import Body
from headwater.server.records import Version
from headwater.server.server import Server


class NewTable(Body):
    """A table that is read or written."""

    create_table: str = Field(description="a CREATE TABLE statement")
    integration_id: str | None = Field(default=None, description="id or name of what fills its empty options")


class NewVersion(Body):
    """A script, whole or in parts."""

    statement: str = Field(description="SQL: a whole script, or what is done with the tables")
    sources: list[NewTable] = Field(default=[], description="tables that are read")
    sinks: list[NewTable] = Field(default=[], description="tables that are written")
    integration_id: str | None = Field(
        default=None, description="id or name of what fills empty options of tables that `statement` declares"
    )


_TAKES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": NewVersion.model_json_schema()},
            "application/sql": {"schema": {"type": "string", "description": "a whole script"}},
        },
    }
}


async def _sent(request: Request) -> NewVersion:
    """JSON, or a SQL text as it stands in a file."""
    raw = await request.body()
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            return NewVersion.model_validate_json(raw)
        except ValidationError as wrong:
            errors = [dict(one) | {"loc": ("body", *one["loc"])} for one in wrong.errors(include_url=False)]
            raise RequestValidationError(errors) from None
    if kind not in ("application/sql", "text/plain"):
        raise UsageError(
            f"a version is not sent as '{kind[:100]}'", hint="Send application/json, or application/sql."
        )
    try:
        return NewVersion(statement=raw.decode())
    except UnicodeDecodeError:
        raise UsageError("the script is not UTF-8 text") from None


def router(server: Server) -> APIRouter:
    """The pages of versions; each is named by its id or its number."""
    made = APIRouter(prefix="/applications/{application}/versions", tags=["versions"])

    @made.post("", status_code=201, openapi_extra=_TAKES)
    def create(
        request: Request, application: str, body: Annotated[NewVersion, Depends(_sent)]
    ) -> dict[str, Any]:
        """Give an application a new version; its SQL is read and checked, nothing is started."""
        found = find_application(server, application)
        return version_answer(create_version(server, found, body.model_dump(), request.state.who))

    @made.get("")
    def list_all(application: str) -> dict[str, Any]:
        """All versions of an application."""
        found = find_application(server, application)
        versions = server.store.all(Version, application_id=found.id)
        return {"application_versions": [version_answer(one) for one in versions]}

    @made.get("/{version}")
    def show(application: str, version: str) -> dict[str, Any]:
        """One version with its SQL; secrets in it are shown as stars."""
        return version_answer(find_version(server, find_application(server, application), version))

    @made.get("/{version}/comparison")
    def compare(application: str, version: str) -> dict[str, Any]:
        """What of the application's State a version would keep, compute anew, begin and let go; nothing is changed."""
        found = find_application(server, application)
        return comparison_answer(server.compare(found, find_version(server, found, version)))

    return made
