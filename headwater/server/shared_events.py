"""Small batches as events: made once for everyone who follows the same view, however many they are."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from headwater.runtime.feed import Feed

MOST_KEPT = 64
LARGEST = 256 << 10
"""In bytes; what is larger is made anew for everyone, piece by piece."""


@dataclass(frozen=True)
class Small:
    """What one batch did to a view, as one event; no event if it did nothing."""

    batch_id: int
    mark: str
    event: bytes
    done_at: float | None = None
    """In seconds since 1970."""


Making = Callable[[], Small | None]
"""Reads a batch from files; None if it is too large for one event."""


class SharedEvents:
    """The events of recent batches. Who asks first makes one, in a thread; who asks meanwhile waits for it."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[object, ...], asyncio.Task[Small | None]] = OrderedDict()

    async def after(self, batch_id: int, feed: Feed, relation: str, *, making: Making) -> Small | None:
        """The event of the batch behind another; None if it is too large to be shared."""
        key = (asyncio.get_running_loop(), feed, relation, batch_id)
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(run_in_threadpool(making))
            while len(self._made) > MOST_KEPT:
                self._made.popitem(last=False)
        try:
            # One who goes while it is made does not take it from the others.
            return await asyncio.shield(task)
        except Exception:
            # What failed for those who waited, for want of memory or of open files, may succeed for who asks now.
            if self._made.get(key) is task:
                del self._made[key]
            raise
