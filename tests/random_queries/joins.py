"""Joins: inner, cross, by any predicate, outer with residual predicates and USING, semi and anti."""

from __future__ import annotations

from tests.random_queries.expressions import loose, tight
from tests.random_queries.sources import MOST_ROWS, From, alone, named, source, table
from tests.random_queries.words import Dice, Kind, Source, Term, of_kind, plain

OUTER = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
HALF = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
EVERY_PAIR = ("cross join", "predicate join")
JOINS = ("inner join", *EVERY_PAIR, *OUTER, *HALF, "residual predicate")

MEETING = (Kind.INT, Kind.STRING, Kind.DATE, Kind.BIGINT, Kind.BOOLEAN, Kind.DECIMAL, Kind.DOUBLE)
"""Kinds by whose equality sources are joined, those that meet most often first."""


def joined(dice: Dice, depth: int) -> From:
    """Two or three sources."""
    if dice.hunger("USING") >= dice.hunger(*JOINS):
        return using(dice, table(dice), table(dice))
    left = alone(source(dice, depth))
    if dice.chance(0.6):
        left = join(dice, left, source(dice, 0))
    return join(dice, left, source(dice, depth if dice.chance(0.4) else 0))


def join(dice: Dice, left: From, right: Source) -> From:
    """One more source beside what is there already."""
    equal = meeting(dice, left.terms, right.terms)
    if equal is None:
        # This table has columns of every kind.
        return join(dice, left, named(dice, "items"))
    is_small = left.rows * right.rows < MOST_ROWS
    name = dice.rare([name for name in JOINS if is_small or name not in EVERY_PAIR])
    match name:
        case "cross join":
            return From(
                f"{left.sql} CROSS JOIN {right.sql}", left.terms + right.terms, left.rows * right.rows
            )
        case "predicate join":
            sort, on = dice.rare(("inner join", *OUTER, *HALF)), unequal(dice, left.terms, right.terms)
        case "residual predicate":
            both = plain(left.terms) + plain(right.terms)
            sort, on = dice.rare((*OUTER, *HALF)), f"{equal} AND {loose(dice, both)}"
        case "LEFT ANTI JOIN":
            sort, on = name, f"{equal} AND {tight(dice, right.terms)}"
        case _:
            sort, on = name, equal
    word = "JOIN" if sort == "inner join" else sort
    text = f"{left.sql} {word} {right.sql} ON {on}"
    if sort in HALF:
        return From(text, left.terms, left.rows)
    return From(text, left.terms + right.terms, max(left.rows, right.rows, left.rows * right.rows // 4))


def meeting(dice: Dice, left: list[Term], right: list[Term]) -> str | None:
    """An equality between both; None if they have no kind in common."""
    pairs = [pair for kind in MEETING for pair in _pairs(left, right, kind)]
    if not pairs:
        return None
    one, two = pairs[0] if dice.chance(0.5) else dice.one(pairs)
    equals = "<=>" if dice.chance(0.1) else "="
    return f"{one.sql} {equals} {two.sql}"


def unequal(dice: Dice, left: list[Term], right: list[Term]) -> str:
    """A comparison between both that is no equality."""
    one, two = dice.one([pair for kind in MEETING for pair in _pairs(left, right, kind)])
    return f"{one.sql} {dice.one(['<', '<=', '>', '>=', '<>'])} {two.sql}"


def _pairs(left: list[Term], right: list[Term], kind: Kind) -> list[tuple[Term, Term]]:
    ones, twos = of_kind(plain(left), kind), of_kind(plain(right), kind)
    return [(one, two) for one in ones for two in twos]


def using(dice: Dice, left: Source, right: Source) -> From:
    """left JOIN right USING (k, s): what both have in common is there once and has no owner."""
    names = ("k",) if dice.chance(0.6) else ("k", "s")
    dice.note("USING")
    sort = dice.rare(("inner join", *OUTER))
    word = "JOIN" if sort == "inner join" else sort
    shared = [Term(name, column.kind) for name in names for column in left.columns if column.name == name]
    own = [t for one in (left, right) for t in one.terms if t.sql.partition(".")[2] not in names]
    text = f"{left.sql} {word} {right.sql} USING ({', '.join(names)})"
    return From(text, shared + own, max(left.rows, right.rows, left.rows * right.rows // 5))
