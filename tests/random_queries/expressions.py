"""Expressions: what a row says by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from tests.random_queries.tables import VALUES
from tests.random_queries.words import NUMBERS, Dice, Grade, Kind, Term, of_kind, plain

Terms = Sequence[Term]

COMPUTED = ("CASE", "COALESCE", "arithmetic", "string function", "date function")
COMPARED = ("comparison", "IN list", "BETWEEN", "LIKE", "IS NULL", "<=>")

STRING_FUNCTIONS = (
    "UPPER({})",
    "LOWER({})",
    "CONCAT({}, '-')",
    "SUBSTRING({}, 1, 1)",
    "TRIM({})",
    "REPLACE({}, 'a', 'z')",
    "REVERSE({})",
)
DATE_FUNCTIONS = ("DATE_ADD({}, 31)", "LAST_DAY({})", "ADD_MONTHS({}, 1)", "DATE_SUB({}, 1)")
NUMBERS_OF_DATES = (
    "YEAR({})",
    "MONTH({})",
    "DAYOFMONTH({})",
    "QUARTER({})",
    "DATEDIFF({}, DATE '2024-01-01')",
)
NUMBERS_OF_STRINGS = ("LENGTH({})", "LOCATE('b', {})", "ASCII({})")


def literal(dice: Dice, kind: Kind) -> Term:
    """A value that the tables hold."""
    return Term(written(dice.one(VALUES[kind]), kind), kind)


def written(value: object, kind: Kind) -> str:
    """A value in SQL."""
    match value:
        case bool():
            return str(value).upper()
        case date():
            return f"DATE '{value}'"
        case str():
            return f"'{value}'"
        case float():
            return f"{value}E0"
    return f"CAST({value} AS BIGINT)" if kind is Kind.BIGINT else str(value)


def shown(dice: Dice, terms: Terms) -> Term:
    """A term of a select list: a column as it is, or something computed."""
    return computed(dice, terms) if dice.chance(0.4) else dice.one(terms)


def computed(dice: Dice, terms: Terms) -> Term:
    """Something computed from columns that can be compared."""
    known = plain(terms)
    makers: dict[str, Callable[[Dice, Terms], Term]] = {"CASE": case, "COALESCE": coalesce}
    if of_kind(known, *NUMBERS):
        makers["arithmetic"] = arithmetic
    if of_kind(known, Kind.STRING):
        makers["string function"] = of_string
    if of_kind(known, Kind.DATE):
        makers["date function"] = of_date
    return dice.rare_of(makers)(dice, known)


def case(dice: Dice, terms: Terms) -> Term:
    """CASE WHEN ... THEN ... [WHEN ... THEN ...] [ELSE ...] END of one kind."""
    sample = dice.one(terms)
    values = [*of_kind(terms, sample.kind), literal(dice, sample.kind)]
    whens = [(condition(dice, terms), dice.one(values)) for _ in range(dice.random.randint(1, 2))]
    last = dice.one(values) if dice.chance(0.7) else None
    branches = " ".join(f"WHEN {when} THEN {value.sql}" for when, value in whens)
    otherwise = f" ELSE {last.sql}" if last else ""
    grade = max(v.grade for v in [*(v for _, v in whens), *([last] if last else [])])
    return Term(f"CASE {branches}{otherwise} END", sample.kind, grade)


def coalesce(dice: Dice, terms: Terms) -> Term:
    """COALESCE(column, a column or a value)."""
    first = dice.one(terms)
    second = dice.one([*of_kind(terms, first.kind), literal(dice, first.kind)])
    return Term(f"COALESCE({first.sql}, {second.sql})", first.kind, max(first.grade, second.grade))


def arithmetic(dice: Dice, terms: Terms) -> Term:
    """Numbers with numbers; what could overflow or divide by zero is not asked for."""
    one = dice.one(of_kind(terms, *NUMBERS))
    two = dice.one(of_kind(terms, one.kind))
    if one.kind is Kind.DOUBLE and dice.chance(0.2):
        return Term(f"{one.sql} / NULLIF({two.sql}, 0)", one.kind, Grade.WILD)
    shapes = ["{0} + {1}", "{0} - {1}", "{0} * 2", "0 - {0}", "ABS({0})"]
    shapes += ["{0} % 3"] if one.kind in (Kind.INT, Kind.BIGINT) else []
    text = dice.one(shapes).format(one.sql, two.sql)
    return Term(f"({text})", one.kind, max(one.grade, two.grade))


def of_string(dice: Dice, terms: Terms) -> Term:
    """A text or a number made from a text."""
    one = dice.one(of_kind(terms, Kind.STRING))
    if dice.chance(0.3):
        return Term(dice.one(NUMBERS_OF_STRINGS).format(one.sql), Kind.INT)
    if dice.chance(0.3):
        return Term(f"{one.sql} || {dice.one(of_kind(terms, Kind.STRING)).sql}", Kind.STRING)
    return Term(dice.one(STRING_FUNCTIONS).format(one.sql), Kind.STRING)


def of_date(dice: Dice, terms: Terms) -> Term:
    """A date or a number made from a date."""
    one = dice.one(of_kind(terms, Kind.DATE))
    if dice.chance(0.5):
        return Term(dice.one(NUMBERS_OF_DATES).format(one.sql), Kind.INT)
    return Term(dice.one(DATE_FUNCTIONS).format(one.sql), Kind.DATE)


def condition(dice: Dice, terms: Terms) -> str:
    """One thing that may be true of a row, by itself or with another."""
    known = plain(terms)
    names = [name for name in COMPARED if name != "LIKE" or of_kind(known, Kind.STRING)]
    return atom(dice, known, dice.rare(names))


def atom(dice: Dice, terms: Terms, name: str) -> str:
    """A condition of the given sort, true for about half of the rows."""
    one = dice.one(of_kind(terms, Kind.STRING)) if name == "LIKE" else dice.one(terms)
    match name:
        case "IN list":
            values = {literal(dice, one.kind).sql for _ in range(4)}
            return f"{one.sql} IN ({', '.join(sorted(values))})"
        case "BETWEEN":
            ends = sorted(dice.random.sample(range(len(VALUES[one.kind])), 2))
            low, high = (written(VALUES[one.kind][place], one.kind) for place in ends)
            return f"{one.sql} BETWEEN {low} AND {high}"
        case "LIKE":
            return f"{one.sql} {dice.one(['LIKE', 'NOT LIKE'])} '{dice.one(['a%', '%b', '_', '%B%', '%'])}'"
        case "IS NULL":
            return f"{one.sql} {'IS NULL' if dice.chance(0.3) else 'IS NOT NULL'}"
        case "<=>":
            two = dice.one([*_others(terms, one), literal(dice, one.kind)])
            return f"{one.sql} <=> {two.sql}" if dice.chance(0.4) else f"NOT ({one.sql} <=> {two.sql})"
    two = dice.one([*_others(terms, one), literal(dice, one.kind), literal(dice, one.kind)])
    return f"{one.sql} {dice.one(['<', '<=', '>', '>=', '<>', '<>', '='])} {two.sql}"


def _others(terms: Terms, one: Term) -> list[Term]:
    return [term for term in of_kind(terms, one.kind) if term.sql != one.sql]


def loose(dice: Dice, terms: Terms) -> str:
    """A condition that most rows meet, so that queries around it have something to show."""
    either = [condition(dice, terms) for _ in range(dice.one([1, 2, 2, 2, 3, 3]))]
    return f"({' OR '.join(either)})" if len(either) > 1 else either[0]


def tight(dice: Dice, terms: Terms) -> str:
    """A condition that few rows meet."""
    one = dice.one(plain(terms))
    return f"{one.sql} = {literal(dice, one.kind).sql}"
