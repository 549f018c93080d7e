"""/integrations: named connections that fill what a table leaves empty; their secrets are never shown."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field

from headwater.server.answers import integration_answer
from headwater.server.bodies import Body
from headwater.server.integrations import HOST, SECRET, USER, add_integration, find_integration
from headwater.server.records import Integration
from headwater.server.server import Server


class NewIntegration(Body):
    """What a connection needs to know."""

    model_config = ConfigDict(hide_input_in_errors=True)

    name: str = Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    host: str | None = Field(
        default=None, description="fills 'properties.bootstrap.servers', 'hostname', 'hosts' and 'url'"
    )
    user: str | None = Field(default=None, description="fills 'username'")
    secret: str | None = Field(default=None, description="fills 'password' and its like; never shown again")
    options: dict[str, str] = Field(default={}, description="other options by the names they have in SQL")


def router(server: Server) -> APIRouter:
    """The pages of integrations; each is named by its id or its name."""
    made = APIRouter(prefix="/integrations", tags=["integrations"])

    @made.post("", status_code=201)
    def create(request: Request, body: NewIntegration) -> dict[str, Any]:
        """Create an integration."""
        short = {HOST: body.host, USER: body.user, SECRET: body.secret}
        options = {name: value for name, value in short.items() if value is not None} | body.options
        with server.changing():
            integration = add_integration(server.store, body.name, options)
        server.did(request.state.who, "integration created", detail=body.name)
        return integration_answer(integration)

    @made.get("")
    def list_all() -> dict[str, Any]:
        """All integrations, without their secrets."""
        return {"integrations": [integration_answer(one) for one in server.store.all(Integration)]}

    @made.get("/{integration}")
    def show(integration: str) -> dict[str, Any]:
        """One integration, without its secrets."""
        return integration_answer(find_integration(server.store, integration))

    @made.delete("/{integration}", status_code=204)
    def remove(request: Request, integration: str) -> None:
        """Remove an integration; what runs with it goes on, but does not start again."""
        found = find_integration(server.store, integration)
        server.remove(found)
        server.did(request.state.who, "integration removed", detail=found.name)

    return made
