"""/dashboards: charts that were put together, listed, kept, removed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from headwater.server.dashboards import (
    Dashboard,
    all_dashboards,
    find_dashboard,
    remove_dashboard,
    save_dashboard,
)
from headwater.server.server import Server


def router(server: Server) -> APIRouter:
    """The pages of dashboards; each is a file in the server's folder."""
    made = APIRouter(prefix="/dashboards", tags=["dashboards"])

    @made.get("")
    def list_all() -> dict[str, Any]:
        """All dashboards."""
        found = all_dashboards(server)
        return {"dashboards": [{"name": name, **one.model_dump()} for name, one in found.items()]}

    @made.get("/{name}")
    def show(name: str) -> Dashboard:
        """One dashboard, as its file has it."""
        return find_dashboard(server, name)

    @made.put("/{name}")
    def save(request: Request, name: str, body: Dashboard) -> Dashboard:
        """Keep a dashboard, in the place of one of the same name."""
        save_dashboard(server, name, body)
        server.did(request.state.who, "dashboard saved", detail=name)
        return body

    @made.delete("/{name}", status_code=204)
    def remove(request: Request, name: str) -> None:
        """Forget a dashboard."""
        remove_dashboard(server, name)
        server.did(request.state.who, "dashboard removed", detail=name)

    return made
