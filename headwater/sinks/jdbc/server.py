"""What the sink asks of a database; Postgres and MySQL each have their own answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.base import SinkTable

BATCHES = "headwater_batches"
"""The table that holds the last batch of each pipeline; it moves in the transaction that writes the rows."""


class Server(Protocol):
    """One database and its tables that are written, over one connection that is made when it is needed.

    A transaction that raises leaves nothing behind. What the driver raises is a `failure`; what will never go
    well is a SinkError.
    """

    @property
    def failure(self) -> type[Exception]:
        """The error of the driver."""

    @property
    def shown(self) -> str:
        """The server for a message: `Postgres at localhost:5432`."""

    def open(self, tables: Sequence[SinkTable]) -> None:
        """Connect, check every table, and make what may be made, or raise SinkError."""

    def last(self, pipeline: str) -> int | None:
        """The last batch of a pipeline that the database holds."""

    def write(self, changes: Mapping[str, ChangeSet], *, pipeline: str, batch_id: int) -> None:
        """Write the changes of all tables and the batch id in one transaction; nothing if it holds the batch."""

    def is_away(self, error: Exception) -> bool:
        """True if the connection was lost or none comes about for now: whoever waits can go on."""

    def can_try_again(self, error: Exception) -> bool:
        """True if the server undid the transaction for the sake of another one."""

    def said(self, error: Exception) -> str:
        """What a failure says, without any secret."""

    def told(self, error: Exception, table: SinkTable) -> SinkError:
        """A failure in our words, with what to do about it."""

    def close(self) -> None:
        """Give the connection back."""
