"""/connectors: those of the Kafka Connect that the server was told of: looked at, registered, stopped, started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from pydantic import Field

from headwater.connect.client import ConnectClient
from headwater.connect.files import connector_of, secrets_of, without
from headwater.connect.status import Status
from headwater.connect.troubles import hint_for, reason_of
from headwater.errors import ConnectError
from headwater.server.bodies import Body
from headwater.server.server import Server


class NewConnector(Body):
    """A connector as its file describes it."""

    text: str = Field(
        max_length=200_000, description='JSON: {"name": ..., "config": {"connector.class": ..., ...}}'
    )


def router(server: Server) -> APIRouter:
    """The pages of connectors."""
    away: dict[int | str, dict[str, Any]] = {
        502: {"description": "Kafka Connect does not answer, or refuses"}
    }
    made = APIRouter(prefix="/connectors", tags=["sources"], responses=away)

    @made.get("")
    def list_all() -> dict[str, Any]:
        """All connectors, each with its tasks; of what has failed also why."""
        with _asked(server) as client:
            found = [answer(client, client.status(name)) for name in client.names()]
            return {"url": client.url, "connectors": found}

    @made.post("", status_code=201)
    def register(request: Request, body: NewConnector) -> dict[str, Any]:
        """Create a connector, or give it new options, if these are valid."""
        connector = connector_of(body.text, "connector.json")
        with _asked(server) as client:
            before = client.find(connector.name)
            client.put(connector)
            if before is not None and before.failed:
                client.restart(connector.name, tasks="failed")
        server.did(request.state.who, "connector registered", detail=connector.name)
        return {"name": connector.name, "was_there": before is not None, "notes": list(connector.notes)}

    _add_deeds(made, server)
    return made


def _add_deeds(made: APIRouter, server: Server) -> None:
    """What is done with connectors that are there."""

    @made.post("/{name:path}/{deed}")
    def turn(
        request: Request,
        name: Annotated[str, Path(max_length=300)],
        deed: Literal["pause", "resume", "restart"],
    ) -> dict[str, Any]:
        """Let it rest, go on, or begin again with all its tasks."""
        with _asked(server) as client:
            match deed:
                case "pause":
                    client.pause(name)
                case "resume":
                    client.resume(name)
                case "restart":
                    client.restart(name, tasks="all")
        server.did(request.state.who, f"connector: {deed}", detail=name)
        return {"name": name}

    @made.delete("/{name:path}", status_code=204)
    def remove(request: Request, name: Annotated[str, Path(max_length=300)]) -> None:
        """Remove it; slot, publication and topics stay."""
        with _asked(server) as client:
            client.delete(name)
        server.did(request.state.who, "connector removed", detail=name)


def answer(client: ConnectClient, status: Status) -> dict[str, Any]:
    """A connector as it is told, without its secrets."""
    hidden = secrets_of(client.config(status.name)) if status.failed else ()
    return {
        "name": status.name,
        "state": status.parts[0].state,
        "parts": [
            {
                "task": part.task,
                "state": part.state,
                "worker": part.worker,
                "reason": reason_of(part.trace, hidden) if part.trace else "",
                "hint": hint_for(part.trace, status.name) if part.trace else "",
                "trace": without(part.trace, hidden),
            }
            for part in status.parts
        ],
    }


@contextmanager
def _asked(server: Server) -> Iterator[ConnectClient]:
    """The cluster; its errors name the flag of this server."""
    try:
        yield ConnectClient(server.connect_url)
    except ConnectError as problem:
        problem.hint = problem.hint.replace("--url", "--connect of headwater serve")
        raise
