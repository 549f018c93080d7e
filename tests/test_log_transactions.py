"""Messages of pgoutput become events.

Oracle: messages put together byte by byte after the protocol's description, and events by hand.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from headwater.log.events import KIND, POSITION, SEQ, UNCHANGED
from headwater.log.layout import Layout
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
    Said,
    Truncate,
    Update,
    read_message,
)
from headwater.log.text_values import RAW
from headwater.log.transactions import Collector, Taken
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
    assert read_message(begin) == Begin(900, EPOCH + 1.0, 7)
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
    said = b"M" + struct.pack(">BQ", 1, 77) + b"pre\0" + struct.pack(">I", 3) + b"\xff\0a"
    assert read_message(said) == Said(True, 77, "pre", b"\xff\0a")
    for kind in "OY":
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


MESSAGES = Schema((Column("content", "string"), Column("transaction_id", "bigint"), Column("lsn", "bigint")))


def listener(*, last: int = 0, snapshot: int | None = None) -> Collector:
    """A collector whose one table reads messages of prefix `p`."""
    layout = Layout("m", MESSAGES, (1, 3, 6), (RAW, "number", "number"), snapshot)
    return Collector(lambda _: (), seq=0, last=last, messages=lambda p: (layout,) if p == "p" else ())


def heard(taken: Taken | None) -> list[tuple[Any, ...]]:
    assert taken is not None
    rows = taken.tables["m"].to_pylist() if "m" in taken.tables else []
    return [(r[KIND], r["content"], r["transaction_id"], r["lsn"], r[POSITION]) for r in rows]


def test_messages_come_with_their_transaction_or_are_one_of_their_own() -> None:
    into = listener()
    into.handle(Said(False, 90, "p", b"alone"), 1)
    into.handle(Begin(150, 5.0, 7), 1)
    into.handle(Said(True, 120, "p", b"with"), 1)
    into.handle(Said(True, 130, "q", b"of another prefix"), 1)
    into.handle(Commit(200, 5.0), 1)
    into.handle(Said(False, 250, "p", b""), 1)
    taken = into.take()
    assert heard(taken) == [
        ("insert", "alone", None, 90, 90),
        ("insert", "with", 7, 120, 200),
        ("insert", "", None, 250, 250),
    ]
    assert taken is not None and (taken.first, taken.last, taken.committed_at) == (90, 250, 5.0)


def test_messages_that_were_seen_before_or_are_too_old_are_dropped() -> None:
    into = listener(last=100, snapshot=200)
    into.handle(Said(False, 100, "p", b"seen"), 1)
    assert into.take() is None
    into.handle(Said(False, 200, "p", b"before the table began"), 1)
    into.handle(Said(False, 201, "p", b"new"), 1)
    taken = into.take()
    assert heard(taken) == [("insert", "new", None, 201, 201)]
    assert taken is not None and (taken.first, taken.last, taken.committed_at) == (200, 201, None)


def test_messages_of_a_large_transaction_are_taken_in_parts() -> None:
    into = listener()
    into.handle(Begin(150, 5.0, 7), 1)
    into.handle(Said(True, 120, "p", b"one"), 1)
    part = into.take_open()["m"].to_pylist()
    into.handle(Said(True, 130, "p", b"two"), 1)
    into.handle(Commit(200, 5.0), 1)
    assert [(row["content"], row["transaction_id"]) for row in part] == [("one", 7)]
    assert heard(into.take()) == [("insert", "two", 7, 130, 200)]
