"""The rows of a table as of now: a snapshot into a folder of the task's own, which goes with it.

It is one task and one partition: whoever reads a table in parts reads it at several moments.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from headwater.log.ranges import LogRanges
from headwater.schema import Schema
from headwater.spark_source.changes import changes_of
from headwater.spark_source.declared import Declared, explained
from headwater.spark_source.feed import PIECE_ROWS


class RowsNow(DataSourceReader):
    """See the module."""

    def __init__(self, declared: Declared, schema: Schema, names: tuple[str, ...]) -> None:
        self._declared, self._schema, self._names = declared, schema, names

    def partitions(self) -> list[InputPartition]:
        """One."""
        return [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All rows as of one moment, each as a change with op `r`."""
        # Spark empties its own folders also where a task was killed.
        spark = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
        with explained(), tempfile.TemporaryDirectory(prefix="headwater-", dir=spark) as folder:
            source = self._declared.open(self._schema, Path(folder))
            try:
                source.start(None)
                yield from self._rows(source.folder)
            finally:
                source.close()

    def _rows(self, folder: Path) -> Iterator[pa.RecordBatch]:
        log = LogRanges(folder)
        try:
            for piece in log.pieces(0, log.end, rows=PIECE_ROWS):
                yield from changes_of(piece.files, self._schema, notation=log.notation, names=self._names)
        finally:
            log.close()
