"""Looks at what the server keeps for our slot, and at what is published, while the capture does its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg2

from headwater.errors import HeadwaterError
from headwater.sources.base import Report, Retained
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.guard import Guard
from headwater.sources.postgres.onlooker import Onlooker
from headwater.sources.postgres.retained import Overgrown, Voice, is_overgrown, look

WATCH_SECONDS = 10.0

_PATIENCE = "5s"


class _Sight:
    """Tells once that something cannot be seen, and once that it can be seen again."""

    def __init__(self, what: str, tell: Callable[[str], None]) -> None:
        self._what, self._tell = what, tell
        self._is_blind = False

    def is_lost(self, error: Exception) -> None:
        """It could not be looked at."""
        if not self._is_blind:
            self._is_blind = True
            self._tell(f"{self._what} cannot be seen: {' '.join(str(error).split())}")

    def is_there(self) -> None:
        """It was looked at."""
        if self._is_blind:
            self._is_blind = False
            self._tell(f"{self._what} can be seen again")


class Watch:
    """See the module. `tell` hears what matters and `show` all that is seen, on the thread of the watch."""

    def __init__(
        self, config: CaptureConfig, tell: Callable[[Report], None], show: Callable[[Retained], None]
    ) -> None:
        self._config, self._tell, self._show = config, tell, show
        self.guard: Guard | None = None
        """What else is looked at, as long as there is a stream."""
        self._voice = Voice(config.care)
        self._slot = _Sight(f"what postgres keeps for slot '{config.slot}'", self._note)
        self._tables = _Sight("what is published of the tables", self._note)
        self._overgrown: Overgrown | None = None
        self._onlooker = Onlooker("retained", config.address, self._run, patience=_PATIENCE)
        self._onlooker.start()

    def check(self) -> None:
        """Raise what was found if the slot is to be given up; cheap enough to be asked all the time."""
        self._onlooker.check()
        if self._overgrown is not None:
            raise self._overgrown

    def stop(self) -> None:
        """Look no longer."""
        self._onlooker.stop()

    def _run(self) -> None:
        while not self._onlooker.is_stopped and self._overgrown is None:
            self._look()
            self._onlooker.pause(WATCH_SECONDS)

    def _look(self) -> None:
        if self._see(self._slot, self._look_at_slot) and self.guard is not None:
            # Whoever changes a table holds it for long, and its log grows meanwhile: that was seen already.
            self._see(self._tables, self.guard.look)

    def _see(self, sight: _Sight, look: Callable[[Any], None]) -> bool:
        """True if the server let us look."""
        try:
            look(self._onlooker.cursor())
        except (psycopg2.Error, HeadwaterError) as error:
            self._onlooker.close()
            if not self._onlooker.is_stopped:
                sight.is_lost(error)
            return False
        sight.is_there()
        return True

    def _look_at_slot(self, cursor: Any) -> None:
        kept = look(cursor, self._config.slot)
        if kept is None:
            return
        self._show(Retained(kept.slot, kept.status, kept.retained, kept.behind))
        if is_overgrown(kept, self._config.care):
            self._overgrown = Overgrown(kept)
        news = self._voice.of(kept)
        if news is not None:
            self._note(news)

    def _note(self, text: str) -> None:
        self._tell(Report("note", text))
