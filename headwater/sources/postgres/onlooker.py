"""Who looks at the server beside the stream: on a thread and a connection of its own.

However slow the server answers, the stream does not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from headwater.sources.postgres.connect import Address, connect


class Onlooker:
    """A thread that works until it is stopped, with a connection that is made when it is asked for."""

    def __init__(self, name: str, address: Address, work: Callable[[], None], *, patience: str) -> None:
        """`patience` is how long a statement may take, as the server writes it."""
        self._address, self._work, self._patience = address, work, patience
        self._opened: Any = None
        self._mistake: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_stopped(self) -> bool:
        """True once nobody wants to know any more."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Look no longer."""
        self._stop.set()

    def pause(self, seconds: float) -> bool:
        """Wait so long; True if it was stopped meanwhile."""
        return self._stop.wait(seconds)

    def check(self) -> None:
        """Raise, on the thread of who asks, what the work did not expect: nobody may believe that it still looks."""
        if self._mistake is not None:
            raise self._mistake

    def cursor(self) -> Any:
        """A cursor on the connection, which is made anew after `close`."""
        if self._opened is None:
            self._opened = connect(self._address)
            self._opened.cursor().execute(f"SET statement_timeout = '{self._patience}'")
        return self._opened.cursor()

    def close(self) -> None:
        """Let the connection go."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as mistake:  # noqa: BLE001  # it is raised on the thread of who asks
            self._mistake = mistake
        finally:
            self.close()
