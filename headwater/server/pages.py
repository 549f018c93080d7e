"""Pages of one answer: all at the same cut, which is held from one page to the next.

Whoever reads page after page sees one moment. It is held for a minute after each page; then the pages that are left are
gone, and the reader begins anew.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass, field

from headwater.errors import UsageError
from headwater.runtime.feed import Gone
from headwater.server.asked_rows import AskedRows
from headwater.server.reader import Held, Reader

HELD_SECONDS = 60.0
"""So long a cut is held for the next page."""

MOST_HELD = 64
"""So many answers are held at most; the one that was asked for longest ago goes first."""


@dataclass
class Moment:
    """Everything as it was when the first page of an answer was asked for."""

    relation: str
    asked: AskedRows
    limit: int
    held: Held
    closing: ExitStack
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    readers: int = 1
    """How many pages are being sent."""
    timer: threading.Timer | None = None


@dataclass(frozen=True)
class Page:
    """The rows of a moment from one on."""

    moment: Moment
    offset: int = 0


class Pages:
    """The answers of which further pages may be asked for; each page as often as somebody wants it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._moments: OrderedDict[str, Moment] = OrderedDict()
        """Those with further pages, the one that was asked for longest ago first."""
        self._lock = threading.Lock()

    def first(self, relation: str, asked: AskedRows, limit: int) -> Page:
        """The first page of an answer at the present cut."""
        closing = ExitStack()
        held = closing.enter_context(self._reader.held())
        return Page(Moment(relation, asked, limit, held, closing))

    def following(self, said: str, relation: str) -> Page:
        """The page that another one named as the next."""
        key, _, offset = said.rpartition(".")
        if not (offset.isascii() and offset.isdecimal()) or len(offset) > 9:
            raise UsageError("there is no such page", hint="Give `next` as it was told, unchanged.")
        with self._lock:
            moment = self._moments.get(key)
            if moment is not None and moment.relation.lower() == relation.lower():
                self._moments.move_to_end(key)
                moment.readers += 1
                _cancel(moment)
                return Page(moment, int(offset))
        if moment is not None:
            raise UsageError("the next page is one of another view", hint="Begin anew with the first page.")
        raise Gone(
            "the next page is not held any more",
            detail=f"A cut is held for {HELD_SECONDS:g} s after each page, and for {MOST_HELD} readers.",
            hint="Begin anew with the first page, or ask for larger pages.",
        )

    def next_of(self, page: Page) -> str:
        """What to ask for to get the rows after a page; from now on its moment is held for that."""
        moment = page.moment
        with self._lock:
            self._moments[moment.key] = moment
            too_many = [*self._moments][: max(0, len(self._moments) - MOST_HELD)]
        for key in too_many:
            self._let_go(key)
        return f"{moment.key}.{page.offset + moment.limit}"

    def done(self, page: Page) -> None:
        """A page is sent, or nobody wants it any more."""
        moment = page.moment
        with self._lock:
            moment.readers -= 1
            is_last = moment.readers == 0
            is_held = moment.key in self._moments
            if is_last and is_held:
                moment.timer = threading.Timer(HELD_SECONDS, self._let_go, [moment.key])
                moment.timer.daemon = True
                moment.timer.start()
        if is_last and not is_held:
            moment.closing.close()

    def _let_go(self, key: str) -> None:
        with self._lock:
            moment = self._moments.pop(key, None)
            if moment is None:
                return
            _cancel(moment)
            is_unused = moment.readers == 0
        if is_unused:
            moment.closing.close()


def _cancel(moment: Moment) -> None:
    if moment.timer is not None:
        moment.timer.cancel()
        moment.timer = None
