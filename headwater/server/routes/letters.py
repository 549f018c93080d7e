"""/pipelines/{name}/dead-letters: what could not be read; looked at, sent once more, dropped."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from headwater.server import letters
from headwater.server.applications import find_application
from headwater.server.bodies import Body
from headwater.server.pipelines import running
from headwater.server.server import Server


class Dropped(Body):
    """Which letters go."""

    letters: list[str] = Field(min_length=1, max_length=1000, description="ids, as the list tells them")


class Replayed(Body):
    """Which letter is sent once more."""

    letter: str = Field(description="its id")
    value: str | None = Field(
        default=None, max_length=1_000_000, description="the message as it should be; without it as it was"
    )


def router(server: Server) -> APIRouter:
    """The pages of letters."""
    made = APIRouter(prefix="/pipelines/{name}/dead-letters", tags=["pipelines"])

    @made.get("")
    def list_all(name: str) -> dict[str, Any]:
        """The first letters, and how many there are."""
        deployed, _ = running(server, find_application(server, name))
        return deployed.turning.ask(letters.told)

    @made.post("/drop")
    def drop(request: Request, name: str, body: Dropped) -> dict[str, Any]:
        """Let letters go with the next batch."""
        application = find_application(server, name)
        deployed, _ = running(server, application)
        deployed.turning.ask(lambda one: letters.drop(one, body.letters))
        server.did(request.state.who, "letters dropped", application, detail=str(len(body.letters)))
        return {"dropped": len(body.letters)}

    @made.post("/replay")
    def replay(request: Request, name: str, body: Replayed) -> dict[str, Any]:
        """Send a message to its topic once more, mended if a value is given; then the letter goes."""
        application = find_application(server, name)
        deployed, pipeline = running(server, application)
        letter = deployed.turning.ask(lambda one: letters.letter_of(one, body.letter))
        letters.replay(pipeline, letter, body.value)
        deployed.turning.ask(lambda one: letters.drop(one, [body.letter]))
        server.did(request.state.who, "letter sent once more", application, detail=str(letter["topic"]))
        return {"topic": letter["topic"]}

    return made
