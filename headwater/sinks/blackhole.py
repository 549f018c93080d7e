"""The sink that forgets: for measuring a pipeline without a place to write to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.changes.change_set import ChangeSet
from headwater.sinks.base import SinkContext, SinkTable, SinkType


@dataclass(frozen=True)
class BlackholeOptions:
    """Connector 'blackhole' has no options."""


class BlackholeSink:
    """Takes every batch and keeps none."""

    def __init__(self, tables: Sequence[SinkTable], context: SinkContext) -> None:
        self._last: int | None = None

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Remember that the batch was here."""
        self._last = batch_id

    def last_batch(self) -> int | None:
        """The last batch this process wrote."""
        return self._last

    def close(self) -> None:
        """Nothing is held."""


BLACKHOLE = SinkType(options=BlackholeOptions, group=lambda options: "blackhole", open=BlackholeSink)
