"""Answers that are server-sent events, for as long as somebody listens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

MEDIA = "text/event-stream"


def described(what: str) -> dict[int | str, dict[str, Any]]:
    """What the description of a page says of them."""
    return {200: {"description": what, "content": {MEDIA: {}}}}


def event_stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """The answer; nobody on its way may keep it back."""
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type=MEDIA, headers=headers)
