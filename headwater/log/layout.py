"""How the rows of a stream become rows of a declared table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from headwater.errors import Place
from headwater.log.beside import Beside, own_columns
from headwater.log.losses import Loss
from headwater.log.pgoutput import Value
from headwater.schema import Column, Schema


@dataclass(frozen=True)
class Layout:
    """How the rows of the stream become rows of a declared table."""

    table: str
    schema: Schema
    places: tuple[int, ...]
    """Where each declared column of its own stands in a row of the stream."""
    families: tuple[str, ...]
    snapshot: int | None = None
    """Transactions up to here are in the table's snapshot."""
    place: Place | None = None
    beside: tuple[Beside, ...] = ()
    """Declared columns that do not stand in a row."""
    by_key: bool = False
    """True if a row that goes or changes has to be looked up, also where the stream tells all of it."""
    shard: tuple[str, ...] | None = None
    """For one of several tables whose rows are those of the declared one: the columns that tell them apart."""
    losses: tuple[Loss, ...] = ()
    """What is lost with the first row that is read so."""
    gone: bool = False
    """True if nothing of the table can be told any more."""
    parks: bool = False
    """True if a row with a value that does not fit is put aside; else that is an error."""
    otherwise: str = ""
    """What this error says can be done about it, besides another declaration."""

    @cached_property
    def own(self) -> tuple[Column, ...]:
        """The declared columns that stand in a row."""
        return own_columns(self.schema, self.beside)

    @cached_property
    def pick(self) -> Callable[[Sequence[Value]], tuple[Value, ...]]:
        """Takes the declared columns out of a row."""
        if len(self.places) == 1:
            only = self.places[0]
            return lambda row: (row[only],)
        return itemgetter(*self.places)
