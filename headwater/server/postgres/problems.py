"""Our errors, as a client of Postgres is told them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from headwater.errors import HeadwaterError, SqlError
from headwater.server.postgres.messages import Refusal


@contextmanager
def told(given_up: threading.Event) -> Iterator[None]:
    """What goes wrong inside the block is told to the client; what it gave up itself, as that."""
    try:
        yield
    except HeadwaterError as problem:
        if given_up.is_set():
            raise Refusal("57014", "canceling statement due to user request") from None
        raise as_refusal(problem) from problem


def as_refusal(problem: HeadwaterError) -> Refusal:
    """An error with its detail and hint."""
    code = "42000" if isinstance(problem, SqlError) else "55000"
    return Refusal(code, problem.message, detail=problem.detail, hint=problem.hint)
