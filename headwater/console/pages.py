"""The console's page and its assets, with headers that let nothing else run; and the door where a token is asked for."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, SecretStr
from starlette.exceptions import HTTPException

ASSETS = Path(__file__).resolve().parent / "assets"
COOKIE = "headwater_token"
OURS = "x-headwater-console"
"""The header by which a request that changes something says that it comes from our page."""

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""No script but our files; and our files may never turn a text into HTML."""

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}

mimetypes.add_type("font/woff2", ".woff2")
mimetypes.add_type("text/javascript", ".js")


class Login(BaseModel):
    """What somebody types at the door."""

    # A bound for all texts, not for this field: it also refuses what JSON can spell and no text can hold.
    model_config = ConfigDict(extra="forbid", str_max_length=1000)

    token: SecretStr


def is_page(path: str) -> bool:
    """True if what is asked for is ours: it tells nothing, so that no token is needed for it."""
    return path == "/" or path.startswith("/console/")


def router(is_open: bool, is_known: Callable[[str], bool]) -> APIRouter:
    """The console of a server; `is_known` tells tokens from other words."""
    made = APIRouter(include_in_schema=False)

    @made.get("/")
    @made.get("/console/{page:path}")
    def show(page: str = "") -> Response:
        if page.startswith("assets/"):
            return _asset(page.removeprefix("assets/"))
        return HTMLResponse((ASSETS / "console.html").read_bytes(), headers=HEADERS)

    @made.post("/console/login")
    def login(request: Request, body: Login) -> Response:
        token = body.token.get_secret_value().strip()
        if request.headers.get(OURS) is None or not (is_open or is_known(token)):
            return JSONResponse({"is_known": False}, status_code=401, headers=HEADERS)
        answer = JSONResponse({"is_known": True}, headers=HEADERS)
        is_secure = request.url.scheme == "https"
        answer.set_cookie(
            COOKIE, quote(token, safe=""), httponly=True, samesite="strict", secure=is_secure, path="/"
        )
        return answer

    @made.post("/console/logout")
    def logout(request: Request) -> Response:
        if request.headers.get(OURS) is None:
            return JSONResponse({"is_known": None}, status_code=403, headers=HEADERS)
        answer = JSONResponse({"is_known": False}, headers=HEADERS)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
        return answer

    return made


def _asset(name: str) -> Response:
    try:
        path = (ASSETS / name).resolve()
        is_ours = path.is_relative_to(ASSETS) and path.is_file()
    except (OSError, ValueError):  # It is too long for a name, or has a zero byte in it.
        is_ours = False
    if not is_ours:
        raise HTTPException(404)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Response(path.read_bytes(), media_type=kind, headers=HEADERS)
