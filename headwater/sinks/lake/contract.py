"""What a table of a lake can do, as its sink sees it; Spark does it.

A write must be one commit that carries the writer and the batch id, so that `last` can tell of it afterwards,
whoever else wrote to the table since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from headwater.changes.change_set import ChangeSet
from headwater.schema import Column, Schema


class LakeTable(Protocol):
    """One table of a lake; it need not be there yet."""

    @property
    def failure(self) -> tuple[type[Exception], ...]:
        """What its methods raise when Spark or the table refuses."""

    def columns(self) -> tuple[tuple[Column, bool], ...] | None:
        """Its columns as they are now, each with True if it must not be NULL; None if there is no table."""

    def create(self, schema: Schema, properties: Mapping[str, str]) -> None:
        """Make it, without rows."""

    def last(self, writer: str) -> int | None:
        """The last batch of this writer that it holds."""

    def write(self, changes: ChangeSet, *, writer: str, batch_id: int) -> None:
        """One commit: rows are merged by the key of the change set's schema, or added if it has none.

        Each key comes once: with weight 1 its new row, with -1 only that it is gone.
        """

    def settle(self, writer: str) -> None:
        """Keep what `last` says where the upkeep of the table does not remove it."""

    def said(self, problem: Exception) -> str:
        """What a failure says, in one line."""

    def is_conflict(self, problem: Exception) -> bool:
        """True if somebody else wrote at the same time, so that the same write can go well now."""


class Lake(Protocol):
    """Opens tables; complains if this Spark cannot."""

    def delta(self, path: str) -> LakeTable:
        """The Delta table at a path."""

    def iceberg(self, warehouse: str, database: str, name: str) -> LakeTable:
        """The Iceberg table of this name in a warehouse that is a folder."""
