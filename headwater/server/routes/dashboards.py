"""/dashboards: charts that were put together, listed, kept, removed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from headwater.errors import StateError
from headwater.server.dashboards import (
    Dashboard,
    Kept,
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
        """All dashboards; of one whose file cannot be read, why."""
        return {"dashboards": [_listed(name, one) for name, one in all_dashboards(server).items()]}

    @made.get("/{name}")
    def show(response: Response, name: str) -> Dashboard:
        """One dashboard, as its file has it; the header ETag changes with it."""
        return _told(response, find_dashboard(server, name))

    @made.put("/{name}")
    def save(
        request: Request,
        response: Response,
        name: str,
        body: Dashboard,
        if_match: Annotated[
            str | None,
            Header(max_length=100, description="the ETag of what was changed; 409 if it is another"),
        ] = None,
    ) -> Dashboard:
        """Keep a dashboard, in the place of one of the same name."""
        kept = save_dashboard(server, name, body, if_match)
        server.did(request.state.who, "dashboard saved", detail=name)
        return _told(response, kept)

    @made.delete("/{name}", status_code=204)
    def remove(request: Request, name: str) -> None:
        """Forget a dashboard."""
        remove_dashboard(server, name)
        server.did(request.state.who, "dashboard removed", detail=name)

    return made


def _listed(name: str, one: Dashboard | StateError) -> dict[str, Any]:
    if isinstance(one, StateError):
        said = {"message": one.message, "detail": one.detail, "hint": one.hint}
        return {"name": name, **Dashboard().model_dump(), "error": said}
    return {"name": name, **one.model_dump(), "error": None}


def _told(response: Response, kept: Kept) -> Dashboard:
    response.headers["ETag"] = kept.mark
    return kept.dashboard
