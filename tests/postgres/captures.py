"""A capture within the process of a test, whose settings it can change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from headwater.errors import SourceError
from headwater.sources.postgres.capture import capture
from headwater.sources.postgres.config import CaptureConfig


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
    thread.join(60.0)
    assert not thread.is_alive()
