"""Messages of pgoutput become events.

Oracle: messages put together byte by byte after the protocol's description, and events by hand.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from headwater.log.events import KIND, POSITION, SEQ, UNCHANGED
from headwater.log.pgoutput import (
    EPOCH,
    SAME,
    Begin,
    Commit,
    Delete,
    Insert,
    Other,
    Relation,
    RelationColumn,
    Truncate,
    Update,
    read_message,
)
from headwater.log.transactions import Collector, Layout, Taken
from headwater.schema import Column, Schema

SCHEMA = Schema((Column("id", "int"), Column("name", "string")), ("id",))
RELATION = Relation(
    5, "public", "t", "f", (RelationColumn("id", 23, True), RelationColumn("name", 25, False))
)


def row(*values: str | object | None) -> bytes:
    """A row as the server writes it."""
    parts = [struct.pack(">H", len(values))]
    for value in values:
        if isinstance(value, str):
            parts.append(b"t" + struct.pack(">I", len(value.encode())) + value.encode())
        else:
            parts.append(b"n" if value is None else b"u")
    return b"".join(parts)


def test_messages_are_read_as_the_protocol_says() -> None:
    begin = b"B" + struct.pack(">QqI", 900, 1_000_000, 7)
    commit = b"C" + struct.pack(">BQQq", 0, 900, 1000, 2_500_000)
    columns = b"\x01id\0" + struct.pack(">Ii", 23, -1) + b"\x00name\0" + struct.pack(">Ii", 25, -1)
    relation = b"R" + struct.pack(">I", 5) + b"public\0t\0f" + struct.pack(">H", 2) + columns
    five = struct.pack(">I", 5)
    assert read_message(begin) == Begin(900)
    assert read_message(commit) == Commit(1000, EPOCH + 2.5)
    assert read_message(relation) == RELATION
    assert read_message(b"I" + five + b"N" + row("1", None)) == Insert(5, [b"1", None])
    assert read_message(b"U" + five + b"N" + row("1", SAME)) == Update(5, None, False, [b"1", SAME])
    key = b"U" + five + b"K" + row("1", None) + b"N" + row("2", "é")
    assert read_message(key) == Update(5, [b"1", None], False, [b"2", "é".encode()])
    whole = b"U" + five + b"O" + row("1", "") + b"N" + row("2", "b")
    assert read_message(whole) == Update(5, [b"1", b""], True, [b"2", b"b"])
    assert read_message(b"D" + five + b"K" + row("1", None)) == Delete(5, [b"1", None], False)
    assert read_message(b"T" + struct.pack(">IBII", 2, 1, 5, 6)) == Truncate((5, 6))
    for kind in "OYM":
        assert read_message(kind.encode() + b"...") == Other(kind)


def test_a_value_of_unknown_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown form 'b'"):
        read_message(b"I" + struct.pack(">I", 5) + b"N" + struct.pack(">H", 1) + b"b")


def collector(*, last: int = 0, snapshot: int | None = None) -> Collector:
    layout = Layout("t", SCHEMA, (0, 1), ("number", "text"), snapshot)
    made = Collector(lambda _: (layout,), seq=0, last=last)
    made.handle(RELATION, 0)
    return made


def transaction(into: Collector, end: int, *messages: Any) -> None:
    into.handle(Begin(end - 50), 1)
    for message in messages:
        into.handle(message, 1)
    into.handle(Commit(end, 0.0), 1)


def said(taken: Taken | None) -> list[tuple[Any, ...]]:
    assert taken is not None
    return [(r[KIND], r["id"], r["name"], r[POSITION]) for r in taken.tables["t"].to_pylist()]


def test_complete_transactions_are_taken_and_open_ones_stay() -> None:
    into = collector()
    transaction(into, 100, Insert(5, [b"1", b"a"]))
    transaction(into, 200, Insert(5, [b"2", None]))
    into.handle(Begin(250), 1)
    into.handle(Insert(5, [b"3", b"c"]), 1)
    taken = into.take()
    assert said(taken) == [("insert", 1, "a", 100), ("insert", 2, None, 200)]
    assert taken is not None and (taken.first, taken.last, taken.seq) == (100, 200, 2)
    assert into.take() is None
    into.handle(Commit(300, 0.0), 1)
    assert said(into.take()) == [("insert", 3, "c", 300)]


def test_what_was_seen_before_is_dropped() -> None:
    into = collector(last=100)
    transaction(into, 100, Insert(5, [b"1", b"a"]))
    assert into.take() is None and into.seq == 0
    transaction(into, 151, Insert(5, [b"2", b"b"]))
    assert said(into.take()) == [("insert", 2, "b", 151)]


def test_what_is_in_the_snapshot_is_dropped_but_moves_the_position() -> None:
    into = collector(snapshot=200)
    transaction(into, 200, Insert(5, [b"1", b"a"]))
    taken = into.take()
    assert taken is not None and taken.tables == {} and taken.last == 200
    transaction(into, 250, Insert(5, [b"2", b"b"]))
    assert said(into.take()) == [("insert", 2, "b", 250)]


def test_a_large_transaction_is_taken_in_parts() -> None:
    into = collector(last=100)
    into.handle(Begin(150), 1)
    into.handle(Insert(5, [b"1", b"a"]), 1)
    part = into.take_open()["t"].to_pylist()
    into.handle(Insert(5, [b"2", b"b"]), 1)
    into.handle(Commit(180, 0.0), 1)
    rest = into.take()
    assert [(r["id"], r[SEQ]) for r in part] == [(1, 1)]
    assert 100 < part[0][POSITION] <= 180
    assert said(rest) == [("insert", 2, "b", 180)] and rest is not None and rest.seq == 2


def test_an_update_of_columns_nobody_reads_is_no_event() -> None:
    into = collector()
    transaction(into, 100, Update(5, [b"1", b"a"], True, [b"1", b"a"]))
    taken = into.take()
    assert taken is not None and taken.tables == {}


def test_gaps_are_filled_from_the_old_row_or_named() -> None:
    into = collector()
    transaction(into, 100, Update(5, [b"1", b"a"], True, [b"2", SAME]), Update(5, None, False, [b"2", SAME]))
    taken = into.take()
    assert said(taken) == [
        ("delete", 1, "a", 100),
        ("insert", 2, "a", 100),
        ("upsert", 2, None, 100),
    ]
    assert taken is not None
    assert taken.tables["t"].column(UNCHANGED).to_pylist() == [None, None, ["name"]]
