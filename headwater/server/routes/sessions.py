"""/sessions: SQL statement by statement, as the SQL client types it; live queries as events, jobs in the background."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from headwater.runtime.conversation import Listed, Outcome, Said, Started
from headwater.runtime.facts import Silent
from headwater.server.bodies import Body
from headwater.server.routes.event_stream import described, event_stream
from headwater.server.server import Server
from headwater.server.sessions import OpenSession, Sessions, Telling

LARGEST_STATEMENT = 1_000_000
"""In letters."""


class NewStatement(Body):
    """One statement, and where it stands for those who read an error about it."""

    statement: str = Field(max_length=LARGEST_STATEMENT, description="one statement, without its semicolon")
    file: str = Field(default="sql", max_length=1000, description="what errors call the text it comes from")
    once: bool = Field(
        default=False, description="a query, or a job, ends when it knows what is committed now"
    )


def router(server: Server) -> APIRouter:
    """The pages of sessions."""
    made = APIRouter(prefix="/sessions", tags=["sessions"])
    sessions = Sessions(server)

    @made.post("", status_code=201)
    def create() -> dict[str, Any]:
        """Open a session, in which nothing is declared yet."""
        return {"id": sessions.create().id}

    @made.delete("/{session}", status_code=204)
    def close(session: str) -> None:
        """Close a session; its jobs go on."""
        sessions.close(session)

    @made.post("/{session}/statements")
    def run(request: Request, session: str, body: NewStatement) -> dict[str, Any]:
        """Carry out one statement: an answer, a job that was started, or a live query to be followed."""
        found = sessions.get(session)
        outcome = found.session.run(body.statement, body.file, listener=Silent(), once=body.once)
        match outcome:
            case Started(job):
                server.did(request.state.who, "job started", detail=job.id)
            case Said(stopped=job_id) if job_id:
                server.did(request.state.who, "job stopped", detail=job_id)
        return answer(found, outcome)

    _add_looks(made, sessions)
    _add_events(made, sessions)
    return made


def _add_looks(made: APIRouter, sessions: Sessions) -> None:
    @made.get("/{session}/known")
    def known(session: str) -> dict[str, Any]:
        """The names that the next statement may use."""
        return sessions.get(session).session.known().to_json()

    @made.get("/{session}/jobs")
    def jobs(session: str) -> dict[str, Any]:
        """All jobs of all sessions, also those that are over."""
        return {"jobs": [job.to_json() for job in sessions.get(session).session.jobs()]}


def _add_events(made: APIRouter, sessions: Sessions) -> None:
    # Not in a thread, as all others: one who listens for hours would keep it from those who ask for a moment.
    @made.post(
        "/{session}/queries/{query}/events",
        response_class=StreamingResponse,
        responses=described("Events, until the query ends."),
    )
    async def events(session: str, query: str, every_change: bool = False) -> StreamingResponse:
        """Start a live query and follow it; it ends when nobody listens any more."""
        found = sessions.get(session)
        telling = Telling(found, found.get(query), every_change=every_change)
        return event_stream(telling.events())


def answer(session: OpenSession, outcome: Outcome) -> dict[str, Any]:
    """What came of a statement."""
    match outcome:
        case Said(text, is_note, is_bad):
            return {"outcome": "said", "text": text, "is_note": is_note, "is_bad": is_bad}
        case Started(job):
            return {"outcome": "started", "job": job.to_json()}
        case Listed(jobs):
            return {"outcome": "jobs", "jobs": [job.to_json() for job in jobs]}
        case query:
            session.put(query)
            return {"outcome": "query", "query": query.name, "mode": query.mode}
