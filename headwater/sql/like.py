"""CREATE TABLE ... LIKE: which parts of another table come along, and what the two make together.

Flink's meaning and defaults: physical columns always come, everything else by INCLUDING ALL OVERWRITING OPTIONS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from headwater.errors import Place, SqlError
from headwater.nearest import nearest
from headwater.sql.columns import with_key
from headwater.sql.cursor import Cursor
from headwater.sql.statements import ColumnDef, ComputedColumn, CreateTable, Like, LikePart, LikeWay

DEFAULTS: dict[LikePart, LikeWay] = {
    "constraints": "including",
    "generated": "including",
    "metadata": "including",
    "options": "overwriting",
    "partitions": "including",
    "watermarks": "including",
}
ALL, UNUSED = "all", "distribution"
"""The word for all parts at once, and a part that no table here has."""

NEVER_OVERWRITTEN = (ALL, "constraints", "partitions", UNUSED)

Element = ColumnDef | ComputedColumn


@dataclass(frozen=True)
class _Said:
    way: LikeWay
    part: str


def parse_like(cursor: Cursor) -> Like:
    """LIKE name [(INCLUDING ALL ...)], the first word stepped over."""
    token = cursor.token
    source = cursor.relation("the name of a table")
    place = cursor.place(token)
    said: list[_Said] = []
    if cursor.takes("("):
        while not cursor.takes(")"):
            said.append(_option(cursor, [one.part for one in said]))
            cursor.takes(",")
    if cursor.sees("WITH"):
        raise cursor.error("WITH stands after LIKE", hint="Put the WITH clause before LIKE.")
    ways: dict[LikePart, LikeWay] = dict(DEFAULTS)
    for one in sorted(said, key=lambda one: one.part != ALL):
        ways |= {part: one.way for part in ways if one.part in (part, ALL)}
    return Like(source, ways, place)


def _option(cursor: Cursor, known: list[str]) -> _Said:
    at, ways = cursor.token, [way.upper() for way in get_args(LikeWay)]
    way = next((way for way in get_args(LikeWay) if cursor.takes(way.upper())), None)
    if way is None:
        near = nearest(at.raw, ways) if at is not None and at.upper else None
        raise cursor.expected("INCLUDING, EXCLUDING or )", f"Did you mean {near}?" if near else "")
    token, parts = cursor.token, (ALL, *DEFAULTS, UNUSED)
    part = next((part for part in parts if cursor.takes(part.upper())), None)
    shown = ", ".join(part.upper() for part in (ALL, *DEFAULTS))
    if part is None:
        near = nearest(token.raw, parts) if token is not None and token.upper else None
        raise cursor.expected(
            "a part of the table", f"Did you mean {near.upper()}?" if near else f"The parts are {shown}."
        )
    if way == "overwriting" and part in NEVER_OVERWRITTEN:
        raise cursor.error(
            f"{part.upper()} cannot be overwritten", hint="Use INCLUDING or EXCLUDING.", token=token
        )
    if part in known:
        raise cursor.error(f"{part.upper()} is named twice", hint="Name each part once.", token=token)
    return _Said(way, part)


def merged(own: CreateTable, base: CreateTable) -> CreateTable:
    """What a CREATE TABLE ... LIKE declares, written out; the columns of `base` are known."""
    assert own.like is not None
    ways, place = own.like.ways, own.like.place
    elements = _elements(own, _in_order(base), _in_order(own))
    if own.key and base.key and ways["constraints"] == "including":
        raise SqlError(
            f'"{base.name}" has a primary key already',
            detail=f"It is ({', '.join(base.key)}).",
            hint="Add EXCLUDING CONSTRAINTS behind LIKE, or leave the own key out.",
            place=place,
        )
    options, places = _options(own, base, place)
    made = replace(
        own,
        columns=tuple(one for one in elements if isinstance(one, ColumnDef)),
        computed=tuple(
            replace(one, index=index) for index, one in enumerate(elements) if isinstance(one, ComputedColumn)
        ),
        key=own.key or (base.key if ways["constraints"] == "including" else ()),
        options=options,
        option_places=places,
        inherited=frozenset(options) - frozenset(own.options),
        like=None,
    )
    return with_key(made)


def _in_order(table: CreateTable) -> list[Element]:
    elements: list[Element] = list(table.columns or ())
    for column in table.computed:
        elements.insert(column.index, column)
    return elements


def _elements(own: CreateTable, base: list[Element], added: list[Element]) -> list[Element]:
    """The columns of both: those that come along, then the added ones, an overwriting one in its old place."""
    assert own.like is not None
    ways = own.like.ways
    found = {one.name.lower(): one for one in base if _way(one, ways) != "excluding"}
    for one in added:
        before = found.get(one.name.lower())
        if before is not None and not (_way(before, ways) == "overwriting" and _part(before) == _part(one)):
            raise _taken(own, before, one)
        found[one.name.lower()] = one
    return list(found.values())


def _part(column: Element) -> LikePart | None:
    if isinstance(column, ComputedColumn):
        return "generated"
    return "metadata" if column.metadata is not None else None


def _way(column: Element, ways: Mapping[LikePart, LikeWay]) -> LikeWay:
    part = _part(column)
    return ways[part] if part is not None else "including"


def _taken(own: CreateTable, before: Element, column: Element) -> SqlError:
    assert own.like is not None
    part = _part(before)
    hint = "Give it another name: physical columns always come along."
    if part is not None and part == _part(column):
        hint = f"Add OVERWRITING {part.upper()} behind LIKE, or give it another name."
    elif part is not None:
        hint = f"Add EXCLUDING {part.upper()} behind LIKE, or give it another name."
    return SqlError(
        f'column "{column.name}" is in table "{own.like.source}" already', hint=hint, place=column.place
    )


def _options(
    own: CreateTable, base: CreateTable, place: Place | None
) -> tuple[dict[str, str], dict[str, Place]]:
    assert own.like is not None
    way = own.like.ways["options"]
    if way == "excluding":
        return dict(own.options), dict(own.option_places)
    both = [name for name in own.options if name in base.options]
    if both and way == "including":
        raise SqlError(
            f"option '{both[0]}' is given here and by table \"{own.like.source}\"",
            hint="Add OVERWRITING OPTIONS behind LIKE to let the own one win, or remove it.",
            place=own.option_places.get(both[0], place),
        )
    # An option that came along stands nowhere in this statement but in its LIKE.
    come = dict.fromkeys(base.options, place) if place is not None else {}
    return {**base.options, **own.options}, {**come, **own.option_places}
