"""Groups: aggregates with DISTINCT and FILTER, HAVING, ROLLUP, CUBE and GROUPING SETS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.random_queries import subqueries
from tests.random_queries.expressions import computed, condition, loose
from tests.random_queries.joins import joined
from tests.random_queries.sources import From, alone, doubled, exploded, source
from tests.random_queries.words import NUMBERS, Dice, Grade, Kind, Query, Term, of_kind, plain, selected

Terms = Sequence[Term]

_COLUMN = re.compile(r"\w+\.\w+")

MOMENTS = ("STDDEV", "VARIANCE", "COVAR_SAMP")
OF_NUMBERS = ("SUM", "AVG", "SUM DISTINCT", "PERCENTILE", "MEDIAN", *MOMENTS)
OF_BOOLEANS = ("BOOL_AND", "BOOL_OR")
OF_STRINGS = ("STRING_AGG",)
OF_ANYTHING = ("COUNT", "MIN", "MAX", "COUNT DISTINCT", "MIN_BY", "MAX_BY", "COLLECT_LIST", "COLLECT_SET")
AGGREGATES = (*OF_NUMBERS, *OF_BOOLEANS, *OF_STRINGS, *OF_ANYTHING)
GROUPINGS = ("ROLLUP", "CUBE", "GROUPING SETS")
GROUPED = (*AGGREGATES, "CORR", *GROUPINGS, "FILTER", "HAVING", "global aggregate", "subquery in HAVING")


@dataclass(frozen=True)
class Grouping:
    """A GROUP BY clause, about how many groups it makes, and what can be said of a key in each."""

    sql: str
    rows: int
    of_keys: tuple[Term, ...] = ()


def grouped(dice: Dice, depth: int) -> Query:
    """SELECT keys, aggregates FROM ... [WHERE ...] GROUP BY ... [HAVING ...]"""
    given = _given(dice, depth)
    terms = plain(given.terms)
    keys = _keys(dice, terms)
    by = grouping(dice, keys)
    made = [aggregate(dice, terms) for _ in range(dice.random.randint(3, 6))]
    if given.spread:
        made.append(correlation(dice, terms, given.spread))
    of_keys = [dice.one(by.of_keys)] if by.of_keys and dice.chance(0.2) else []
    items, columns = selected([*keys, *made, *of_keys])
    where = f" WHERE {loose(dice, terms)}" if dice.chance(0.3) else ""
    tied = [key for key in keys if _COLUMN.fullmatch(key.sql)] if "(" not in by.sql else []
    text = f"SELECT {items} FROM {given.sql}{where}{by.sql}{_having(dice, made, tied)}"
    return Query(text, columns, min(given.rows, by.rows))


def _given(dice: Dice, depth: int) -> From:
    if dice.hunger("CORR") >= dice.hunger(*OF_NUMBERS):
        return doubled(dice, depth)
    if dice.chance(0.5):
        return joined(dice, depth)
    return exploded(dice, depth) if dice.chance(0.1) else alone(source(dice, depth))


def _keys(dice: Dice, terms: Terms) -> list[Term]:
    if dice.hunger("global aggregate") >= dice.hunger("SUM", "MAX"):
        dice.note("global aggregate")
        return []
    keys = dice.some(terms, 2)
    return [*keys, computed(dice, terms)] if dice.chance(0.2) else keys


def grouping(dice: Dice, keys: list[Term]) -> Grouping:
    """GROUP BY, plain or several ways at once."""
    if not keys:
        return Grouping("", 1)
    named, rows = ", ".join(key.sql for key in keys), 6 ** len(keys)
    if dice.hunger(*GROUPINGS) <= dice.hunger("SUM", "COUNT", "MIN") and dice.chance(0.75):
        any_values = tuple(Term(f"ANY_VALUE({key.sql})", key.kind, key.grade) for key in keys)
        return Grouping(f" GROUP BY {named}", rows, any_values)
    of_keys = tuple(Term(f"GROUPING({key.sql})", Kind.INT) for key in keys)
    name = dice.rare(GROUPINGS)
    if name == "GROUPING SETS":
        fewer = dice.some([*(f"({key.sql})" for key in keys), "()"], 2)
        named = ", ".join([f"({named})", *fewer])
    elif len(keys) > 1 and dice.chance(0.5):
        # One key beside the sets of the others.
        of_keys += (Term("GROUPING_ID()", Kind.BIGINT),)
        inside, beside = ", ".join(key.sql for key in keys[:-1]), keys[-1].sql
        parts = dice.one([f"{name}({inside}), {beside}", f"{beside}, {name}({inside})"])
        return Grouping(f" GROUP BY {parts}", rows, of_keys)
    return Grouping(f" GROUP BY {name}({named})", rows, of_keys)


def _having(dice: Dice, made: list[Term], tied: list[Term]) -> str:
    """HAVING, of which a subquery may be tied to some of the keys."""
    wants_subquery = dice.hunger("subquery in HAVING") >= dice.hunger("SUM", "MAX")
    if not wants_subquery and not dice.chance(0.1):
        return ""
    dice.note("HAVING")
    known = plain(made)
    own = f"{condition(dice, known)} OR COUNT(*) >= 2" if known else "COUNT(*) >= 1"
    if not wants_subquery:
        return f" HAVING {own}"
    dice.note("subquery in HAVING")
    return f" HAVING COUNT(*) <= {subqueries.scalar(dice, tied, 0).sql} OR {own}"


def aggregate(dice: Dice, terms: Terms) -> Term:
    """One aggregate call, with a FILTER clause now and then."""
    names = [*OF_ANYTHING]
    names += OF_NUMBERS if of_kind(terms, *NUMBERS) else ()
    names += OF_BOOLEANS if of_kind(terms, Kind.BOOLEAN) else ()
    names += OF_STRINGS if of_kind(terms, Kind.STRING) else ()
    made = call(dice, terms, dice.rare(names))
    text = made.sql
    if dice.chance(0.15) or dice.hunger("FILTER") > dice.hunger("SUM"):
        dice.note("FILTER")
        text = f"{text} FILTER (WHERE {condition(dice, terms)})"
    # In which order rows are collected is nobody's promise.
    text = f"ARRAY_SORT({text})" if made.kind is Kind.ARRAY else text
    return Term(text, made.kind, made.grade)


def call(dice: Dice, terms: Terms, name: str) -> Term:
    """The call of an aggregate on something it can take."""
    if name in OF_NUMBERS:
        return of_numbers(dice, terms, name)
    if name in OF_BOOLEANS:
        return Term(f"{name}({dice.one(of_kind(terms, Kind.BOOLEAN)).sql})", Kind.BOOLEAN)
    if name in OF_STRINGS:
        text = dice.one(of_kind(terms, Kind.STRING)).sql
        return Term(f"{name}({text}, '+') WITHIN GROUP (ORDER BY {text})", Kind.STRING)
    one, two = dice.one(terms), dice.one(terms)
    match name:
        case "COUNT":
            return Term(f"COUNT({dice.one(['*', one.sql])})", Kind.BIGINT)
        case "COUNT DISTINCT":
            return Term(
                f"COUNT(DISTINCT {dice.one([one.sql, one.sql, f'{one.sql}, {two.sql}'])})", Kind.BIGINT
            )
        case "MIN_BY" | "MAX_BY":
            # Among equals in the first field the value itself decides: whoever wins, the answer is the same.
            return Term(f"{name}({one.sql}, STRUCT({two.sql}, {one.sql}))", one.kind, one.grade)
        case "COLLECT_LIST" | "COLLECT_SET":
            return Term(f"{name}({one.sql})", Kind.ARRAY, one.grade)
    return Term(f"{name}({one.sql})", one.kind, one.grade)


def of_numbers(dice: Dice, terms: Terms, name: str) -> Term:
    """An aggregate of numbers."""
    one = dice.one(of_kind(terms, *NUMBERS))
    summed = Grade.ROUGH if one.grade > Grade.EXACT else Grade.EXACT
    is_decimal = one.kind is Kind.DECIMAL
    match name:
        case "SUM" | "SUM DISTINCT":
            word = "DISTINCT " if name.endswith("DISTINCT") else ""
            return Term(f"SUM({word}{one.sql})", Kind.BIGINT if one.kind is Kind.INT else one.kind, summed)
        case "AVG":
            grade = summed if is_decimal else max(summed, Grade.WILD)
            return Term(f"AVG({one.sql})", Kind.DECIMAL if is_decimal else Kind.DOUBLE, grade)
        case "PERCENTILE":
            part = dice.one(["0.25", "0.5", "0.9"])
            in_order = f"({part}) WITHIN GROUP (ORDER BY {one.sql}{dice.one(['', ' DESC'])})"
            forms = (f"({one.sql}, {part})", f"_CONT{in_order}", f"_DISC{in_order}")
            return Term(f"PERCENTILE{dice.one(forms)}", Kind.DOUBLE, max(one.grade, Grade.WILD))
        case "MEDIAN":
            return Term(f"MEDIAN({one.sql})", Kind.DOUBLE, max(one.grade, Grade.WILD))
    known = [term.sql for term in _small(terms)] or ["1"]
    arguments = [dice.one(known) for _ in range(2 if name == "COVAR_SAMP" else 1)]
    return Term(f"{name}({', '.join(arguments)})", Kind.DOUBLE, Grade.ROUGH)


def correlation(dice: Dice, terms: Terms, spread: str) -> Term:
    """CORR; Spark divides by zero where one side is the same in all rows, so here neither side is."""
    known = [term.sql for term in _small(terms)] or ["0"]
    dice.note("CORR")
    return Term(f"CORR({dice.one(known)} + {spread}, {dice.one(known)} - {spread})", Kind.DOUBLE, Grade.ROUGH)


def _small(terms: Terms) -> list[Term]:
    """Numbers whose products and squares stay exact, so that what is zero is zero for everybody."""
    return [term for term in of_kind(terms, Kind.INT, Kind.DECIMAL, Kind.DOUBLE) if term.grade is Grade.EXACT]
