"""What a table was like when it was read, as the log remembers it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from headwater.log.manifest import LoggedTable
from headwater.sources.postgres.catalog import ServerColumn, ServerTable
from headwater.sources.postgres.types import ServerType


@dataclass(frozen=True)
class Before:
    """A table as it was."""

    oid: int
    columns: tuple[ServerColumn, ...] = ()
    """None if an older version read it."""
    is_keyed: bool = False
    """True if the server saw to it that no two rows shared the declared key."""


def noted(found: ServerTable, *, is_keyed: bool) -> list[Any]:
    """What has to be remembered of a table, besides its names and number."""
    columns = [
        [c.name, c.number, c.type_oid, [c.type.name, c.type.modifier, c.type.is_array]] for c in found.columns
    ]
    return [is_keyed, columns]


def is_noted(one: object) -> bool:
    """True for what `noted` wrote, among all that is remembered of a table."""
    return isinstance(one, list) and isinstance(one[0], bool)


def before_of(logged: LoggedTable) -> Before:
    """What `noted` wrote."""
    _, _, oid, *rest = json.loads(logged.origin)
    is_keyed, columns = next((one for one in rest if is_noted(one)), (False, ()))
    return Before(
        oid,
        tuple(ServerColumn(name, of, ServerType(*kind), False, number) for name, number, of, kind in columns),
        is_keyed,
    )
