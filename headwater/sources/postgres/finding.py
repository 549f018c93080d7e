"""Which tables a capture begins with: those that are there, those that are new, those that are gone.

A table that came to match while a pipeline runs waits for a moment from which it can be read (`Opening`), and the others
go on meanwhile: for such a moment the server waits for all transactions that are open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from headwater.log.manifest import LoggedTable
from headwater.log.shards import declared_name, shard_of
from headwater.log.store import LogWriter
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.count import Progress
from headwater.sources.postgres.entered import is_new, is_of, is_old, matched
from headwater.sources.postgres.leaving import Leaving, gone_shards
from headwater.sources.postgres.meanwhile import still_lost
from headwater.sources.postgres.options import COMMITTED, INITIAL, LATEST
from headwater.sources.postgres.shards import found_again, pairs_of, shard

_BEGUN = "begun "
"""Under this and its name the manifest remembers that all tables that matched a declared one were taken up together."""


@dataclass(frozen=True)
class Opening:
    """A moment from which tables that came later can be read, and the connection that keeps it."""

    replication: Any = field(repr=False)
    position: int
    snapshot: str
    names: frozenset[str]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the moment go."""
        self.replication.close()


@dataclass(frozen=True)
class Found:
    """The tables as they are at the server, and those that are no longer there."""

    pairs: tuple[Pair, ...]
    leaving: Leaving


def still_good(opening: Opening | None, log: LogWriter) -> Opening | None:
    """The moment, unless the stream went past it before it stood still: what the tables changed since is not read."""
    if opening is None or opening.position >= (log.last or 0):
        return opening
    opening.close()
    return None


def find(
    cursor: Any, config: CaptureConfig, log: LogWriter, progress: Progress, *, opening: Opening | None
) -> Found:
    """Look at the server; what cannot be read as declared is an error, unless it only came later."""
    known, lost = log.manifest.tables(), still_lost(config.tables, log)
    if config.again:
        pairs = found_again(cursor, config, known, progress, lost=lost)
    else:
        pairs = pairs_of(cursor, config, known, lost=lost, streamed=True)
        _forget_begun(config, log, known)
    gone = gone_shards(cursor, config, log, pairs)
    # A table that was made again under its name comes when the rows of the former one are gone.
    waiting = {table.shown for table in gone}
    there = [_later(pair, log, known) for pair in pairs if pair.declared.shown not in waiting]
    waits = config.again or config.startup == COMMITTED
    now = opening.names if opening else frozenset()
    found = [
        pair for pair in there if not (waits and _is_later(pair, log, known)) or pair.declared.name in now
    ]
    return Found(tuple(found), Leaving(gone, config.address.database))


def remember_begun(config: CaptureConfig, log: LogWriter) -> None:
    """All that matched is taken up."""
    for table in config.tables:
        if table.is_pattern:
            log.manifest.remember(_BEGUN + table.name, "yes")


def new_tables(pairs: Sequence[Pair], log: LogWriter, after: int | None) -> tuple[Pair, ...]:
    """The tables whose first rows are not in the log as they are declared now, or were read and are wanted anew."""
    known = log.manifest.tables()
    return tuple(pair for pair in pairs if is_new(pair, known, after))


def _forget_begun(config: CaptureConfig, log: LogWriter, known: Mapping[str, LoggedTable]) -> None:
    """A table that is read anew begins with all that matches, also if that is interrupted."""
    for table in config.tables:
        for name, logged in known.items():
            if not table.is_pattern or declared_name(name) != table.name or not shard_of(name):
                continue
            one = shard(table, matched(logged))
            if not is_of(logged, one) or is_old(logged, one, config.after):
                log.manifest.remember(_BEGUN + table.name, "")


def _is_later(pair: Pair, log: LogWriter, known: Mapping[str, LoggedTable]) -> bool:
    """True for a shard that came after the others were taken up."""
    name = pair.declared.name
    return bool(pair.declared.of and name not in known and log.manifest.recall(_BEGUN + declared_name(name)))


def _later(pair: Pair, log: LogWriter, known: Mapping[str, LoggedTable]) -> Pair:
    """A shard that came later: all its rows are news, however the others began."""
    if pair.declared.startup not in (LATEST, COMMITTED) or not _is_later(pair, log, known):
        return pair
    return replace(pair, declared=replace(pair.declared, startup=INITIAL))
