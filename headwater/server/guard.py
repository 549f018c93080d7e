"""What stands before every request: is it small enough, does it come from here, and who sent it."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.console.pages import COOKIE, OURS, is_page
from headwater.errors import HeadwaterError
from headwater.server.access import LOCAL, OPEN, READING, Access, Forbidden
from headwater.server.bodies import LARGEST_REQUEST
from headwater.server.problems import problem_answer
from headwater.server.refusals import TooLarge


class Guard:
    """Lets a request pass, or answers it."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            _check_size(headers)
            if self._access.is_open:
                _check_origin(headers)
            scope.setdefault("state", {})["who"] = self._who(scope, headers)
        except HeadwaterError as problem:
            await problem_answer(problem)(scope, receive, send)
            return
        try:
            await self._app(scope, _measured(receive), send)
        except TooLarge as problem:
            await problem_answer(problem)(scope, receive, send)

    def _who(self, scope: Scope, headers: Headers) -> str:
        if scope["path"] in OPEN or is_page(scope["path"]):
            return "anyone"
        return self._access.who(_token(headers, scope["method"]), scope["method"])


def _token(headers: Headers, method: str) -> str | None:
    """The token of a program, or of a browser that was asked for it.

    A browser sends its cookie with whatever any page makes it send; only pages of this server can add a header to that.
    """
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    kept = cookie_parser(headers.get("cookie", "")).get(COOKIE)
    if kept and method not in READING and headers.get(OURS) is None:
        raise Forbidden("requests from pages of other sites are refused", hint=f"Send the header {OURS}.")
    return unquote(kept) if kept else None


def _check_size(headers: Headers) -> None:
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LARGEST_REQUEST:
        raise _too_large()


def _check_origin(headers: Headers) -> None:
    """Where no token is asked for, pages of other sites must not reach us through the browser of who looks at them."""
    host = _name_in(f"//{headers.get('host', '')}")
    if host not in LOCAL:
        raise Forbidden(
            f"this server is not '{host[:100]}'", hint="Without a token it answers only as localhost."
        )
    origin = headers.get("origin")
    is_foreign = origin is not None and not _is_ours(origin, headers)
    # A link that somebody follows is no harm; a picture or a script of another site's page could make Spark work.
    is_hidden = headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
    if is_foreign or is_hidden:
        raise Forbidden(
            "requests from pages of other sites are refused", hint="Start the server with a token."
        )


def _is_ours(origin: str, headers: Headers) -> bool:
    """True for a page of this server: other programs of this machine have pages too, at other ports."""
    if _name_in(origin) not in LOCAL:
        return False
    is_here = origin.partition("://")[2].lower() == headers.get("host", "").lower()
    return is_here or headers.get(OURS) is not None


def _name_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _measured(receive: Receive) -> Receive:
    """The request, as long as it stays small."""
    total = 0

    async def measured() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > LARGEST_REQUEST:
            raise _too_large()
        return message

    return measured


def _too_large() -> TooLarge:
    return TooLarge(
        "the request is too large", detail=f"It has more than {LARGEST_REQUEST // 1024 // 1024} MB."
    )
