"""A thread that reads tables again when their time has come, so that nothing waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from headwater.sources.base import SourceTable, Unreachable
from headwater.sources.jdbc.reading import Stopped

Refresh = Callable[[Sequence[SourceTable], bool], None]
"""Reads tables again; True wants a position even if nothing changed."""


class Refresher:
    """Reads each table again by its own interval; those that are due together as of one moment."""

    def __init__(self, tables: Sequence[SourceTable], refresh: Refresh, *, just_read: set[str]) -> None:
        """Tables that were read before this process began are due at once."""
        now = time.monotonic()
        self._tables = tables
        self._refresh = refresh
        self._due = {t.name: now + (t.options.refresh if t.name in just_read else 0) for t in tables}
        self._changed = threading.Condition()
        self._asked = self._answered = 0
        self._stopped = False
        self._error: BaseException | None = None
        self.heard = 0
        """How often something happened; whoever waits does so from here."""
        self.trouble: str | None = None
        """Why tables cannot be read at the moment; they will be when it is over."""
        self._thread = threading.Thread(target=self._work, name="refresh", daemon=True)
        self._thread.start()

    def ask(self) -> None:
        """Read all tables again now, and return when that is done."""
        with self._changed:
            self._asked += 1
            mine = self._asked
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._answered >= mine or self._error is not None)
        self.check()

    def check(self) -> None:
        """Raise what stopped the thread."""
        if self._error is not None:
            raise self._error

    def wait(self, heard: int, seconds: float) -> bool:
        """True as soon as something happened since; False if nothing did in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self.heard > heard or self._error is not None, seconds)

    def stop(self) -> None:
        """End the thread; a read that is going on is given up."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        try:
            while (asked := self._next()) is not None:
                self._read(asked)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001  # it is raised on the thread that reads
            self._error = error
        with self._changed:
            self._changed.notify_all()

    def _next(self) -> int | None:
        """Wait until a table is due or somebody asks; the number of the question, None when it is over."""
        with self._changed:
            while not self._stopped and self._asked == self._answered:
                left = min(self._due.values()) - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return None if self._stopped else self._asked

    def _read(self, asked: int) -> None:
        is_asked, now = asked > self._answered, time.monotonic()
        tables = [table for table in self._tables if is_asked or self._due[table.name] <= now]
        try:
            self._refresh(tables, is_asked)
            self.trouble = None
        except Unreachable as problem:
            if is_asked:
                raise
            self.trouble = problem.message
        with self._changed:
            now = time.monotonic()
            self._due |= {table.name: now + table.options.refresh for table in tables}
            self._answered = asked
            self.heard += 1
            self._changed.notify_all()
