"""Window functions: ranks, neighbours and frames; the order of rows is total up to rows that are equal.

Of equal rows each has a place of its own all the same. Which of them has which is decided for each window anew, so the
functions of a query that ask for places all ask in the same window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.random_queries.expressions import loose
from tests.random_queries.sources import source
from tests.random_queries.words import (
    NUMBERS,
    Column,
    Dice,
    Grade,
    Kind,
    Query,
    Term,
    of_kind,
    plain,
    selected,
)

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE")
NEIGHBOURS = ("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
FRAMED = ("framed SUM", "framed COUNT", "framed MIN")
WINDOWS = (*RANKS, *NEIGHBOURS, *FRAMED)
PARTITIONS = ("with PARTITION BY", "without PARTITION BY")

FRAMES = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
RANGES = ("RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING")

Terms = Sequence[Term]


@dataclass(frozen=True)
class Places:
    """The window in which a query asks for places."""

    by: str
    order: str

    @property
    def window(self) -> str:
        """It as it stands after OVER."""
        return f"{self.by} ORDER BY {self.order}".lstrip()


def windowed(dice: Dice, depth: int) -> Query:
    """SELECT columns, functions OVER (...) FROM ... [WHERE ...]"""
    given = source(dice, depth)
    terms = plain(given.terms)
    places = Places(partition(dice, terms), order(dice, terms))
    made = [function(dice, terms, places) for _ in range(dice.random.randint(2, 5))]
    items, columns = selected([*terms, *made])
    where = f" WHERE {loose(dice, terms)}" if dice.chance(0.3) else ""
    name = ""
    if dice.chance(0.2):
        items, name = items.replace(f"({places.window})", "w"), f" WINDOW w AS ({places.window})"
    return Query(f"SELECT {items} FROM {given.sql}{where}{name}", columns, given.rows)


def function(dice: Dice, terms: Terms, places: Places) -> Term:
    """One window function of a source with these columns."""
    name = dice.rare([name for name in WINDOWS if name != "framed SUM" or _numbers(terms)])
    by = partition(dice, terms)
    inside = places.window
    one = dice.one(terms)
    match name:
        case "NTILE":
            return Term(f"NTILE({dice.random.randint(2, 4)}) OVER ({inside})", Kind.INT)
        case "ROW_NUMBER":
            return Term(f"ROW_NUMBER() OVER ({inside})", Kind.INT)
        case "RANK" | "DENSE_RANK":
            key = f"ORDER BY {one.sql}" if dice.chance(0.6) else f"ORDER BY {order(dice, terms)}"
            return Term(f"{name}() OVER ({' '.join(part for part in (by, key) if part)})", Kind.INT)
        case "LAG" | "LEAD":
            return Term(
                f"{name}({one.sql}, {dice.random.randint(1, 2)}) OVER ({inside})", one.kind, one.grade
            )
        case "FIRST_VALUE" | "LAST_VALUE":
            nulls = dice.one(["", " IGNORE NULLS"])
            return Term(f"{name}({one.sql}){nulls} OVER ({inside})", one.kind, one.grade)
    return framed(dice, terms, name, by, places)


def framed(dice: Dice, terms: Terms, name: str, by: str, places: Places) -> Term:
    """An aggregate over some rows of the partition, or over all of it."""
    call = name.removeprefix("framed ")
    one = dice.one(_numbers(terms) if call == "SUM" else terms)
    over = frame(dice, terms, by, places)
    if call == "COUNT":
        return Term(f"COUNT({one.sql}) OVER ({over})", Kind.BIGINT)
    kind = Kind.BIGINT if call == "SUM" and one.kind is Kind.INT else one.kind
    return Term(f"{call}({one.sql}) OVER ({over})", kind, one.grade)


def frame(dice: Dice, terms: Terms, by: str, places: Places) -> str:
    """Which rows around a row; peers are in a RANGE together, so its order need not be total."""
    numbers = _numbers(terms)
    match dice.random.randint(0, 9):
        case 0 | 1:
            return by
        case 2:
            return f"{by} ORDER BY {dice.one(terms).sql}".lstrip()
        case 3 | 4 if numbers:
            return f"{by} ORDER BY {dice.one(numbers).sql} {dice.one(RANGES)}".lstrip()
    return f"{places.window} {dice.one(FRAMES)}"


def _numbers(terms: Terms) -> list[Term]:
    return [term for term in of_kind(terms, *NUMBERS) if term.grade is Grade.EXACT]


def partition(dice: Dice, terms: Terms) -> str:
    """PARTITION BY a column or two, or nothing."""
    if dice.rare(PARTITIONS) == "without PARTITION BY" and dice.chance(0.6):
        return ""
    return f"PARTITION BY {', '.join(term.sql for term in dice.some(terms, 2))}"


def order(dice: Dice, terms: Terms) -> str:
    """A random key first, then all columns: rows that are still equal are equal altogether."""
    first = dice.one(terms)
    way = dice.one(["", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST"])
    return ", ".join([f"{first.sql}{way}", *(term.sql for term in terms if term is not first)])


def _order_of_output(dice: Dice, columns: Sequence[Column]) -> str:
    """An expression over what is selected first, then all of it."""
    first = dice.one(columns)
    made = f"-{first.name}" if first.kind in NUMBERS else f"COALESCE({first.name}, {first.name})"
    return ", ".join([f"{made}{dice.one(['', ' DESC'])}", *(column.name for column in columns)])


def best(dice: Dice, depth: int) -> Query:
    """The first rows of each key, by ROW_NUMBER in a derived table."""
    given = source(dice, depth)
    terms = plain(given.terms)
    key = ", ".join(term.sql for term in dice.some(terms, 2))
    items, columns = selected(terms)
    rank = dice.one(["ROW_NUMBER", "ROW_NUMBER", "RANK"])
    number = f"{rank}() OVER (PARTITION BY {key} ORDER BY {order(dice, terms)})"
    alias = dice.alias("q")
    kept = ", ".join(f"{alias}.{column.name}" for column in columns)
    text = f"SELECT {kept} FROM (SELECT {items}, {number} AS place FROM {given.sql}) AS {alias}"
    return Query(f"{text} WHERE {alias}.place <= {dice.random.randint(1, 3)}", columns, given.rows)


def first_rows(dice: Dice, depth: int) -> Query:
    """SELECT ... ORDER BY ... LIMIT n"""
    given = source(dice, depth)
    terms = plain(given.terms)
    items, columns = selected(terms)
    limit = dice.random.randint(2, 9)
    by = _order_of_output(dice, columns) if dice.chance(0.4) else order(dice, terms)
    text = f"SELECT {items} FROM {given.sql} ORDER BY {by} LIMIT {limit}"
    offset = f" OFFSET {dice.random.randint(1, 2)}" if dice.chance(0.2) else ""
    return Query(text + offset, columns, limit)
