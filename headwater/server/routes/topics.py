"""/kafka: the topics of the clusters that pipelines read and write, and their messages as they come."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from headwater.server.routes.event_stream import described, event_stream
from headwater.server.server import Server
from headwater.server.topics import begin_tail, clusters, find_cluster, topic_answers


def router(server: Server) -> APIRouter:
    """The pages of Kafka clusters."""
    made = APIRouter(prefix="/kafka", tags=["sources"])

    @made.get("")
    def list_all() -> dict[str, Any]:
        """The clusters that tables of running pipelines name."""
        return {"clusters": [{"name": one.name, "servers": one.servers} for one in clusters(server).values()]}

    @made.get("/{cluster}/topics")
    def list_topics(cluster: str) -> dict[str, Any]:
        """The topics of a cluster."""
        return {"topics": topic_answers(find_cluster(server, cluster))}

    # Not in a thread: one who listens for hours would keep it from others.
    @made.get(
        "/{cluster}/topics/{topic}/messages",
        response_class=StreamingResponse,
        responses=described("Messages as events."),
    )
    async def messages(cluster: str, topic: str) -> StreamingResponse:
        """The last messages of a topic, and then those that come."""
        tail = await run_in_threadpool(lambda: begin_tail(find_cluster(server, cluster), topic))
        return event_stream(tail.events())

    return made
