"""What SET can set: few things, each with a right default."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.options import option


@dataclass(frozen=True)
class Settings:
    """The settings of a pipeline."""

    name: str = option(
        "pipeline.name", "the name under which State and slots are kept; else the file's stem", default=""
    )
    recompute: str = option(
        "headwater.recompute",
        "whether a view may be kept by computing it anew: allow, warn or forbid",
        default="allow",
        choices=("allow", "warn", "forbid"),
    )
    batch_rows: int = option(
        "headwater.batch.rows", "about how many rows one batch takes at most", default=200_000
    )
    result_mode: str = option(
        "sql-client.execution.result-mode",
        "how the SQL client shows a live query: a table, its changes, or its changes in a box of plain letters",
        default="table",
        choices=("table", "changelog", "tableau"),
    )
