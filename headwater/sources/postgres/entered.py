"""Tables in the log: how it remembers them, and whether that still is what is declared."""

from __future__ import annotations

import json
from collections.abc import Mapping

from headwater.log.manifest import LoggedTable
from headwater.sources.postgres.before import is_noted, noted
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.fits import is_keyed
from headwater.sources.postgres.matching import Matching


def logged_table(pair: Pair, position: int | None) -> LoggedTable:
    """A table whose first rows are as of a position, as the log remembers it."""
    found, keyed = pair.found, is_keyed(pair.declared, pair.found.primary_key)
    said = [found.schema, found.name, found.oid, *_beside(pair.declared), noted(found, is_keyed=keyed)]
    return LoggedTable(pair.declared.name, pair.declared.schema, json.dumps(said), position)


def matched(logged: LoggedTable) -> Matching:
    """The table at the server whose rows were read."""
    schema, name, oid, *_ = json.loads(logged.origin)
    return Matching(oid, schema, name)


def is_new(pair: Pair, known: Mapping[str, LoggedTable], after: int | None) -> bool:
    """True if the first rows of a table are not in the log as it is declared now, or were read and are wanted anew."""
    logged, found = known.get(pair.declared.name), pair.found
    if logged is None or is_old(logged, pair.declared, after):
        return True
    was = matched(logged)
    return (was.schema, was.name) != (found.schema, found.name) or not is_of(logged, pair.declared)


def is_old(logged: LoggedTable, declared: CaptureTable, after: int | None) -> bool:
    """True if what the log has of a table is not what is declared now, or was read and is wanted anew."""
    is_wanted = declared.anew and after is not None and (logged.snapshot or 0) <= after
    return is_wanted or logged.schema.columns != declared.schema.columns


def is_of(logged: LoggedTable, declared: CaptureTable) -> bool:
    """True if the same is told beside the rows as was, and the same patterns mean the table."""
    _, _, _, *rest = json.loads(logged.origin)
    return [one for one in rest if not is_noted(one)] == _beside(declared)


def _beside(declared: CaptureTable) -> list[object]:
    """What the log remembers of a declaration besides its columns: METADATA columns, and the patterns it matches."""
    told: list[object] = [declared.metadata] if declared.metadata else []
    return [*told, list(declared.of)] if declared.of else told
