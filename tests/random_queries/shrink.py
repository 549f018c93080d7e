"""Shrinking: the smallest query and the fewest rows with which a failure still is one."""

from __future__ import annotations

import itertools
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.random_queries.batches import Rows, Transaction
from tests.random_queries.oracle import Oracle
from tests.random_queries.smaller import smaller
from tests.random_queries.tables import TABLES
from tests.random_queries.trial import Failure, History, Trial, View

Bags = dict[str, Counter[tuple[Any, ...]]]
"""What every table holds at one moment."""

SECONDS = 180.0
"""So long a failure is made smaller."""


@dataclass(frozen=True)
class Case:
    """Views of which the last one fails in a history."""

    views: tuple[View, ...]
    steps: History


@dataclass(frozen=True)
class Shrinker:
    """Tries cases until the time is over."""

    oracle: Oracle
    folder: Path
    failure: Failure
    numbers: Iterator[int]
    until: float

    def fails(self, case: Case) -> bool:
        """True if the case fails, and in the same way: by rows that differ, or by an error."""
        if time.monotonic() > self.until:
            return False
        folder = self.folder / f"case-{next(self.numbers)}"
        trial = Trial(case.views, case.steps, folder, self.oracle)
        trial.run()
        shutil.rmtree(folder, ignore_errors=True)
        found = trial.failures.get(case.views[-1].name)
        return found is not None and not trial.unanswered and found.is_error == self.failure.is_error


def shrunk(case: Case, failure: Failure, oracle: Oracle, folder: Path) -> Case:
    """The case made as small as the time allows: steps, query, rows."""
    shrinker = Shrinker(oracle, folder, failure, itertools.count(), time.monotonic() + SECONDS)
    for candidate in (replace(case, steps=case.steps[: failure.step + 1]),):
        case = candidate if shrinker.fails(candidate) else case
    told = replace(case, steps=between(moments(case.steps)))
    if not shrinker.fails(told):
        return with_smaller_query(case, shrinker)
    return with_fewer_rows(with_smaller_query(with_fewer_steps(told, shrinker), shrinker), shrinker)


def with_smaller_query(case: Case, shrinker: Shrinker) -> Case:
    """The case with ever less in its last view."""
    last = case.views[-1]
    for sql in smaller(last.sql):
        if any(isinstance(answer, str) for answer in shrinker.oracle.answers(_texts(case, sql)).values()):
            continue
        candidate = replace(case, views=(*case.views[:-1], replace(last, sql=sql)))
        if shrinker.fails(candidate):
            return with_smaller_query(candidate, shrinker)
    return case


def _texts(case: Case, sql: str) -> dict[str, str]:
    return {view.name: view.sql for view in case.views[:-1]} | {case.views[-1].name: sql}


def with_fewer_steps(case: Case, shrinker: Shrinker) -> Case:
    """The case without the steps that do not matter."""
    for place in range(len(case.steps) - 1):
        kept = moments(case.steps)
        del kept[place]
        candidate = replace(case, steps=between(kept))
        if shrinker.fails(candidate):
            return with_fewer_steps(candidate, shrinker)
    return case


def with_fewer_rows(case: Case, shrinker: Shrinker) -> Case:
    """The case without whole tables, then without single rows, that do not matter."""
    for table in TABLES:
        rows = list(dict.fromkeys(row for bags in moments(case.steps) for row in bags[table.name]))
        size = len(rows)
        while size:
            for begin in range(0, len(rows), size):
                candidate = _without(case, table.name, rows[begin : begin + size])
                case = candidate if shrinker.fails(candidate) else case
            size //= 2
    return case


def _without(case: Case, name: str, rows: list[tuple[Any, ...]]) -> Case:
    kept = moments(case.steps)
    for bags in kept:
        bags[name] = Counter({row: count for row, count in bags[name].items() if row not in rows})
    return replace(case, steps=between(kept))


def moments(steps: History) -> list[Bags]:
    """What the tables hold after each step."""
    rows, found = Rows(), []
    for step in steps:
        for transaction in step:
            rows.take(transaction)
        found.append({table.name: rows.truth.bags.get(table.name, Counter()).copy() for table in TABLES})
    return found


def between(found: list[Bags]) -> list[list[Transaction]]:
    """Steps of one transaction each that lead from moment to moment."""
    steps: list[list[Transaction]] = []
    before: Bags = {table.name: Counter() for table in TABLES}
    for bags in found:
        transaction: Transaction = {}
        for table in TABLES:
            gone, come = before[table.name] - bags[table.name], bags[table.name] - before[table.name]
            signed = [("-", row) for row in gone.elements()] + [("+", row) for row in come.elements()]
            if signed:
                names = table.schema.names
                transaction[table.name] = [(sign, dict(zip(names, row, strict=True))) for sign, row in signed]
        steps.append([transaction])
        before = bags
    return steps
