"""What goes when a table of the stream is emptied: all rows of the declared table, or only those of one of its shards."""

from __future__ import annotations

from headwater.errors import SourceError
from headwater.log.layout import Layout
from headwater.log.shards import declared_name, shard_of


def emptied_by(layout: Layout) -> list[str] | None:
    """The columns that say which rows go when a shard is emptied; None if all rows of the table do."""
    if layout.shard is None:
        return None
    if not layout.shard:
        raise SourceError(
            f"the rows of one table of '{declared_name(layout.table)}' went all at once",
            detail=f"It is '{shard_of(layout.table)}', which was emptied or dropped; no column tells its rows.",
            hint="Declare METADATA columns for what differs among the tables that match ('table_name', 'schema_name'"
            ") and start again: all of them are read anew. Or delete rows with DELETE.",
            place=layout.place,
        )
    return list(layout.shard)
