"""All transactions that the server tells of before they are committed, in bounded memory.

    stream start 731, rows, stream stop, stream start 732, rows, stream stop, stream commit 732, stream abort 731

Nothing of them is news before the commit: then `commit` hands one over, whole and without what was rolled back in it.
"""

from __future__ import annotations

from pathlib import Path

from headwater.log.pgoutput import outside
from headwater.log.streamed import Layouts, Streamed

WITHIN = frozenset(b"RIUDTM")
"""The messages of a stream that are kept; all of them begin with the number of a (sub)transaction."""


class InProgress:
    """See the module. `layouts` is asked for relations that may not be committed; files go to `folder`."""

    def __init__(self, layouts: Layouts, folder: Path, *, max_rows: int, max_bytes: int) -> None:
        self._layouts, self._folder = layouts, folder
        self._max_rows, self._max_bytes = max_rows, max_bytes
        self._held_rows = self._held_bytes = 0
        self._known: dict[int, Streamed] = {}
        self.current: Streamed | None = None
        """The transaction whose messages come now; None outside of streams."""

    def start(self, xid: int) -> None:
        """Messages of this transaction follow."""
        found = self._known.get(xid)
        if found is None:
            found = self._known[xid] = Streamed(xid, self._layouts, self._folder)
        self.current = found

    def stop(self) -> None:
        """They end."""
        self.current = None

    def hear(self, payload: bytes) -> bool:
        """One of these messages; True if something had to be written."""
        if payload[0] not in WITHIN:
            return False
        assert self.current is not None
        xid, message = outside(payload)
        self.current.add(xid, message)
        self._held_rows += 1
        self._held_bytes += len(message)
        if self._held_rows < self._max_rows and self._held_bytes < self._max_bytes:
            return False
        max(self._known.values(), key=lambda one: (one.held_bytes, one.held_rows)).spill()
        self._count()
        return True

    def abort(self, xid: int, subxid: int) -> None:
        """A transaction, or one within it, is rolled back."""
        if xid not in self._known:
            # Postgres 18 also tells of some that it never began to send.
            return
        if xid == subxid:
            self.commit(xid).close()
        else:
            self._known[xid].undo(subxid)
            self._count()

    def commit(self, xid: int) -> Streamed:
        """The transaction, which is in progress no longer."""
        found = self._known.pop(xid)
        self._count()
        return found

    def close(self) -> None:
        """Forget all of them."""
        for streamed in self._known.values():
            streamed.close()
        self._known, self.current = {}, None
        self._count()

    def _count(self) -> None:
        self._held_rows = sum(streamed.held_rows for streamed in self._known.values())
        self._held_bytes = sum(streamed.held_bytes for streamed in self._known.values())
