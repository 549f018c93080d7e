"""What stands in a FROM clause by itself: tables, views, derived tables, VALUES, and rows exploded from an array."""

from __future__ import annotations

from dataclasses import dataclass

from tests.random_queries.expressions import literal, loose
from tests.random_queries.tables import BY_NAME
from tests.random_queries.words import (
    Column,
    Dice,
    Kind,
    Query,
    Source,
    Term,
    as_source,
    of_kind,
    plain,
    selected,
)

SOURCES = ("derived table", "view on view", "VALUES")
EXPLODED = ("LATERAL VIEW", "LATERAL VIEW OUTER", "LATERAL")

MOST_ROWS = 1500
"""A join that would have more rows is not made."""


@dataclass(frozen=True)
class From:
    """A FROM clause: its text, what can be said of its rows, about how many there are."""

    sql: str
    terms: list[Term]
    rows: int
    spread: str = ""
    """A column that has two values in every group, whatever the keys are."""


def source(dice: Dice, depth: int) -> Source:
    """A table, a view, a derived table or VALUES under an alias of its own."""
    views = [name for name in dice.relations if name not in BY_NAME]
    chances = {"derived table": 0.6 * (depth > 0), "view on view": 0.12 * bool(views), "VALUES": 0.06}
    left = dice.random.random()
    for name, share in chances.items():
        left -= share
        if left >= 0:
            continue
        dice.note(name)
        match name:
            case "derived table":
                return as_source(dice.query(dice, depth - 1), dice.alias("q"))
            case "view on view":
                return named(dice, dice.one(views))
        return values(dice)
    return table(dice)


def table(dice: Dice) -> Source:
    """One of the tables."""
    return named(dice, dice.one(list(BY_NAME)))


def named(dice: Dice, name: str) -> Source:
    """A relation under an alias."""
    known, alias = dice.relations[name], dice.alias(name[0])
    return Source(f"{name} AS {alias}", alias, known.columns, known.rows)


def values(dice: Dice) -> Source:
    """(VALUES (1, 'a'), (2, NULL)) AS v (c0, c1)"""
    kinds = (Kind.INT, dice.one([Kind.STRING, Kind.DATE, Kind.BOOLEAN]))
    columns = tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds))
    # The first row has no NULL, so that every column has its kind.
    rows = [[literal(dice, kind).sql for kind in kinds]]
    rows += [["NULL" if dice.chance(0.2) else literal(dice, k).sql for k in kinds] for _ in range(3)]
    text = ", ".join(f"({', '.join(row)})" for row in rows)
    alias = dice.alias("v")
    return Source(f"(VALUES {text}) AS {alias} (c0, c1)", alias, columns, len(rows))


def alone(one: Source) -> From:
    """A FROM clause of one source."""
    return From(one.sql, one.terms, one.rows)


def exploded(dice: Dice, depth: int) -> From:
    """The rows of a source, each with the elements of an array made from it."""
    one = source(dice, depth)
    made, alias = array(dice, one), dice.alias("l")
    match dice.rare(EXPLODED):
        case "LATERAL VIEW":
            text = f"{one.sql} LATERAL VIEW EXPLODE({made.sql}) {alias} AS e"
        case "LATERAL VIEW OUTER":
            some = f"CASE WHEN {loose(dice, one.terms)} THEN {made.sql} END"
            text = f"{one.sql} LATERAL VIEW OUTER EXPLODE({some}) {alias} AS e"
        case _:
            text = f"{one.sql}, LATERAL EXPLODE({made.sql}) AS {alias} (e)"
    return From(text, [*one.terms, Term(f"{alias}.e", made.kind, made.grade)], one.rows * 2)


def array(dice: Dice, one: Source) -> Term:
    """ARRAY(...) of columns and a value; the kind is that of the elements."""
    kinds = [
        kind for kind in (Kind.INT, Kind.STRING, Kind.DOUBLE, Kind.DATE) if of_kind(plain(one.terms), kind)
    ]
    kind = dice.one(kinds or [Kind.INT])
    pieces = dice.some([literal(dice, kind), *of_kind(plain(one.terms), kind)], 3)
    text = f"ARRAY({', '.join(piece.sql for piece in pieces)})"
    return Term(text, kind, max(piece.grade for piece in pieces))


def doubled(dice: Dice, depth: int) -> From:
    """Every row of a source twice, with a zero and with a one."""
    one, alias = source(dice, depth), dice.alias("l")
    dice.note("LATERAL VIEW")
    text = f"{one.sql} LATERAL VIEW EXPLODE(ARRAY(0, 1)) {alias} AS e"
    return From(text, one.terms, 2 * one.rows, f"{alias}.e")


def listed(dice: Dice, depth: int) -> Query:
    """SELECT ..., EXPLODE(ARRAY(...)) FROM ... [WHERE ...]"""
    one = source(dice, depth)
    made = array(dice, one)
    items, columns = selected([*dice.some(one.terms, 3), Term(f"EXPLODE({made.sql})", made.kind, made.grade)])
    where = f" WHERE {loose(dice, one.terms)}" if dice.chance(0.4) else ""
    return Query(f"SELECT {items} FROM {one.sql}{where}", columns, 2 * one.rows)
