"""Rows of `pgoutput` as the server sent them, taken apart all at once, column by column.

    pieces(payloads, seqs, places=(0, 2), names=("id", "name"))

A value is never a Python object on the way: Arrow finds where each of them begins and ends, for all rows of a column
together, and copies them out. What a message means is the same as in `transactions`, which says it row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import CREATED, DELETE, DELETE_KEY, DELETED, INSERT, UPDATED, UPSERT

ROWS = frozenset(b"IUD")
"""The messages that are rows: of a table, one message each."""

_TEXT, _NULL, _SAME = b"tnu"
_INSERT, _UPDATE, _DELETE = b"IUD"
_OLD, _NEW = b"ON"
_UNCHANGED = pa.list_(pa.string())


@dataclass(frozen=True)
class Piece:
    """Events of one kind: of each the values as text, its number, and which of the messages it comes from."""

    kind: str
    op: str
    values: tuple[pa.Array, ...]
    seqs: pa.Array
    messages: pa.Array
    unchanged: pa.Array


@dataclass(frozen=True)
class _Rows:
    """Values of some rows; `same` is true where one did not change and was not sent, None if all were."""

    values: tuple[pa.Array, ...]
    same: tuple[pa.Array | None, ...]


def numbers_of(payload: bytes) -> int:
    """How many numbers the events of a message take: an update that tells the row of before is two."""
    return 2 if payload[0] == _UPDATE and payload[5] != _NEW else 1


def pieces(
    payloads: Sequence[bytes],
    seqs: Sequence[int],
    *,
    places: Sequence[int],
    names: Sequence[str],
    every: bool = False,
) -> list[Piece]:
    """The events of messages of one relation; `seqs` has the last number of each.

    `every` update is an event, also one that changes nothing of what is declared.
    """
    whole = pa.array(payloads, pa.large_binary())
    _, offsets, data = whole.buffers()
    begins = pa.Array.from_buffers(pa.int64(), len(whole), [None, offsets])
    reader = _Reader(pa.Array.from_buffers(pa.uint8(), data.size, [None, data]), data, tuple(places), every)
    forms = pc.add(
        pc.multiply(reader.bytes_at(begins, 0).cast(pa.int32()), 256), reader.bytes_at(begins, 5)
    ).cast(pa.int32())
    numbers, count = pa.array(seqs, pa.int64()), pa.arange(0, len(whole))
    found: list[Piece] = []
    for form in forms.unique().to_pylist():
        mask = pc.equal(forms, form)
        some, which = begins.filter(mask), count.filter(mask)
        found += _pieces_of(reader, divmod(form, 256), some, numbers.filter(mask), which, names)
    return [piece for piece in found if len(piece.seqs)]


def _pieces_of(
    reader: _Reader,
    form: tuple[int, int],
    begins: pa.Array,
    seqs: pa.Array,
    messages: pa.Array,
    names: Sequence[str],
) -> list[Piece]:
    first, behind = reader.rows(pc.add(begins, 6))
    message, row = form
    if row == _NEW:
        kind, op = (INSERT, CREATED) if message == _INSERT else (UPSERT, UPDATED)
        return [Piece(kind, op, first.values, seqs, messages, _unchanged(first, names))]
    if message == _DELETE:
        kind = DELETE if row == _OLD else DELETE_KEY
        return [Piece(kind, DELETED, first.values, seqs, messages, _nothing(seqs))]
    new, _ = reader.rows(pc.add(behind, 1))
    before = pc.subtract(seqs, 1)
    if row == _OLD:
        halves = _whole_update(first, new, before, seqs, messages)
        return halves if reader.every else _differing(halves)
    return [
        Piece(DELETE_KEY, UPDATED, first.values, before, messages, _nothing(seqs)),
        Piece(UPSERT, UPDATED, new.values, seqs, messages, _unchanged(new, names)),
    ]


def _whole_update(
    old: _Rows, new: _Rows, before: pa.Array, seqs: pa.Array, messages: pa.Array
) -> list[Piece]:
    """An update that tells the whole row of before: one goes and one comes."""
    filled = tuple(
        now if same is None else pc.if_else(same, was, now)
        for was, now, same in zip(old.values, new.values, new.same, strict=True)
    )
    return [
        Piece(DELETE, UPDATED, old.values, before, messages, _nothing(seqs)),
        Piece(INSERT, UPDATED, filled, seqs, messages, _nothing(seqs)),
    ]


def _differing(halves: list[Piece]) -> list[Piece]:
    """The updates that change something of what is declared."""
    old, new = halves
    differs = pa.array([False] * len(old.seqs))
    for was, now in zip(old.values, new.values, strict=True):
        alike = pc.fill_null(pc.equal(was, now), False)
        both_null = pc.and_(pc.is_null(was), pc.is_null(now))
        differs = pc.or_(differs, pc.invert(pc.or_(alike, both_null)))
    return [
        Piece(
            piece.kind,
            piece.op,
            tuple(values.filter(differs) for values in piece.values),
            piece.seqs.filter(differs),
            piece.messages.filter(differs),
            piece.unchanged.filter(differs),
        )
        for piece in halves
    ]


def _nothing(seqs: pa.Array) -> pa.Array:
    return pa.nulls(len(seqs), _UNCHANGED)


def _unchanged(rows: _Rows, names: Sequence[str]) -> pa.Array:
    """The names of what was not sent, row by row; None where everything was. Few different lists, however many rows."""
    count = len(rows.values[0])
    words = pa.array([""] * count)
    for number, same in enumerate(rows.same):
        if same is not None:
            word = pc.if_else(same, f"{number},", "")
            words = pc.binary_join_element_wise(words, word, "")
    told = words.dictionary_encode()
    lists = [
        [names[int(number)] for number in word.split(",") if number] or None
        for word in told.dictionary.to_pylist()
    ]
    return pa.array(lists, _UNCHANGED).take(told.indices)


@dataclass(frozen=True)
class _Reader:
    """The bytes of all messages, and which columns are wanted of each row."""

    bytes: pa.Array
    data: pa.Buffer
    places: tuple[int, ...]
    every: bool

    def bytes_at(self, at: pa.Array, beyond: int) -> pa.Array:
        """One byte of each row."""
        return self.bytes.take(pc.add(at, beyond) if beyond else at)

    def rows(self, at: pa.Array) -> tuple[_Rows, pa.Array]:
        """The wanted values of the rows that begin at these places, and where each row ends."""
        if len(at) == 0:
            nothing = pa.array([], pa.binary())
            return _Rows(tuple(nothing for _ in self.places), tuple(None for _ in self.places)), at
        widths = self._number(at, 2)
        width = widths[0].as_py()
        if not pc.all(pc.equal(widths, width)).as_py():
            raise ValueError("the stream holds rows of different lengths of one relation")
        assert max(self.places) < width
        at = pc.add(at, 2)
        values: dict[int, pa.Array] = {}
        same: dict[int, pa.Array | None] = {}
        for column in range(width):
            kinds = self.bytes_at(at, 0)
            is_text = pc.equal(kinds, _TEXT)
            begin, end = self._bounds(at, kinds, is_text)
            if column in self.places:
                values[column] = self._texts(begin, end, is_text)
                is_same = pc.equal(kinds, _SAME)
                same[column] = is_same if pc.any(is_same).as_py() else None
            at = end
        return _Rows(tuple(values[p] for p in self.places), tuple(same[p] for p in self.places)), at

    def _bounds(self, at: pa.Array, kinds: pa.Array, is_text: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Where the values of a column begin and end."""
        if pc.all(is_text).as_py():
            begin = pc.add(at, 5)
            return begin, pc.add(begin, self._number(pc.add(at, 1), 4))
        known = pc.is_in(kinds, value_set=_KNOWN)
        if not pc.all(known).as_py():
            strange = kinds.filter(pc.invert(known))[0].as_py()
            raise ValueError(f"the stream holds a value of unknown form {chr(strange)!r}")
        texts = at.filter(is_text)
        lengths = pc.add(self._number(pc.add(texts, 1), 4), 4)
        beyond = pc.replace_with_mask(_zeros(len(at)), is_text, lengths)
        end = pc.add(pc.add(at, 1), beyond)
        return pc.if_else(is_text, pc.add(at, 5), end), end

    def _number(self, at: pa.Array, size: int) -> pa.Array:
        """A number of some bytes, the highest first, at each place."""
        total = self.bytes_at(at, 0).cast(pa.int64())
        for place in range(1, size):
            total = pc.add(pc.multiply(total, 256), self.bytes_at(at, place))
        return total

    def _texts(self, begin: pa.Array, end: pa.Array, is_text: pa.Array) -> pa.Array:
        """The bytes between each beginning and end, NULL where there is no text."""
        count = len(begin)
        # Values and what stands between them follow each other: one array of both, of which every second is wanted.
        order = pc.add(pc.multiply(pc.bit_wise_and(_count(2 * count), 1), count), _halves(count))
        bounds = pa.concat_arrays([begin, end]).take(order)
        parts = pa.Array.from_buffers(
            pa.large_binary(), 2 * count - 1, [None, bounds.buffers()[1], self.data]
        )
        taken = parts.take(pc.multiply(_count(count), 2)).cast(pa.binary())
        return taken if pc.all(is_text).as_py() else pc.if_else(is_text, taken, pa.scalar(None, pa.binary()))


_KNOWN = pa.array([_TEXT, _NULL, _SAME], pa.uint8())


def _zeros(count: int) -> pa.Array:
    return pa.repeat(pa.scalar(0, pa.int64()), count)


def _count(count: int) -> pa.Array:
    return pa.arange(0, count)


def _halves(count: int) -> pa.Array:
    return pc.shift_right(_count(2 * count), 1)
