"""Sinks of connector 'filesystem' in a folder of a test, and what others read there."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from headwater.options import read_options
from headwater.schema import Schema
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.filesystem.options import FilesystemOptions
from headwater.sinks.filesystem.sink import FilesystemSink, open_sink

NULL = "\\N"
"""What stands for NULL in the CSV that tests read back."""

Row = tuple[object, ...]


def table_of(path: Path | str, schema: Schema, *, append_only: bool = False, **given: str) -> SinkTable:
    """A declared table; options are written with _ for - and __ for a dot: `sink__mode`."""
    named = {name.replace("__", ".").replace("_", "-"): text for name, text in given.items()}
    options = read_options(
        FilesystemOptions, {"path": str(path), **named}, owner="connector 'filesystem'", place=None
    )
    return SinkTable("out", schema, options, append_only)


def opened(
    table: SinkTable, *, pipeline: str = "p", waits: Callable[[str | None], None] = lambda why: None
) -> FilesystemSink:
    """The sink of one table."""
    return open_sink([table], SinkContext(pipeline, waits=waits))


def bag_of(path: Path, form: str, *, escape: str | None = None) -> Counter[Row]:
    """The rows of a file as a reader that knows nothing of us finds them, texts and numbers as texts in CSV."""
    match form:
        case "parquet":
            return Counter(tuple(row.values()) for row in pq.read_table(path).to_pylist())
        case "json":
            return Counter(tuple(json.loads(line).values()) for line in path.read_text().splitlines())
        case _:
            with path.open(newline="") as file:
                read = csv.reader(file, escapechar=escape, doublequote=escape is None)
                return Counter(tuple(None if cell == NULL else cell for cell in row) for row in read)
