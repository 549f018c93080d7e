"""Looks at what the server keeps for our slot while the capture does its work.

It has a thread and a connection of its own: however slow the server answers, the stream does not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg2

from headwater.errors import HeadwaterError
from headwater.sources.base import Report, Retained
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.connect import connect
from headwater.sources.postgres.guard import Guard
from headwater.sources.postgres.retained import Kept, Overgrown, Voice, is_overgrown, look

WATCH_SECONDS = 10.0

_PATIENCE = "SET statement_timeout = '5s'"


class Watch:
    """See the module. `tell` hears what matters and `show` all that is seen, on the thread of the watch."""

    def __init__(
        self, config: CaptureConfig, tell: Callable[[Report], None], show: Callable[[Retained], None]
    ) -> None:
        self._config, self._tell, self._show = config, tell, show
        self.guard: Guard | None = None
        """What else is looked at, as long as there is a stream."""
        self._voice = Voice(config.care)
        self._opened: Any = None
        self._is_blind = False
        self._overgrown: Overgrown | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retained", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what was found if the slot is to be given up; cheap enough to be asked all the time."""
        if self._overgrown is not None:
            raise self._overgrown

    def stop(self) -> None:
        """Look no longer."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set() and self._overgrown is None:
            self._look()
            self._stop.wait(WATCH_SECONDS)
        self._close()

    def _look(self) -> None:
        try:
            kept = self._kept()
        except (psycopg2.Error, HeadwaterError) as error:
            self._close()
            if not self._is_blind and not self._stop.is_set():
                self._is_blind = True
                said = " ".join(str(error).split())
                self._note(f"what postgres keeps for slot '{self._config.slot}' cannot be seen: {said}")
            return
        if self._is_blind:
            self._is_blind = False
            self._note(f"what postgres keeps for slot '{self._config.slot}' can be seen again")
        if kept is None:
            return
        self._show(Retained(kept.slot, kept.status, kept.retained, kept.behind))
        if is_overgrown(kept, self._config.care):
            self._overgrown = Overgrown(kept)
        news = self._voice.of(kept)
        if news is not None:
            self._note(news)

    def _kept(self) -> Kept | None:
        if self._opened is None:
            self._opened = connect(self._config.address)
            self._opened.cursor().execute(_PATIENCE)
        cursor = self._opened.cursor()
        kept = look(cursor, self._config.slot)
        if self.guard is not None:
            self.guard.look(cursor)
        return kept

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _note(self, text: str) -> None:
        self._tell(Report("note", text))
