"""A transaction that the server tells of before it is committed.

Its messages are kept in the order in which they came. When they are too many to be held they are read ahead, and go as
Arrow into a file of the log's folder; at the commit only what was not known before is put in. What cannot be read before
the commit (a type that only the transaction itself can see yet, a value that does not fit, an application's message,
which has the time of the commit in it) goes to the file as it came, and all that follows it too.

The file has no name: whatever becomes of the process, nothing of it stays.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError
from headwater.log.events import SEQ
from headwater.log.layout import Layout
from headwater.log.packed import ROWS
from headwater.log.pgoutput import Begin, Relation, Said, read_message
from headwater.log.transactions import Collector

NOT_YET = 2**62
"""Stands for the place of a commit that is not there yet: after all that is."""

Layouts = Callable[[Relation], tuple[Layout, ...]]

_WRITTEN = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Read:
    """Events of one table that were read ahead."""

    layout: Layout
    events: pa.Table


@dataclass(frozen=True)
class _Piece:
    """A part of the file: events of one table, or messages as they came, if there is no layout."""

    begin: int
    """The first of its messages, by number."""
    end: int
    at: int
    size: int
    layout: Layout | None = None
    upto: int | None = None
    """The last number of an event that still counts; None if all do."""


class Streamed:
    """See the module. `layouts` says what a relation is that may not be committed, or that it cannot tell."""

    def __init__(self, xid: int, layouts: Layouts, folder: Path) -> None:
        self.xid = xid
        self._layouts, self._folder = layouts, folder
        self.held_bytes = 0
        self.relations: dict[int, tuple[Layout, ...]] = {}
        """What was said of tables in what was read ahead."""
        self.heard: dict[int, Relation] = {}
        """The same, as it was said."""
        self.seq = 0
        """How many numbers the events that were read ahead have taken."""
        self._held: list[bytes] = []
        self._begin = 0
        self._first: dict[int, int] = {}
        """The number of the first message of each subtransaction."""
        self._before: dict[int, int] = {}
        """Of those messages the last number of an event before, once they are read."""
        self._pieces: list[_Piece] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._as_it_came = False

    @property
    def held_rows(self) -> int:
        """How many messages are held."""
        return len(self._held)

    def add(self, xid: int, payload: bytes) -> None:
        """One more message, of this transaction or of one within it."""
        if xid not in self._first:
            number = self._begin + len(self._held)
            self._first[xid] = number
            self._before[number] = self.seq
        self._held.append(payload)
        self.held_bytes += len(payload)

    def undo(self, subxid: int) -> None:
        """A subtransaction is rolled back: all that came since its first message was of it, or of one within it."""
        first = self._first.get(subxid)
        if first is None:
            return
        seq = self._before[first]
        # Many small ones may be rolled back one after the other: only what goes is looked at.
        while self._first and (last := next(reversed(self._first.items())))[1] >= first:
            del self._first[last[0]], self._before[last[1]]
        gone = self._held[max(0, first - self._begin) :]
        del self._held[len(self._held) - len(gone) :]
        self.held_bytes -= sum(map(len, gone))
        if first < self._begin:
            self._undo_written(first, seq)

    def _undo_written(self, first: int, seq: int) -> None:
        pieces = self._pieces
        while pieces and pieces[-1].begin >= first:
            self._size = pieces.pop().at
        for place, piece in reversed(list(enumerate(pieces))):
            if piece.end <= first:
                break
            pieces[place] = replace(piece, end=first, upto=seq)
        if self._file is not None:
            self._file.truncate(self._size)
        self._begin = first
        self._as_it_came = bool(pieces) and pieces[-1].layout is None
        if not self._as_it_came:
            # After this the server announces every table anew. Rows that stay as they came need what was said before.
            self.relations, self.heard = {}, {}

    def spill(self) -> None:
        """Hold nothing any more: what there is goes into the file."""
        end = self._begin + len(self._held)
        if not self._held:
            return
        found = None if self._as_it_came else self._read_ahead()
        if found is None:
            self._as_it_came = True
            self._write(_as_bytes(self._held), end, None)
        else:
            for layout, events in found:
                self._write(_ipc(events), end, layout)
        self._held, self.held_bytes, self._begin = [], 0, end

    def told(self) -> Iterator[Read | bytes]:
        """All that counts in its order: events that were read ahead, then messages."""
        for piece in self._pieces:
            assert self._file is not None
            content = os.pread(self._file.fileno(), piece.size, piece.at)
            assert len(content) == piece.size
            if piece.layout is None:
                yield from _messages(content, piece.end - piece.begin)
            else:
                events = pa.ipc.open_stream(content).read_all()
                kept = events if piece.upto is None else events.filter(pc.field(SEQ) <= piece.upto)
                yield Read(piece.layout, kept)
        yield from self._held

    def close(self) -> None:
        """Free the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _read_ahead(self) -> list[tuple[Layout, pa.Table]] | None:
        """What is held as events; None if it cannot be told before the commit what it means."""
        ahead = Collector(self._layouts, seq=self.seq, last=0)
        ahead.take_over(self.relations, self.heard)
        ahead.handle(Begin(NOT_YET, xid=self.xid), 0)
        before, found = dict(self._before), []
        try:
            for number, payload in enumerate(self._held, self._begin):
                if number in before:
                    before[number] = ahead.seq
                if payload[0] in ROWS:
                    ahead.handle_row(payload)
                    continue
                message = read_message(payload)
                if isinstance(message, Said):
                    return None
                if isinstance(message, Relation) and ahead.changes_layout(message):
                    found += ahead.take_laid_out()
                ahead.handle(message, 0)
            found += ahead.take_laid_out()
        except SourceError:
            # It is no error before the commit: if that comes, the same messages are read again, and raise it.
            return None
        self.seq, self._before = ahead.seq, before
        self.relations, self.heard = ahead.relations, ahead.heard
        return found

    def _write(self, content: pa.Buffer, end: int, layout: Layout | None) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  # it lives as long as we
        self._file.seek(self._size)
        self._file.write(content)
        self._file.flush()
        self._pieces.append(_Piece(self._begin, end, self._size, len(content), layout))
        self._size += len(content)


def _ipc(events: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, events.schema, options=_WRITTEN) as writer:
        writer.write_table(events)
    return sink.getvalue()


def _as_bytes(payloads: list[bytes]) -> pa.Buffer:
    """Messages one after the other, each behind its length."""
    return pa.py_buffer(b"".join(part for one in payloads for part in (len(one).to_bytes(4), one)))


def _messages(content: bytes, count: int) -> Iterator[bytes]:
    at = 0
    for _ in range(count):
        begin = at + 4
        at = begin + int.from_bytes(content[at:begin])
        yield content[begin:at]
