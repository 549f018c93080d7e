"""Tables whose rows come from several tables of a server, its shards.

In a log each shard is a table of its own, with its own first rows and its own beginning, so that one can come or go
while the others stay as they are. Whoever reads the log gets the events of all of them as those of the declared table.

    orders, public.orders_1, public.orders_2    ->    in the log "orders (public.orders_1)", "orders (public.orders_2)"
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.log.manifest import LoggedTable

_BETWEEN = "\x1f"
"""No declared table has this in its name."""


def shard_name(declared: str, table: str, number: int) -> str:
    """What a shard is called in the log; the number tells it from one that is made again under its name."""
    return _BETWEEN.join((declared, table, str(number)))


def declared_name(name: str) -> str:
    """The declared table that has the rows of a table of the log: itself, unless it is a shard."""
    return name.partition(_BETWEEN)[0]


def shard_of(name: str) -> str:
    """The table at the server of which a table of the log is the shard; nothing if it is none."""
    return name.partition(_BETWEEN)[2].partition(_BETWEEN)[0]


def shown_name(name: str) -> str:
    """A table of the log for people: `orders`, or `orders (public.orders_1)`."""
    shard = shard_of(name)
    return f"{declared_name(name)} ({shard})" if shard else name


def logged_as(tables: Mapping[str, LoggedTable], declared: str) -> LoggedTable | None:
    """A declared table in the log, or one of its shards: they have the same columns."""
    return next((table for name, table in tables.items() if declared_name(name) == declared), None)
