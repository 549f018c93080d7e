"""The contract of a sink.

One Sink object stands for one place that can commit at once (a database, a broker, a terminal) and holds all
declared tables that lie there.

It must
- make `write` of one batch id harmless when repeated: after a crash the same batch comes again, the same rows;
- write all tables of a batch so that no reader sees some of them without the others, where the place can do that;
- leave nothing of a batch behind when `write` raises, where the place can do that.
It may be given a batch in which a table has no change.
It never sees half a transaction, and rows of a batch that cancel have been cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headwater.changes.change_set import ChangeSet
from headwater.errors import Place, SinkError
from headwater.schema import Schema
from headwater.sinks.lake.contract import Lake


class Sink(Protocol):
    """Where answers go. See the module for what must, may and is never promised."""

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Take the changes of one batch; `ChangeSet.relation` is the name of the declared sink table.

        The rows are consolidated: at most one -1 and one +1 per key for a table with a key.
        """

    def last_batch(self) -> int | None:
        """The last batch this pipeline has durably written here, None if never."""

    def close(self) -> None:
        """Free what is held."""


@dataclass(frozen=True)
class SinkTable:
    """A declared table that is written to."""

    name: str
    schema: Schema
    options: Any
    append_only: bool = False
    """True if its input only ever inserts: then of two rows with one key the last one wins."""
    place: Place | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Columns declared METADATA that are written, and what each becomes: `{"at": "timestamp"}`."""
    held: bool = False
    """True if rows of this pipeline stand in it, to which only changes come."""

    def check_key_is_declared(self) -> None:
        """Raise if the table's rows could not be found again."""
        if not self.schema.key and not self.append_only:
            raise SinkError(
                f"sink table '{self.name}' needs a key",
                detail="Its query updates and deletes rows, and without a key no row could be found again.",
                hint="Declare PRIMARY KEY (...) NOT ENFORCED in its CREATE TABLE statement.",
                place=self.place,
            )

    def check_may_be_made(self) -> None:
        """Raise if the table is missing though it was written: in a new one all rows but the changed would lack."""
        if self.held:
            raise SinkError(
                f"sink table '{self.name}' is gone",
                detail="This pipeline has written rows to it, and only changes would come to a new one.",
                hint="Put it back, or begin anew: headwater drop removes what this pipeline knows.",
                place=self.place,
            )


def _unheard(trouble: str | None) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class SinkContext:
    """The pipeline's name (the owner of batch ids), where plain output goes, and who hears of trouble."""

    pipeline: str
    say: Callable[[str], None] = print
    waits: Callable[[str | None], None] = _unheard
    """Told why a write does not go on (`"opensearch at ... answers 503"`), and None when it does again."""
    lake: Lake | None = None
    """Opens tables that Spark writes; a pipeline has one."""
    folder: Path | None = None
    """Where executors on other machines find what need not stay; None if there are none."""


@dataclass(frozen=True)
class SinkType:
    """What the registry knows of a connector that can be written."""

    options: type
    group: Callable[[Any], str]
    """Tables of equal group are written by one Sink, in one transaction where the place has them."""
    open: Callable[[Sequence[SinkTable], SinkContext], Sink]
    """Connects and checks that every table exists with fitting columns, or raises SinkError."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What METADATA columns can become, and the type of each: `{"timestamp": "timestamp"}`."""
    check: Callable[[SinkTable], None] = lambda table: None
    """Complains of options that contradict each other or mean nothing, without asking the sink.

    `append_only` of the table is not known yet, and given as True.
    """
    takes_back: Callable[[SinkTable], bool] = lambda table: bool(table.schema.key)
    """True if a row can be taken back from such a table; else what was appended stays."""
    family: str = ""
    """Connectors of equal family share one Sink for tables of equal group; without one each has its own."""
    jars: tuple[str, ...] = ()
    """Sets of packages that Spark needs to write its tables itself."""
    empty: str = ""
    """How a user empties its tables and takes back what it knows of the batches of `{pipeline}`: `delete ...`."""
