"""How rows lie in a file, as lines of text or as Parquet: written, read back, and told apart.

A row of text is one column `line`: two rows are one if their lines are equal. So a bag of rows and the bag of
their lines change together, and nothing has to be read back into values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.changes.change_set import BATCH_ROWS
from headwater.formats.encode import csv_text, messages
from headwater.formats.encode_csv import lines as csv_lines
from headwater.formats.encode_json import Fields, JsonText, objects
from headwater.formats.kinds import CsvFormat, Format, RawFormat
from headwater.schema import Schema, arrow_schema
from headwater.sinks.filesystem.lines import lines_of, records_of

LINES = pa.schema([pa.field("line", pa.binary())])


class RowWriter(Protocol):
    """Puts rows into a file that is open."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows."""

    def end(self) -> None:
        """Write what belongs after the last row; the file stays open."""

    def abandon(self) -> None:
        """Write nothing more: the file is thrown away."""


class Layout(Protocol):
    """The form of a file's rows."""

    def encode(self, fields: Fields) -> pa.RecordBatch:
        """Rows as they stand in a file."""

    def writer(self, file: BinaryIO) -> RowWriter:
        """A writer at the beginning of a file."""

    def read(self, path: Path) -> Iterator[pa.RecordBatch]:
        """The rows of a file, in pieces of bounded size."""

    def rows(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """What tells one row from another."""

    def keys(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """What tells the key of one row from another's."""


@contextmanager
def filling(layout: Layout, file: BinaryIO) -> Iterator[RowWriter]:
    """A writer at the beginning of a file; ends what is written, or gives it up after an error."""
    writer = layout.writer(file)
    try:
        yield writer
        writer.end()
    except BaseException:
        writer.abandon()
        raise


@dataclass(frozen=True)
class TextLayout:
    """Lines of CSV, JSON or text as it stands."""

    schema: Schema
    kind: Format
    header: bool = False

    @property
    def end(self) -> bytes:
        """What stands behind each line."""
        return "\n".encode(self.kind.charset) if isinstance(self.kind, RawFormat) else b"\n"

    @property
    def first(self) -> bytes:
        """What a file begins with."""
        if not self.header or not isinstance(self.kind, CsvFormat):
            return b""
        names = [(name, pa.array([name])) for name in self.schema.names]
        return bytes(csv_lines(names, csv_text(self.kind))[0].as_py().encode()) + self.end

    def encode(self, fields: Fields) -> pa.RecordBatch:
        """One line for each row; NULL as text that stands alone is an empty line."""
        return _lines(messages(self.kind, fields).cast(pa.binary()).fill_null(b""))

    def joined(self, rows: pa.RecordBatch) -> bytes:
        """Lines one after the other, each with its end."""
        return b"".join(line + self.end for line in rows.column(0).to_pylist())

    def writer(self, file: BinaryIO) -> RowWriter:
        """A writer that begins with the names of the columns, if they are wanted."""
        file.write(self.first)
        return _TextWriter(self, file)

    def read(self, path: Path) -> Iterator[pa.RecordBatch]:
        """The lines behind the first one, if that names the columns."""
        with path.open("rb") as file:
            file.seek(len(self.first))
            is_csv = isinstance(self.kind, CsvFormat)
            found = records_of(file, csv_text(self.kind)) if is_csv else lines_of(file)  # type: ignore[arg-type]  # as seen
            for lines in found:
                yield _lines(pa.array(lines, pa.binary()))

    def rows(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """The lines themselves."""
        found: list[Hashable] = rows.column(0).to_pylist()
        return found

    def keys(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """The texts of the key's values within each line."""
        lines: list[bytes] = rows.column(0).to_pylist()
        if not isinstance(self.kind, CsvFormat):
            return [repr([json.loads(line).get(name) for name in self.schema.key]) for line in lines]
        places = [self.schema.names.index(name) for name in self.schema.key]
        cell = _cell(self.kind)
        found = [cell.findall(line.decode()) for line in lines]
        return [tuple(cells[place] for place in places) for cells in found]


@dataclass(frozen=True)
class _TextWriter:
    layout: TextLayout
    file: BinaryIO

    def write(self, rows: pa.RecordBatch) -> None:
        """Add lines."""
        self.file.write(self.layout.joined(rows))

    def end(self) -> None:
        """Nothing comes behind the last line."""

    def abandon(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class ParquetLayout:
    """Columns of Parquet, with Arrow's types as they are."""

    schema: Schema
    compression: str = "snappy"

    def encode(self, fields: Fields) -> pa.RecordBatch:
        """The columns as they are."""
        arrays = [array for _, array in fields]
        return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(self.schema))

    def writer(self, file: BinaryIO) -> RowWriter:
        """A writer that ends with Parquet's own table of contents."""
        compression = "NONE" if self.compression == "uncompressed" else self.compression
        return _ParquetWriter(pq.ParquetWriter(file, arrow_schema(self.schema), compression=compression))

    def read(self, path: Path) -> Iterator[pa.RecordBatch]:
        """The rows, typed as the table is."""
        wanted = arrow_schema(self.schema)
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=wanted)

    def rows(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """All values of a row as one text."""
        return self._texts(rows, self.schema.names)

    def keys(self, rows: pa.RecordBatch) -> Sequence[Hashable]:
        """The values of the key as one text."""
        return self._texts(rows, self.schema.key)

    def _texts(self, rows: pa.RecordBatch, names: Sequence[str]) -> Sequence[Hashable]:
        found: list[Hashable] = objects([(name, rows.column(name)) for name in names], JsonText()).to_pylist()
        return found


@dataclass(frozen=True)
class _ParquetWriter:
    inner: pq.ParquetWriter

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows as one group."""
        if rows.num_rows:
            self.inner.write_batch(rows)

    def end(self) -> None:
        """Write the table of contents."""
        self.inner.close()

    def abandon(self) -> None:
        """Keep the writer from writing its end into a closed file when it is freed."""
        self.inner.is_open = False


def _lines(array: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array], schema=LINES)


def _cell(kind: CsvFormat) -> re.Pattern[str]:
    """One value of a line as it was written, with its quotes."""
    form = csv_text(kind)
    delimiter, quote, escape = (re.escape(sign) for sign in (form.delimiter, form.quote, form.escape))
    inside = f"(?:[^{quote}{escape}]|{escape}.)*" if escape else f"(?:[^{quote}]|{quote}{quote})*"
    return re.compile(f"({quote}{inside}{quote}|[^{delimiter}]*)(?:{delimiter}|\\Z)", re.DOTALL)
