"""What may happen to the tables of TPC-H, as data, and how it is written into a draft.

Values are drawn from the rows that are there: an order's new date is some other order's. So every edit works at every
scale. Foreign keys are not kept: lines stay when their order goes, and come back to orders that are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from tests.tpch.draft import Draft, among, key_numbers, with_column
from tests.tpch.tables import KEYS, Rows

SEASON = (date(1995, 1, 1), date(1995, 3, 31))
"""Most of what people ask at scale 0.01 is about these days, and half of the edited orders and lines are from them."""

DATED = {"orders": "o_orderdate", "lineitem": "l_shipdate"}
"""The day a row belongs to."""


@dataclass(frozen=True)
class Sell:
    """New orders with their lines, each like an old one of another customer."""

    count: int


@dataclass(frozen=True)
class Cancel:
    """Orders go with their lines."""

    count: int


@dataclass(frozen=True)
class Insert:
    """New rows like old ones, under new keys."""

    table: str
    count: int


@dataclass(frozen=True)
class Delete:
    """Rows go; whatever refers to them stays."""

    table: str
    count: int


@dataclass(frozen=True)
class Restore:
    """Rows that were there in the beginning, and are not there now, come again."""

    table: str
    count: int


@dataclass(frozen=True)
class Amend:
    """Some columns of a row become what they are in other rows, each in another one."""

    table: str
    count: int
    columns: str


@dataclass(frozen=True)
class Swap:
    """Two rows exchange what they have in a column."""

    table: str
    column: str


@dataclass(frozen=True)
class Triple:
    """Numbers of some rows become three times as large, so that the rows come first wherever the largest count."""

    table: str
    count: int
    columns: str


@dataclass(frozen=True)
class Write:
    """A text is written into a column of some rows."""

    table: str
    count: int
    column: str
    text: str


Edit: TypeAlias = Sell | Cancel | Insert | Delete | Restore | Amend | Swap | Triple | Write


@dataclass(frozen=True)
class Scene:
    """What edits may look back to: how it all began, and the days that matter most (None: no days do)."""

    first: Rows
    season: tuple[date, date] | None


def write(draft: Draft, edit: Edit, scene: Scene) -> None:
    """Let one edit happen in a draft."""
    match edit:
        case Sell(count):
            _sell(draft, count, scene)
        case Cancel(count):
            gone = _some(draft, "orders", count, scene)
            draft.delete("orders", gone)
            draft.delete("lineitem", _lines(draft, gone))
        case Insert(table, count):
            draft.insert(table, _under_new_keys(draft, table, _some(draft, table, count, scene)))
        case Delete(table, count):
            draft.delete(table, _some(draft, table, count, scene))
        case Restore(table, count):
            first, now = scene.first[table], draft.rows[table]
            is_here = among(key_numbers(table, first), key_numbers(table, now))
            draft.insert(table, draft.drawn(first.filter(pc.invert(is_here)), count))
        case _:
            _change(draft, edit, scene)


def _change(draft: Draft, edit: Amend | Swap | Triple | Write, scene: Scene) -> None:
    """Edits after which a table has the rows it had, with other values."""
    count = 2 if isinstance(edit, Swap) else edit.count
    old = new = _some(draft, edit.table, count, scene)
    match edit:
        case Amend(table, _, columns):
            for column in columns.split():
                donors = _some(draft, table, len(old), scene)
                new = with_column(new, column, donors.column(column))
        case Swap(_, column):
            new = with_column(new, column, old.column(column).take(pa.array([1, 0])))
        case Triple(_, _, columns):
            for column in columns.split():
                new = with_column(new, column, pc.multiply(old.column(column), pa.scalar(Decimal(3))))
        case Write(_, _, column, text):
            new = with_column(new, column, pa.repeat(text, len(old)))
    draft.update(edit.table, old, new)


def _sell(draft: Draft, count: int, scene: Scene) -> None:
    """Orders of all customers, also of those who never ordered."""
    like = _some(draft, "orders", count, scene)
    lines = _lines(draft, like)
    buyers = draft.drawn(draft.rows["customer"], len(like)).column("c_custkey")
    sold = with_column(_under_new_keys(draft, "orders", like), "o_custkey", buyers)
    place = pc.index_in(lines.column("l_orderkey"), value_set=like.column("o_orderkey").combine_chunks())
    draft.insert("orders", sold)
    draft.insert("lineitem", with_column(lines, "l_orderkey", sold.column("o_orderkey").take(place)))


def _lines(draft: Draft, orders: pa.Table) -> pa.Table:
    """The lines of some orders."""
    lines = draft.rows["lineitem"]
    return lines.filter(among(lines.column("l_orderkey"), orders.column("o_orderkey")))


def _some(draft: Draft, table: str, count: int, scene: Scene) -> pa.Table:
    """Random rows of a table; where days matter, half of them from the season, the larger half."""
    rows, day = draft.rows[table], DATED.get(table)
    if scene.season is None or day is None:
        return draft.drawn(rows, count)
    first, last = (pa.scalar(moment, pa.date32()) for moment in scene.season)
    is_inside = pc.and_(pc.greater_equal(rows.column(day), first), pc.less_equal(rows.column(day), last))
    inside = draft.drawn(rows.filter(is_inside), count - count // 2)
    return pa.concat_tables([inside, draft.drawn(rows.filter(pc.invert(is_inside)), count // 2)])


def _under_new_keys(draft: Draft, table: str, rows: pa.Table) -> pa.Table:
    """The rows with keys that the table does not hold: a number of their own, or another pair of known numbers."""
    first, *second = KEYS[table]
    if not second:
        begin = pc.max(draft.rows[table].column(first)).as_py() + 1
        return with_column(rows, first, pa.array(range(begin, begin + len(rows)), pa.int64()))
    paired = with_column(rows, second[0], draft.drawn(draft.rows[table], len(rows)).column(second[0]))
    numbers = key_numbers(table, paired)
    place = pc.index_in(numbers.unique(), value_set=numbers.combine_chunks())
    unique = paired.take(place)
    return unique.filter(pc.invert(among(numbers.unique(), key_numbers(table, draft.rows[table]))))
