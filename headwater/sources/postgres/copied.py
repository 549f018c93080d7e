"""Rows as COPY sends them, in CSV: taken in chunks while more arrive, and split into columns of texts."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import pyarrow as pa
import pyarrow.csv as pc

CHUNK_BYTES = 2_000_000


def texts_of(rows: list[bytes], width: int) -> list[pa.Array]:
    """The columns of some rows, each an array of texts."""
    chunk = b"".join(rows)
    # An empty field is NULL and "" is an empty string: the server quotes the latter.
    convert = pc.ConvertOptions(
        column_types={f"f{i}": pa.string() for i in range(width)},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    # One block, whatever the size: a value may be longer than any block one would choose.
    read = pc.ReadOptions(autogenerate_column_names=True, block_size=len(chunk) + 1, use_threads=False)
    parse = pc.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    found = pc.read_csv(
        pa.BufferReader(chunk), read_options=read, parse_options=parse, convert_options=convert
    )
    return [
        column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in found.columns
    ]


class RowChunks:
    """A file to write rows to; a second thread takes them in chunks.

    The server sends whole rows, so that a chunk never ends within one.
    """

    def __init__(self, take: Callable[[list[bytes]], None]) -> None:
        self._take = take
        self._rows: list[bytes] = []
        self._size = 0
        self._queue: queue.Queue[list[bytes] | None] = queue.Queue(maxsize=2)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="snapshot", daemon=True)

    def __enter__(self) -> RowChunks:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._rows:
            self._hand_over()
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def write(self, row: bytes) -> int:
        """Take one row."""
        self._rows.append(row)
        self._size += len(row)
        if self._size >= CHUNK_BYTES:
            self._hand_over()
        return len(row)

    def _hand_over(self) -> None:
        if self._error is not None:
            raise InterruptedError("the rows can no longer be taken")
        self._queue.put(self._rows)
        self._rows, self._size = [], 0

    def _work(self) -> None:
        while (chunk := self._queue.get()) is not None:
            if self._error is not None:
                continue
            try:
                self._take(chunk)
            except BaseException as error:  # noqa: BLE001  # it is raised on the thread that waits
                self._error = error
