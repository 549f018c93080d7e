"""/views/{name}/changes: a view as it changes, as server-sent events."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from headwater.runtime.reading import Limits
from headwater.server.asked_rows import all_of
from headwater.server.follow import Follower
from headwater.server.followed import followed
from headwater.server.routes.event_stream import described, event_stream
from headwater.server.routes.views import READ_SECONDS
from headwater.server.server import Server
from headwater.server.shared_events import SharedEvents

MOST_ROWS = 100_000_000
"""A view with more rows than this cannot be begun with."""


def router(server: Server) -> APIRouter:
    """The page of changes."""
    made = APIRouter(prefix="/views", tags=["views"])
    shared = SharedEvents()

    # Not in a thread, as all others: one who listens for hours would keep it from those who ask for a moment.
    @made.get(
        "/{name:path}/changes",
        response_class=StreamingResponse,
        responses=described("Events, until the deployment is over."),
    )
    async def changes(
        name: str,
        after: Annotated[
            str | None, Query(max_length=2000, description="a cut; what came after it is told")
        ] = None,
        first: Annotated[
            int | None,
            Query(ge=1, le=MOST_ROWS, description="so many of the rows there are at most, any of them"),
        ] = None,
        last_event_id: Annotated[
            str | None, Header(max_length=2000, description="as after; it goes first")
        ] = None,
    ) -> StreamingResponse:
        """The rows of a view, and then what each batch changes; with `after`, only what came after that cut."""
        after = last_event_id or after
        follower = await run_in_threadpool(begin, server, name, after, first=first, shared=shared)
        return event_stream(follower.events())

    return made


def begin(
    server: Server, name: str, after: str | None, *, first: int | None, shared: SharedEvents
) -> Follower:
    """Someone who follows a view from now on, or from a cut on."""
    with ExitStack() as closing:
        held = closing.enter_context(server.reader.held())
        found = followed(server, held, name)
        relation = found.relation
        follower = Follower(relation.name, found.feed, found.deployed, relation.batch_id, found.mark, shared)
        follower.told_at = relation.reached_at
        if after is not None:
            follower.at = follower.feed.after(after)
        elif relation.is_ready:
            query = all_of(relation.full_name, relation.schema)
            query = query if first is None else query.limit(first)
            limits = Limits(rows=MOST_ROWS, bytes=1 << 62, seconds=READ_SECONDS)
            follower.rows = follower.closing.enter_context(held.asked(query, limits))
    return follower
