"""The change plan of a block: the statements that turn changes of its inputs into its own change.

A statement reads inputs (temporary views the engine makes) and its result is called by its target's name in the
statements after it. A step whose first statement finds nothing is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

Analyse = Callable[[exp.Query], Mapping[str, str]]
"""Tells the Spark types of a query's columns; relations are named as they are declared."""


class Version(StrEnum):
    """Which rows of a relation an input shows."""

    CHANGE = "change"
    """The weighted rows of this batch."""
    OLD = "old"
    """The weighted rows before this batch."""
    NEW = "new"
    """The weighted rows after this batch."""
    NOW = "now"
    """The rows after this batch as a plain bag, without weights."""
    SUMS = "sums"
    """The partial sums of an aggregate before this batch."""
    RESULT = "result"
    """What an earlier statement of the same change plan found."""


class Strategy(StrEnum):
    """How a block is maintained."""

    LINEAR = "linear"
    BILINEAR = "bilinear"
    KEY_LOCAL = "key-local"
    RECOMPUTE = "recompute"


@dataclass(frozen=True)
class Restriction:
    """Only rows whose `column` has a value found in `by_column` of the view `by` are needed."""

    column: str
    by: str
    by_column: str


@dataclass(frozen=True)
class Input:
    """A temporary view that a statement reads."""

    view: str
    relation: str
    version: Version
    columns: tuple[str, ...] = ()
    restriction: Restriction | None = None
    is_bag: bool = False
    """True if rows are wanted as often as they are there, without weights."""


@dataclass(frozen=True)
class Statement:
    """One query, what it reads, and the name under which its result goes on."""

    target: str
    query: exp.Query
    inputs: tuple[Input, ...]
    narrows: str = ""
    """The target of which it leaves a part; where that has few rows they may go on as they are."""


@dataclass(frozen=True)
class Guard:
    """A plan goes on only while a number that a statement found lies within bounds, else another takes its place."""

    target: str
    column: str
    least: int
    most: int
    otherwise: ChangePlan


@dataclass(frozen=True)
class ChangePlan:
    """The statements of one step; the last one's target is the change of the block.

    `sums` is the target whose rows are added to what the block keeps beside its result, if it keeps anything.
    """

    strategy: Strategy
    statements: tuple[Statement, ...]
    sums: str | None = None
    guard: Guard | None = None
    reason: str = ""
    starts_over: bool = False
    """True if what it found for `sums` takes the place of what was kept."""


def change_view(name: str) -> str:
    """The name of the view of a relation's change."""
    return f"{name}__change"


def sums_relation(name: str) -> str:
    """The relation that keeps the partial sums of a block."""
    return f"{name}__sums"
