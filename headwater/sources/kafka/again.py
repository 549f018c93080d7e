"""What was delivered before, read once more from the very same spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from headwater.errors import SourceError
from headwater.log.events import SMALL_ROWS, Span
from headwater.sources.base import SourceTable
from headwater.sources.kafka.lane import read_spans
from headwater.sources.kafka.ledger import Entry, joined

AGAIN_SECONDS = 60.0


def read_again(
    entries: Sequence[Entry], tables: Mapping[str, SourceTable]
) -> tuple[Entry, dict[str, pa.Table]]:
    """Entries that follow each other as one, and its rows where they are few."""
    spans: dict[str, list[Span]] = {}
    for entry in entries:
        for table, parts in entry.spans.items():
            spans.setdefault(table, []).extend(parts)
    whole = {table: tuple(joined(parts)) for table, parts in spans.items()}
    last = replace(entries[-1], spans=whole)
    if sum(s.end - s.begin for parts in whole.values() for s in parts) > 2 * SMALL_ROWS:
        return last, {}
    rows = {}
    for table, parts in whole.items():
        found = read_spans(tables[table].options.properties, parts, wait=AGAIN_SECONDS)
        if found is None:
            raise SourceError(
                "the messages of the interrupted batch do not come",
                detail=f"Waited {AGAIN_SECONDS:.0f} s for {parts[0].topic}.",
                hint="Check that the broker runs; the next start tries again.",
            )
        rows[table] = found
    return last, rows
