"""A capture within the process of a test, whose settings it can change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from headwater.errors import SourceError
from headwater.sources.postgres.capture import capture
from headwater.sources.postgres.config import CaptureConfig


class Started:
    """Hears when the stream of a capture has begun: its first rows are in the log, and it has its slot.

    To look into the log meanwhile could disturb who makes it; a slot is in use also while it is made.
    """

    def __init__(self) -> None:
        self._heard = threading.Event()

    def __call__(self, said: str, **_: object) -> None:
        if said == "started":
            self._heard.set()

    def __bool__(self) -> bool:
        return self._heard.is_set()


@contextmanager
def captured(
    config: CaptureConfig,
    monkeypatch: pytest.MonkeyPatch,
    hear: Callable[..., None] = lambda *_, **__: None,
) -> Iterator[list[BaseException]]:
    """A capture on a thread of this process; how it ended."""
    monkeypatch.setattr("headwater.sources.postgres.capture.say", hear)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            capture(config)
        except SourceError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield ended
    thread.join(120.0)
    assert not thread.is_alive()
