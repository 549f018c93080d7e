"""/views: the tables and views of everything that runs, and their rows at one cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from headwater.runtime.reading import Limits
from headwater.server.answers import moment
from headwater.server.asked_rows import OWN, AskedRows, query_of
from headwater.server.forms import MEDIA, chosen_form, written
from headwater.server.pages import Page, Pages
from headwater.server.reader import Asked, Held, Relation
from headwater.server.server import Server
from headwater.server.view_names import find_relation

LARGEST_PAGE = 1_000_000

READ_SECONDS = 120.0
"""So long the rows of a page may take to be found."""

_ROWS = {
    200: {
        "description": "The rows, and the cut at which they are true.",
        "content": {media.split(";")[0]: {} for media in MEDIA.values()},
    }
}


def router(server: Server) -> APIRouter:
    """The pages of tables and views."""
    made = APIRouter(prefix="/views", tags=["views"])
    pages = Pages(server.reader)

    @made.get("")
    def list_all() -> dict[str, Any]:
        """All tables and views that can be read now."""
        return {"views": [relation_answer(one) for one in server.reader.relations()]}

    @made.get("/{name:path}", response_class=StreamingResponse, responses=_ROWS)  # type: ignore[arg-type]  # FastAPI's own
    def rows(
        request: Request,
        name: str,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="how many rows a page has")] = 1000,
        format: Annotated[str | None, Query(description="json, csv or arrow; else by Accept")] = None,
    ) -> StreamingResponse:
        """Rows of a table or view. Every other parameter is a filter: column=value, column__gt=value.

        Also order_by=a,-b, columns=a,b and next=, as the page before has told it.
        """
        given = request.query_params
        form = chosen_form(format, request.headers.get("accept", ""))
        filters = tuple((key, value) for key, value in given.multi_items() if key not in OWN)
        asked = AskedRows(filters, given.get("order_by", ""), given.get("columns", ""))
        if "next" in given:
            page = pages.following(given["next"], name)
        else:
            page = pages.first(name, asked, limit)
        return answer(pages, page, form)

    return made


def relation_answer(relation: Relation) -> dict[str, Any]:
    """A table or view as it is listed."""
    return {
        "application": relation.pipeline,
        "name": relation.name,
        "full_name": relation.full_name,
        "kind": relation.kind,
        "columns": [{"name": column.name, "type": column.type} for column in relation.schema],
        "key": list(relation.schema.key),
        "is_ready": relation.is_ready,
        "cut": relation.cut,
        "batch": relation.batch_id,
        "at": moment(relation.reached_at),
    }


def answer(pages: Pages, page: Page, form: str) -> StreamingResponse:
    """The rows of a page as they are sent; what is held for it is let go at the end, or when nobody listens."""
    shown = page.moment
    with ExitStack() as closing:
        closing.callback(pages.done, page)
        relation = find_relation(shown.held, shown.relation)
        columns = relation.schema
        query = query_of(relation.full_name, columns, shown.asked, limit=shown.limit + 1, offset=page.offset)
        limits = Limits(rows=shown.limit + 1, bytes=1 << 62, seconds=READ_SECONDS)
        asked = closing.enter_context(shown.held.asked(query, limits))
        following = pages.next_of(page) if asked.found.count > shown.limit else None
        head = _head(shown.held, relation, asked, following)
        rows = written(form, asked.found.schema, _first(asked, shown.limit), head=head)
        return Closing(rows, closing.pop_all(), media_type=MEDIA[form], headers=_headers(head))


class Closing(StreamingResponse):
    """An answer that is sent as it is read. Something is let go at its end, also if nobody waits for its beginning."""

    def __init__(
        self, pieces: Iterator[bytes], closing: ExitStack, *, media_type: str, headers: dict[str, str]
    ) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._closing:
            await super().__call__(scope, receive, send)


def _head(held: Held, relation: Relation, asked: Asked, following: str | None) -> dict[str, Any]:
    feed = held.pipelines[relation.pipeline].feed
    snapshot = held.snapshots[relation.pipeline]
    after = feed.mark(snapshot.batch_id, snapshot.cut) if feed is not None else None
    return {
        "view": relation.full_name,
        "cut": asked.cut,
        "batch": asked.batch_id,
        "at": moment(asked.reached_at),
        "after": after,
        "columns": [{"name": column.name, "type": column.type} for column in asked.found.schema],
        "next": following,
    }


def _headers(head: dict[str, Any]) -> dict[str, str]:
    named = {
        "cut": "Headwater-Cut",
        "batch": "Headwater-Batch",
        "after": "Headwater-After",
        "next": "Headwater-Next",
    }
    return {title: str(head[key]) for key, title in named.items() if head[key] is not None}


def _first(asked: Asked, count: int) -> Iterator[Any]:
    """So many rows of an answer."""
    for batch in asked.found.batches():
        if count > 0:
            yield batch.slice(0, count)
        count -= batch.num_rows
