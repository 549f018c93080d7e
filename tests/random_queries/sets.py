"""Set operations between queries of the same kinds of columns, DISTINCT, and WITH."""

from __future__ import annotations

from tests.random_queries.expressions import literal, loose
from tests.random_queries.joins import meeting
from tests.random_queries.sources import source, table
from tests.random_queries.words import Column, Dice, Kind, Query, Source, Term, of_kind, plain, selected

SETS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")


def combined(dice: Dice, depth: int) -> Query:
    """Two sides, or three."""
    name = dice.rare(SETS)
    left = source(dice, depth)
    known = plain(left.terms)
    terms = dice.some(_common(known), 2) if name.startswith("INTERSECT") else dice.some(known, 3, least=2)
    kinds = [term.kind for term in terms]
    sides = [_side(dice, left, terms), _like(dice, kinds, depth)]
    text = f"{sides[0].sql} {name} {sides[1].sql}"
    if dice.chance(0.5):
        sides.append(_like(dice, kinds, 0))
        text = f"({text}) {dice.rare(SETS)} {sides[-1].sql}"
    same = zip(*[side.columns for side in sides], strict=True)
    columns = tuple(Column(group[0].name, group[0].kind, max(c.grade for c in group)) for group in same)
    return Query(text, columns, sum(side.rows for side in sides))


def _common(terms: list[Term]) -> list[Term]:
    """Columns whose values are often found elsewhere."""
    return of_kind(terms, Kind.INT, Kind.STRING, Kind.BOOLEAN, Kind.DATE) or terms


def _like(dice: Dice, kinds: list[Kind], depth: int) -> Query:
    """Something with columns of these kinds."""
    given = source(dice, depth) if dice.chance(0.5) else table(dice)
    terms = []
    for kind in kinds:
        known = of_kind(plain(given.terms), kind)
        terms.append(dice.one(known) if known else literal(dice, kind))
    return _side(dice, given, terms)


def _side(dice: Dice, given: Source, terms: list[Term]) -> Query:
    items, columns = selected(terms)
    where = f" WHERE {loose(dice, given.terms)}" if dice.chance(0.6) else ""
    return Query(f"SELECT {items} FROM {given.sql}{where}", columns, given.rows)


def distinct(dice: Dice, depth: int) -> Query:
    """SELECT DISTINCT ..."""
    given = source(dice, depth)
    items, columns = selected(dice.some(plain(given.terms), 3))
    where = f" WHERE {loose(dice, given.terms)}" if dice.chance(0.3) else ""
    return Query(f"SELECT DISTINCT {items} FROM {given.sql}{where}", columns, given.rows // 2 + 1)


def with_once(dice: Dice, depth: int) -> Query:
    """WITH w AS (...) SELECT ... FROM w"""
    inner, name = dice.query(dice, max(depth - 1, 0)), dice.alias("w")
    one = Source(name, name, inner.columns, inner.rows)
    items, columns = selected(one.terms)
    text = f"WITH {name} AS ({inner.sql}) SELECT {items} FROM {name} WHERE {loose(dice, one.terms)}"
    return Query(text, columns, inner.rows)


def with_twice(dice: Dice, depth: int) -> Query:
    """WITH w AS (...) SELECT ... FROM w AS a JOIN w AS b, or one of them below the other"""
    inner, name = dice.query(dice, max(depth - 1, 0)), dice.alias("w")
    a, b = (
        Source(f"{name} AS {alias}", alias, inner.columns, inner.rows)
        for alias in (dice.alias("a"), dice.alias("b"))
    )
    equal = meeting(dice, a.terms, b.terms)
    if equal is None or inner.rows > 60:
        items, columns = selected(a.terms)
        again, _ = selected(b.terms)
        body = f"SELECT {items} FROM {a.sql} UNION ALL SELECT {again} FROM {b.sql}"
        return Query(f"WITH {name} AS ({inner.sql}) {body}", columns, 2 * inner.rows)
    items, columns = selected(dice.some(a.terms, 3) + dice.some(b.terms, 2))
    word = dice.one(["JOIN", "LEFT JOIN"])
    body = f"SELECT {items} FROM {a.sql} {word} {b.sql} ON {equal}"
    return Query(f"WITH {name} AS ({inner.sql}) {body}", columns, inner.rows * inner.rows // 4 + 1)
