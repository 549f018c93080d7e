"""A campaign: many random queries from one seed, fifteen to a pipeline, and what was seen of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from headwater.runtime.open import open_engine
from headwater.sources.base import Report
from tests.random_queries.batches import Rows, emptied, fill, refilled, step
from tests.random_queries.oracle import Oracle, oracle_beside
from tests.random_queries.queries import OPERATORS, new_dice, whole_query
from tests.random_queries.tables import BY_NAME, TABLES
from tests.random_queries.trial import Failure, History, Trial, View
from tests.random_queries.words import Dice, Source

TOGETHER = 15
"""So many views share a pipeline, its tables and its steps."""

STEPS = 4

EMPTY = 0.1
"""At most such a share of the queries has no rows in the end."""


class Quiet:
    """Nobody looks on while Spark starts."""

    def report(self, report: Report) -> None:
        """Nothing."""

    def batch(self, done: object) -> None:
        """Nothing."""


@dataclass
class Campaign:
    """What a seed has come to so far."""

    seed: str
    made: int = 0
    empty: int = 0
    """Queries that have no rows in the end."""
    left_out: int = 0
    """Queries that would have been empty in the end, and were not made for that."""
    refused: list[str] = field(default_factory=list)
    """Queries that Spark itself does not take."""
    unanswered: list[str] = field(default_factory=list)
    """Queries that Spark itself could not run after some step."""
    filled: int = 0
    """Queries that had rows after the last step."""
    moved: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Failure, Trial]] = field(default_factory=list)

    def told(self) -> str:
        """What happened, for people."""
        counts = ", ".join(f"{name} {self.operators[name]}" for name in OPERATORS)
        return (
            f"seed {self.seed}: {self.made} queries, {self.filled} with rows at the end, {self.moved} rows moved, "
            f"{len(self.failures)} failures; besides {len(self.refused)} refused by Spark, {self.left_out} empty, "
            f"{len(self.unanswered)} that Spark could not run after some step\n{counts}"
        )


def run_campaign(
    seed: str, count: int, *, folder: Path, look: Callable[[Campaign], None] = lambda _: None
) -> Campaign:
    """Put so many random queries to the law; `look` is called after each pipeline."""
    oracle = oracle_beside(open_engine("random queries", folder / "spark" / "work", Quiet()).spark)
    found, dice = Campaign(seed), new_dice(seed)
    for begin in range(0, count, TOGETHER):
        steps = history(Random(f"{seed} {begin}"))
        views = together(found, dice, oracle, steps, min(TOGETHER, count - begin))
        trial = Trial(views, steps, folder / f"views-from-{begin}", oracle)
        trial.run()
        found.filled += len(trial.filled)
        found.moved += trial.moved
        found.unanswered += trial.unanswered.values()
        found.failures += [(failure, trial) for failure in trial.failures.values()]
        look(found)
    return found


def together(found: Campaign, dice: Dice, oracle: Oracle, steps: History, count: int) -> list[View]:
    """Random queries for one pipeline; they may read each other, and most will have rows in the end."""
    dice.relations = {name: dice.relations[name] for name in BY_NAME}
    oracle.take(after(steps).arrow())
    views: list[View] = []
    while len(views) < count:
        made, name = whole_query(dice), f"view{len(views) + 1}"
        answer = oracle.answers({name: made.sql})[name]
        if isinstance(answer, str):
            found.refused.append(f"{made.sql}\n{answer}")
            continue
        if answer.num_rows == 0 and found.empty >= EMPTY * (found.made + 1):
            found.left_out += 1
            continue
        found.made += 1
        found.empty += answer.num_rows == 0
        dice.used += dice.using
        found.operators = dice.used
        dice.relations[name] = Source(name, name, made.columns, max(1, answer.num_rows))
        views.append(View(name, made.sql))
    return views


def history(dice: Random) -> History:
    """The first rows, then steps; in the second one a table loses all its rows, in the third it has some again."""
    rows = Rows()
    first = fill(dice)
    rows.take(first)
    steps = [[first]]
    for number in range(STEPS):
        made = step(dice, rows)
        made += [emptied(dice.choice(TABLES), rows)] if number == 1 else []
        made += [refilled(dice, rows)] if number == 2 else []
        steps.append(made)
    return steps


def after(steps: History) -> Rows:
    """What the tables hold in the end."""
    rows = Rows()
    for transactions in steps:
        for transaction in transactions:
            rows.take(transaction)
    return rows
