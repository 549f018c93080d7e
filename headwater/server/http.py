"""The server over HTTP: one router for each topic, one form for all errors, a page that describes itself."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from headwater import __version__
from headwater.console.pages import router as console
from headwater.errors import HeadwaterError
from headwater.server.access import Access
from headwater.server.docs_page import docs_page
from headwater.server.guard import Guard
from headwater.server.problems import plain_answer, problem_answer, wrong_request
from headwater.server.routes import (
    applications,
    changes,
    connectors,
    dashboards,
    deployments,
    integrations,
    letters,
    operations,
    pipelines,
    queries,
    sessions,
    sources,
    topics,
    versions,
    views,
)
from headwater.server.server import Server

ROUTERS: tuple[Callable[[Server], APIRouter], ...] = (
    applications.router,
    versions.router,
    deployments.router,
    integrations.router,
    sessions.router,
    changes.router,
    views.router,
    queries.router,
    letters.router,
    pipelines.router,
    sources.router,
    topics.router,
    connectors.router,
    dashboards.router,
    operations.router,
)
"""One for each topic, in the order of the page; the name of a view may have any sign in it, so what goes behind it is
asked for first."""


def make_app(server: Server, access: Access) -> FastAPI:
    """All that can be asked of a server over HTTP."""
    app = FastAPI(
        title="Headwater",
        version=__version__,
        description="SQL results that stay true while the database underneath them changes.",
        docs_url=None,
        redoc_url=None,
    )
    for router in ROUTERS:
        app.include_router(router(server))
    app.include_router(console(access.is_open, access.is_known))
    _add_page(app)
    _add_handlers(app, server)
    app.add_middleware(Guard, access=access)
    return app


def _add_page(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi()))


def _add_handlers(app: FastAPI, server: Server) -> None:
    """All errors leave in one form, without secrets."""

    @app.exception_handler(HeadwaterError)
    def ours(request: Request, problem: HeadwaterError) -> JSONResponse:
        problem.message = server.mask(problem.message)
        problem.detail, problem.hint = server.mask(problem.detail), server.mask(problem.hint)
        return problem_answer(problem)

    @app.exception_handler(RequestValidationError)
    def wrong(request: Request, problem: RequestValidationError) -> JSONResponse:
        return wrong_request(problem.errors())

    @app.exception_handler(HTTPException)
    def plain(request: Request, problem: HTTPException) -> Response:
        said = {404: "there is no such page", 405: "this page does not take that method"}
        answer = plain_answer(
            problem.status_code, said.get(problem.status_code, str(problem.detail)), hint="See /docs."
        )
        answer.headers.update(problem.headers or {})
        return answer

    @app.exception_handler(Exception)
    def unforeseen(request: Request, problem: Exception) -> JSONResponse:
        trace: Any = "".join(traceback.format_exception(problem))
        server.journal.note("request failed by a mistake of ours", path=request.url.path, trace=trace)
        return plain_answer(
            500,
            "the request failed by a mistake of ours",
            hint="The server's log has the details; please report it.",
        )
