"""The grammar's root: a query is of one of these families, and what it reads may be a query again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from tests.random_queries import aggregates, joins, sets, sources, subqueries, windows
from tests.random_queries.expressions import COMPARED, COMPUTED, loose, shown
from tests.random_queries.tables import TABLES
from tests.random_queries.words import Dice, Query, Source, selected

TRIES = 8


def plainly(dice: Dice, depth: int) -> Query:
    """SELECT ... FROM one source [WHERE ...]"""
    return _selected_from(dice, sources.alone(sources.source(dice, depth)))


def joining(dice: Dice, depth: int) -> Query:
    """SELECT ... FROM joins [WHERE ...]"""
    return _selected_from(dice, joins.joined(dice, depth))


def exploding(dice: Dice, depth: int) -> Query:
    """SELECT ... FROM a source LATERAL VIEW ... [WHERE ...]"""
    return _selected_from(dice, sources.exploded(dice, depth))


def _selected_from(dice: Dice, given: sources.From) -> Query:
    items, columns = selected(shown(dice, given.terms) for _ in range(dice.random.randint(2, 4)))
    where = f" WHERE {loose(dice, given.terms)}" if dice.chance(0.4) else ""
    return Query(f"SELECT {items} FROM {given.sql}{where}", columns, given.rows)


def asking(dice: Dice, depth: int) -> Query:
    """SELECT ... FROM ... with subqueries in the select list, in WHERE, or in both"""
    given = joins.joined(dice, depth) if dice.chance(0.2) else sources.alone(sources.source(dice, depth))
    inner = depth - 1 if depth and dice.chance(0.3) else 0
    terms = [shown(dice, given.terms) for _ in range(dice.random.randint(2, 3))]
    place = dice.one(["list", "where", "both", "both"])
    if place != "where":
        terms.append(subqueries.shown(dice, given.terms, inner))
    where = f" WHERE {subqueries.kept(dice, given.terms, inner)}" if place != "list" else ""
    items, columns = selected(terms)
    return Query(f"SELECT {items} FROM {given.sql}{where}", columns, given.rows)


Family = Callable[[Dice, int], Query]
FAMILIES: dict[Family, tuple[str, ...]] = {
    plainly: COMPUTED,
    joining: (*joins.JOINS, "USING"),
    asking: (*subqueries.TESTS, *subqueries.SCALARS, *subqueries.IN_LIST, *subqueries.IN_WHERE),
    exploding: sources.EXPLODED,
    sources.listed: ("EXPLODE in select list",),
    aggregates.grouped: aggregates.GROUPED,
    windows.windowed: (*windows.WINDOWS, *windows.PARTITIONS),
    windows.best: ("top-N per key",),
    windows.first_rows: ("ORDER BY LIMIT",),
    sets.combined: sets.SETS,
    sets.distinct: ("DISTINCT",),
    sets.with_once: ("CTE used once",),
    sets.with_twice: ("CTE used twice",),
}
"""Every family of queries, and the operators for whose sake it is chosen."""

EVERYWHERE = (*COMPARED, *subqueries.CORRELATIONS, *sources.SOURCES)
"""Operators that come with the others."""

OPERATORS = tuple(dict.fromkeys([*EVERYWHERE, *(name for names in FAMILIES.values() for name in names)]))


def query(dice: Dice, depth: int) -> Query:
    """A query that reads others up to the given depth, with at least one column that can be compared."""
    before = dice.using.copy()
    made = plainly(dice, 0) if depth == 0 and dice.chance(0.4) else _of_family(dice, depth)
    if any(column.is_plain for column in made.columns):
        return made
    dice.using = before
    return query(dice, depth)


def _of_family(dice: Dice, depth: int) -> Query:
    known = list(FAMILIES)
    family = dice.random.choices(known, [dice.hunger(*FAMILIES[family]) for family in known])[0]
    if len(FAMILIES[family]) == 1:
        dice.note(FAMILIES[family][0])
    return family(dice, depth)


def new_dice(seed: str) -> Dice:
    """Dice that know the tables and no view yet."""
    known = {t.name: Source(t.name, t.name, t.columns, 12) for t in TABLES}
    return Dice(Random(seed), query, known)


def whole_query(dice: Dice) -> Query:
    """A query that can be a view: of a few tries the one with the most that is still wanted, for its length."""
    tries: list[tuple[float, Query, Counter[str]]] = []
    for _ in range(TRIES):
        dice.using, dice.aliases = Counter(), 0
        made = query(dice, dice.one([1, 2, 2, 3]))
        names, dice.using = dice.using, Counter()
        tries.append((sum(map(dice.hunger, names)) / len(made.sql) ** 0.75, made, names))
    _, made, dice.using = max(tries, key=lambda found: found[0])
    return made
