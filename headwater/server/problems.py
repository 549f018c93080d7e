"""Errors as they are answered: `{"error": {"message", "detail", "hint", "place"}}` with the status that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse

from headwater.errors import (
    ConnectError,
    HeadwaterError,
    ServiceError,
    SinkError,
    SourceError,
    SqlError,
    StateError,
    UsageError,
)
from headwater.runtime.feed import Gone
from headwater.server.access import Forbidden, Unknown
from headwater.server.reader import NotReady
from headwater.server.refusals import Conflict, Missing, TooLarge, Unwritten

STATUSES: tuple[tuple[type[HeadwaterError], int], ...] = (
    (Unknown, 401),
    (Forbidden, 403),
    (Missing, 404),
    (Conflict, 409),
    (Gone, 410),
    (TooLarge, 413),
    (SqlError, 400),
    (UsageError, 400),
    (Unwritten, 503),
    (StateError, 409),
    (SourceError, 502),
    (SinkError, 502),
    (ConnectError, 502),
    (ServiceError, 503),
    (NotReady, 503),
)


def problem_answer(problem: HeadwaterError) -> JSONResponse:
    """What is answered when something goes wrong."""
    status = next((code for kind, code in STATUSES if isinstance(problem, kind)), 400)
    said = {key: value for key, value in problem.to_json().items() if key != "type"}
    more = problem.more if isinstance(problem, Conflict) else {}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": said} | more, status_code=status, headers=headers)


def plain_answer(status: int, message: str, detail: str = "", hint: str = "") -> JSONResponse:
    """An answer in the same form, for what is no error of ours."""
    said = {"message": message, "detail": detail, "hint": hint, "place": None}
    return JSONResponse({"error": said}, status_code=status)


def wrong_request(errors: Sequence[Any]) -> JSONResponse:
    """What FastAPI finds wrong with a request; what was sent is not repeated, a secret may be in it."""
    told = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in errors]
    return plain_answer(422, "the request is not understood", "; ".join(told), "See /docs for what it takes.")
