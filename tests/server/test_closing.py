"""An answer lets go of what it holds. Oracle: whether that was let go, however early the client is gone."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest

from headwater.server.routes.views import Closing

SCOPE = {"type": "http", "asgi": {"spec_version": "2.3"}}


@pytest.mark.parametrize("is_there", [True, False])
def test_what_an_answer_holds_is_let_go(is_there: bool) -> None:
    closed: list[bool] = []
    sent: list[bytes] = []
    closing = ExitStack()
    closing.callback(closed.append, True)

    async def receive() -> dict[str, Any]:
        if is_there:
            await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    answer = Closing(iter([b"a", b"b"]), closing, media_type="text/csv", headers={})
    asyncio.run(answer(SCOPE, receive, send))
    assert closed == [True]
    assert (b"".join(sent) == b"ab") == is_there
