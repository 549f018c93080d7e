"""Subqueries inside expressions: whether there is something, whether it is among them, how much it is."""

from __future__ import annotations

from collections.abc import Sequence

from tests.random_queries.expressions import condition, loose, tight
from tests.random_queries.joins import MEETING, joined, meeting
from tests.random_queries.sources import From, alone, source
from tests.random_queries.words import NUMBERS, Dice, Grade, Kind, Term, of_kind, plain

Terms = Sequence[Term]

TESTS = ("EXISTS", "NOT EXISTS", "IN", "NOT IN")
SCALARS = ("correlated scalar", "correlated COUNT", "uncorrelated scalar")
CORRELATIONS = ("correlated subquery", "uncorrelated subquery")
IN_LIST = ("subquery in CASE", "subquery in select list")
IN_WHERE = ("subquery in OR", "subquery in WHERE")


def shown(dice: Dice, terms: Terms, depth: int) -> Term:
    """Something with a subquery for the select list."""
    if dice.rare(IN_LIST) == "subquery in select list":
        return (
            scalar(dice, terms, depth) if dice.chance(0.6) else Term(test(dice, terms, depth), Kind.BOOLEAN)
        )
    if dice.chance(0.6):
        return Term(f"CASE WHEN {test(dice, terms, depth)} THEN 1 ELSE 0 END", Kind.INT)
    made = scalar(dice, terms, depth)
    return Term(f"CASE WHEN {condition(dice, terms)} THEN {made.sql} END", made.kind, made.grade)


def kept(dice: Dice, terms: Terms, depth: int) -> str:
    """A condition with a subquery for WHERE, by itself or beside another way in."""
    if dice.rare(IN_WHERE) == "subquery in OR":
        return f"({condition(dice, terms)} OR {test(dice, terms, depth)})"
    compared = dice.one([" = FALSE", " = TRUE", " <> TRUE"]) if dice.chance(0.15) else ""
    return f"({test(dice, terms, depth)}){compared}" if compared else test(dice, terms, depth)


def test(dice: Dice, terms: Terms, depth: int) -> str:
    """A condition with a subquery; the rows around it are seen through `terms`."""
    outer = _outer(terms)
    numbers = of_kind(outer, *NUMBERS)
    if dice.hunger(*SCALARS) > dice.hunger(*TESTS) and numbers:
        return f"{dice.one(numbers).sql} {dice.one(['<', '<=', '>', '>=', '<>'])} {scalar(dice, outer, depth).sql}"
    name = dice.rare(TESTS)
    inner = _inner(dice, depth)
    if name.endswith("EXISTS"):
        return f"{name} (SELECT 1 FROM {inner.sql} WHERE {_where(dice, inner, outer, name)})"
    return among(dice, inner, outer, name)


def _inner(dice: Dice, depth: int) -> From:
    """What a subquery reads: one source, and several now and then."""
    return joined(dice, 0) if dice.chance(0.2) else alone(source(dice, depth))


def _outer(terms: Terms) -> list[Term]:
    """What a subquery can name of the rows around it: only what says whose it is."""
    return [term for term in plain(terms) if "." in term.sql]


def among(dice: Dice, inner: From, outer: list[Term], name: str) -> str:
    """x [NOT] IN (SELECT ...), of one column or two"""
    pairs = [
        (o, i) for kind in MEETING for o in of_kind(outer, kind) for i in of_kind(plain(inner.terms), kind)
    ]
    if not pairs:
        return f"1 {name} (SELECT 1 FROM {inner.sql} WHERE {tight(dice, inner.terms)})"
    chosen = dice.some(pairs, 2) if dice.chance(0.2) else [pairs[0] if dice.chance(0.4) else dice.one(pairs)]
    where = _where(dice, inner, [term for term in outer if term not in (o for o, _ in chosen)], name)
    if name == "NOT IN" and dice.chance(0.7):
        # Not always: one NULL among the values, and NOT IN is true of nothing.
        where = " AND ".join([where, *(f"{i.sql} IS NOT NULL" for _, i in chosen)])
    left = ", ".join(o.sql for o, _ in chosen)
    left = f"({left})" if len(chosen) > 1 else left
    return f"{left} {name} (SELECT {', '.join(i.sql for _, i in chosen)} FROM {inner.sql} WHERE {where})"


def _where(dice: Dice, inner: From, outer: list[Term], name: str) -> str:
    """The condition of a subquery, correlated or not; what is not to be there is asked for more narrowly."""
    equal = (
        meeting(dice, inner.terms, outer)
        if dice.hunger("correlated subquery") >= dice.hunger("uncorrelated subquery")
        else None
    )
    dice.note("correlated subquery" if equal else "uncorrelated subquery")
    if name.startswith("NOT"):
        own = tight(dice, inner.terms)
        return f"{equal} AND {own}" if equal else own
    own = loose(dice, inner.terms)
    return equal if equal and dice.chance(0.5) else f"{equal} AND {own}" if equal else own


def scalar(dice: Dice, terms: Terms, depth: int) -> Term:
    """(SELECT an aggregate FROM ... [WHERE inner = outer])"""
    outer = _outer(terms)
    inner = _inner(dice, depth)
    equal = meeting(dice, inner.terms, outer)
    name = dice.rare(SCALARS if equal else ("uncorrelated scalar",))
    numbers = of_kind(plain(inner.terms), *NUMBERS)
    if name == "correlated COUNT" or not numbers:
        made = Term("COUNT(*)", Kind.BIGINT)
    else:
        made = _aggregate(dice, dice.one(numbers))
    if name == "uncorrelated scalar" or equal is None:
        dice.note("uncorrelated subquery")
        where = loose(dice, inner.terms)
    else:
        dice.note("correlated subquery")
        where = f"{equal} AND {loose(dice, inner.terms)}" if dice.chance(0.4) else equal
    return Term(f"(SELECT {made.sql} FROM {inner.sql} WHERE {where})", made.kind, made.grade)


def _aggregate(dice: Dice, one: Term) -> Term:
    """An aggregate that can be compared: nothing may depend on a floating sum that is not exact."""
    name = dice.rare(("MIN", "MAX", "SUM", "AVG") if one.grade is Grade.EXACT else ("MIN", "MAX"))
    match name:
        case "AVG" if one.kind is not Kind.DECIMAL:
            return Term(f"AVG({one.sql})", Kind.DOUBLE, Grade.WILD)
        case "SUM" if one.kind is Kind.INT:
            return Term(f"SUM({one.sql})", Kind.BIGINT)
    return Term(f"{name}({one.sql})", one.kind, one.grade)
