"""Rows that are taken apart all at once. Oracle: the same messages, read one by one."""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from headwater.log import pending
from headwater.log.beside import LSN, ROW_KIND, Beside
from headwater.log.events import APPENDED, KIND, POSITION, SEQ
from headwater.log.layout import Layout
from headwater.log.packed import ROWS, pieces
from headwater.log.pgoutput import SAME, Begin, Commit, Relation, RelationColumn, Truncate, read_message
from headwater.log.transactions import Collector
from headwater.schema import Column, Schema
from tests.test_log_transactions import row

COLUMNS = tuple(RelationColumn(name, 25, name == "id") for name in ("id", "a", "skipped", "b"))
RELATIONS = (Relation(5, "public", "t", "f", COLUMNS), Relation(6, "public", "u", "d", COLUMNS[::-1]))
SCHEMA = Schema((Column("b", "string"), Column("id", "int"), Column("a", "string")), ("id",))
LAYOUTS = {
    5: Layout("t", SCHEMA, (3, 0, 1), ("text", "number", "text")),
    6: Layout("t", SCHEMA, (0, 3, 2), ("text", "number", "text")),
}
TOLD = Schema((Column("lsn", "string"), *SCHEMA.columns, Column("kind", "string")), ("id",))
BESIDE = {
    number: replace(layout, schema=TOLD, beside=(Beside(0, LSN), Beside(4, ROW_KIND)), by_key=True)
    for number, layout in LAYOUTS.items()
}


@pytest.fixture(autouse=True)
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a few messages."""
    monkeypatch.setattr(pending, "FEW_MESSAGES", 0)


TEXTS = ("", "x", "é🐟", "y" * 300, None, None)


def collector(layouts: Mapping[int, Layout]) -> Collector:
    """One into which both relations go, as the same table."""
    made = Collector(lambda relation: (layouts[relation.id],), seq=0, last=0)
    for relation in RELATIONS:
        made.handle(relation, 0)
    return made


def values(dice: random.Random, relation: Relation, *, may_stay: bool) -> bytes:
    """A row as the server writes it."""
    words = (*TEXTS, SAME) if may_stay else TEXTS
    return row(*[str(dice.randrange(5)) if c.is_key else dice.choice(words) for c in relation.columns])


def message(dice: random.Random) -> bytes:
    """Any message that is a row."""
    relation = dice.choice(RELATIONS)
    head = struct.pack(">I", relation.id)
    new = b"N" + values(dice, relation, may_stay=False)
    staying = b"N" + values(dice, relation, may_stay=True)
    old = values(dice, relation, may_stay=False)
    return dice.choice(
        [
            b"I" + head + new,
            b"U" + head + staying,
            b"U" + head + b"O" + old + staying,
            b"U" + head + b"O" + old + b"N" + old,
            b"U" + head + b"K" + old + staying,
            b"D" + head + b"O" + old,
            b"D" + head + b"K" + old,
        ]
    )


def events(
    history: list[Any], *, packed: bool, is_open: bool = False, layouts: Mapping[int, Layout] = LAYOUTS
) -> list[dict[str, Any]]:
    """What becomes of some messages; without their numbers, which must be in order, and without when they came."""
    into = collector(layouts)
    for one in history:
        if isinstance(one, bytes) and packed:
            assert one[0] in ROWS
            into.handle_row(one)
        else:
            into.handle(read_message(one) if isinstance(one, bytes) else one, 1)
    taken = None if is_open else into.take()
    tables = into.take_open() if taken is None else taken.tables
    numbers = tables["t"].column(SEQ).to_pylist()
    assert numbers == sorted(set(numbers)) and into.seq >= numbers[-1]
    rows: list[dict[str, Any]] = tables["t"].drop_columns([APPENDED, SEQ]).to_pylist()
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_all_at_once_is_the_same_as_one_by_one(seed: int) -> None:
    dice = random.Random(seed)
    history: list[Any] = []
    for number in range(dice.randrange(1, 6)):
        history.append(Begin(100 * number + 50, 1_000.5 + number, number))
        rows = [message(dice) for _ in range(dice.randrange(1, 80))]
        history += [Truncate((5,)) if dice.random() < 0.02 else one for one in rows]
        history.append(Commit(100 * number + 90, 0.0))
    assert events(history, packed=True) == events(history, packed=False)
    beside = events(history, packed=True, layouts=BESIDE)
    assert beside == events(history, packed=False, layouts=BESIDE)
    assert {(row["lsn"], row[POSITION]) for row in beside} <= {
        (f"0/{at:X}", at + 40) for at in (50, 150, 250, 350, 450)
    }
    signs = {"insert": {"+I"}, "upsert": {"+U"}, "delete_key": {"-U", "-D"}, "truncate": {"-D"}}
    assert all(row["kind"] in signs[row[KIND]] for row in beside)


@pytest.mark.parametrize("seed", range(5))
def test_a_few_are_read_one_by_one_with_the_same_result(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(f"few {seed}")
    history = [Begin(50, 1_000.5, 3), *[message(dice) for _ in range(60)], Commit(90, 0.0)]
    at_once = events(history, packed=True)
    monkeypatch.setattr(pending, "FEW_MESSAGES", 60)
    assert events(history, packed=True) == at_once == events(history, packed=False)


def test_an_open_transaction_is_taken_as_it_is() -> None:
    dice = random.Random(7)
    history = [Begin(50, 1_000.5, 3), *[message(dice) for _ in range(40)]]
    found = events(history, packed=True, is_open=True)
    assert found == events(history, packed=False, is_open=True) and len(found) > 20


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"I\0\0\0\5N\0\1b\0\0\0\1x", "unknown form 'b'"),
        (b"I\0\0\0\5N" + row("1", "2"), "of different lengths"),
    ],
)
def test_what_cannot_be_read_is_an_error(payload: bytes, said: str) -> None:
    good = b"I\0\0\0\5N" + row("1")
    with pytest.raises(ValueError, match=said):
        pieces([good, payload], [1, 2], places=(0,), names=("id",))
