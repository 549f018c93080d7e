"""/sources: where everything that runs comes from."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from headwater.server.server import Server
from headwater.server.sources import source_answers


def router(server: Server) -> APIRouter:
    """The page of sources."""
    made = APIRouter(prefix="/sources", tags=["sources"])

    @made.get("")
    def list_all() -> dict[str, Any]:
        """Every source: its position, what its database keeps for it, first rows, last events, columns by version."""
        return {"sources": source_answers(server)}

    return made
