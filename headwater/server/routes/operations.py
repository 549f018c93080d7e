"""What who runs the server looks at: /health, /ready, /metrics, /resources, /audit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from prometheus_client import CONTENT_TYPE_LATEST

from headwater import __version__
from headwater.errors import ServiceError, UsageError
from headwater.runtime.resources import Held, held_by, resources
from headwater.server.access import LOCAL
from headwater.server.answers import moment
from headwater.server.metrics import metrics_text
from headwater.server.records import Deed
from headwater.server.server import Server


def router(server: Server) -> APIRouter:
    """The pages for who runs the server."""
    made = APIRouter(tags=["operations"])

    # Not in a thread, as all others: it answers while all threads wait for databases.
    @made.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok", "version": __version__}

    @made.get("/ready")
    def ready() -> dict[str, str]:
        """Whether Spark runs, so that what is deployed begins at once; 503 if not."""
        if not server.host.is_ready:
            raise ServiceError(
                "Spark does not run",
                hint="It starts with the server, within seconds. If it has ended, start the server again.",
            )
        return {"status": "ready"}

    @made.get("/metrics", response_class=Response)
    def metrics() -> Response:
        """Everything that is measured, for Prometheus."""
        return Response(metrics_text(server), media_type=CONTENT_TYPE_LATEST)

    @made.get("/resources")
    def used() -> dict[str, Any]:
        """Cores and memory: how much is there and free, and which application, job or live query holds it."""
        return _resources(server)

    @made.get("/audit")
    def audit(limit: int = Query(default=100, ge=1, le=10_000)) -> dict[str, Any]:
        """Who did what, the latest last."""
        deeds = server.store.last(Deed, limit)
        return {"audit": [asdict(deed) | {"at": moment(deed.at)} for deed in deeds]}

    _add_spark(made, server)
    return made


def _add_spark(made: APIRouter, server: Server) -> None:
    @made.get("/spark", response_class=RedirectResponse, status_code=307)
    def spark(request: Request) -> RedirectResponse:
        """To Spark's own pages, which only this machine can open."""
        address = server.host.own_pages()
        if request.url.hostname not in LOCAL:
            raise UsageError(
                "Spark's own pages can be opened on the server's machine only",
                detail=f"There they are at {address}.",
                hint="From elsewhere: ssh -L, and the same address.",
            )
        return RedirectResponse(address)


def _resources(server: Server) -> dict[str, Any]:
    there = resources()
    standing = {name: deployed.pipeline for name, deployed in server.running().items()}
    held = {name: held_by(pipeline) for name, pipeline in standing.items() if pipeline is not None}
    others = {name: held_by(pipeline) for name, pipeline in server.others_running().items()}
    busy = min(there.cores, sum(one.busy_cores for one in (*held.values(), *others.values())))
    return {
        "cores": {"total": there.cores, "used": busy, "free": there.cores - busy},
        "memory_bytes": {
            "total": there.memory,
            "used": there.memory_used,
            "free": there.memory - there.memory_used,
        },
        "pipelines": [{"application": name} | _held(one) for name, one in held.items()],
        "sessions": [{"name": name} | _held(one) for name, one in others.items()],
    }


def _held(held: Held) -> dict[str, Any]:
    return {
        "busy_cores": held.busy_cores,
        "state_rows": sum(held.state_rows.values()),
        "state_bytes": sum(held.state_bytes.values()),
    }
