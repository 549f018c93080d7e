"""A stream of changes: places of our log are Spark's offsets, its files Spark's partitions.

Spark makes this object in several processes. In one, which lives as long as the query, it is asked for offsets and
partitions: there the capture is started, at the first question. In the others it only reads files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from headwater.schema import Schema
from headwater.spark_source.changes import changes_of
from headwater.spark_source.declared import Declared, explained
from headwater.spark_source.feed import Feed

LOG, POSITION = "log", "position"


class Files(InputPartition):
    """Some files of the log, for one task."""

    def __init__(self, files: tuple[Path, ...], notation: str) -> None:
        self.files, self.notation = files, notation


class LogStream(DataSourceStreamReader):
    """See the module."""

    def __init__(self, declared: Declared, schema: Schema, names: tuple[str, ...]) -> None:
        self._declared, self._schema, self._names = declared, schema, names
        self._feed: Feed | None = None

    @explained()
    def initialOffset(self) -> dict[str, Any]:
        """Where a query without a checkpoint begins."""
        return self._offset(self._opened().first())

    @explained()
    def latestOffset(self) -> dict[str, Any]:
        """The end of the last transaction that is durable with us."""
        return self._offset(self._opened().latest())

    @explained()
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The files of the transactions between two offsets."""
        if start == end:
            return []
        feed = self._opened()
        pieces = feed.pieces(start[LOG], start[POSITION], end[POSITION])
        return [Files(piece.files, feed.notation) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The changes in some files, in the process of a task."""
        assert isinstance(partition, Files)
        with explained():
            yield from changes_of(
                partition.files, self._schema, notation=partition.notation, names=self._names
            )

    @explained()
    def commit(self, end: dict[str, Any]) -> None:
        """Spark will not ask for anything up to here again."""
        self._opened().commit(end[POSITION])

    def stop(self) -> None:
        """Stop the capture."""
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def _opened(self) -> Feed:
        if self._feed is None:
            assert self._declared.state is not None
            self._feed = Feed(self._declared, self._schema, self._declared.state)
        return self._feed

    def _offset(self, position: int) -> dict[str, Any]:
        return {LOG: self._opened().name, POSITION: position}
