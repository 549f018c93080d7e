"""How Spark runs a statement: over a few rows as it stands, over many with code that it generates.

Measured on the claims join, two cores: the first step of one row takes 1.4 s with generated code and 1.1 s without, those
that follow about a tenth less. The rules that infer filters from constraints are for large reads too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

FEW_ROWS = 10_000
"""Up to so many rows, all inputs together, a statement runs as it stands."""

AS_IT_STANDS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
GENERATED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}

_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"

_BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
"""Up to this size Spark sends one side of a join to all tasks; for rows in memory that is a job too many."""

_REUSE = "spark.sql.exchange.reuse"
"""Whether Spark runs equal parts of a plan once; a plan that is kept has none that point to another."""

_IN_A_MAP = "spark.sql.execution.useObjectHashAggregateExec"
_MOST_GROUPS = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
"""Lists and the like are collected in a map of all groups. Beyond so many groups, 128 unless told, Spark begins to sort
in the middle, and puts what it has by then together with the rest: a floating sum beside a list then has other bits than
the same group computed with fewer others. So few rows are never sorted, and many always: either way in their order."""

_TASKS = "spark.sql.shuffle.partitions"
_ADAPTIVE = "spark.sql.adaptive.enabled"
SPREAD_TASKS = 64
"""On a cluster the rows of a large statement are spread over so many tasks, or fewer where they are few."""

ONE_TASK = {_TASKS: "1", _ADAPTIVE: "false"}
SPREAD = {_TASKS: str(SPREAD_TASKS), _ADAPTIVE: "true"}

IN_MEMORY = {_BROADCAST: "-1", _REUSE: "false"}
IN_FILES = {_BROADCAST: "64m", _REUSE: "true"}
FEW = {_CONSTRAINTS: "false", _IN_A_MAP: "true", _MOST_GROUPS: str(2**31 - 1)}
MANY = {_CONSTRAINTS: "true", _IN_A_MAP: "false"}


@dataclass
class Pace:
    """Tells a session how to run what comes, as far as it does not know."""

    spark: SparkSession
    is_spread: bool = False
    """True if executors may be on several machines."""
    generates_code: bool = True
    """False where code that Spark generates would be wrong, or is not worth its time."""
    _told: dict[str, str] = field(default_factory=dict)

    def suit(self, rows: int | None, *, in_order: bool = False) -> None:
        """Let the statements that follow run as suits so many rows in memory, or, with None, any number in files.

        `in_order`: what they find depends on the order of rows, which only one task keeps.
        """
        if self.is_spread:
            self._tell(ONE_TASK if rows is not None or in_order else SPREAD)
        if rows is not None and rows <= FEW_ROWS:
            self._tell(AS_IT_STANDS | IN_MEMORY | FEW)
        elif rows is not None:
            self._tell(GENERATED | IN_MEMORY | MANY)
        else:
            self._tell(GENERATED | IN_FILES | MANY)

    def of(self, rows: int) -> str:
        """How a statement over so many rows in memory is run, in a word."""
        return "as it stands" if rows <= FEW_ROWS or not self.generates_code else "generated"

    def generate_no_code(self) -> None:
        """From now on let everything run as it stands."""
        self.generates_code = False
        self._tell(AS_IT_STANDS)

    def _tell(self, settings: Mapping[str, str]) -> None:
        wanted = settings if self.generates_code else {**settings, **AS_IT_STANDS}
        for name, value in wanted.items():
            # Who opens another pipeline in this session sets the code back: where it would be wrong it is said again.
            if self._told.get(name) != value or (name in AS_IT_STANDS and not self.generates_code):
                self.spark.conf.set(name, value)
                self._told[name] = value
