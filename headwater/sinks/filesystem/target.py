"""How a declared table is written: its path, its mode and its layout, or what contradicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from headwater.errors import OptionError, SinkError
from headwater.formats.encode import csv_text
from headwater.formats.kinds import CsvFormat, RawFormat
from headwater.formats.options import FormatOptions, formats_of
from headwater.options import revealed
from headwater.schema import Column, Schema
from headwater.sinks.base import SinkTable
from headwater.sinks.filesystem.layout import Layout, ParquetLayout, TextLayout
from headwater.sinks.filesystem.options import COMPRESSIONS, FilesystemOptions, location, names_folder


@dataclass(frozen=True)
class Target:
    """A table, where its rows go, and in which form."""

    table: SinkTable
    path: Path
    is_folder: bool
    mode: str
    layout: Layout

    @property
    def shown(self) -> str:
        """The path as the user wrote it; *** if it is a secret."""
        return str(self.table.options.path)

    @property
    def signature(self) -> dict[str, object]:
        """All that must not change while rows are added to what is there."""
        options: FilesystemOptions = self.table.options
        return {
            "kind": "folder" if self.is_folder else "file",
            "mode": self.mode,
            "format": options.format,
            "options": dict(sorted({**options.csv, **options.json, **options.raw}.items())),
            "header": options.header,
            "columns": [[column.name, column.type] for column in written_schema(self.table, self.mode)],
        }


def target_of(table: SinkTable) -> Target:
    """The target of a table; an error if it cannot be written so."""
    options: FilesystemOptions = table.options
    # Only the path stays hidden where it came from a reference: messages show it.
    table = replace(table, options=replace(revealed(options), path=options.path))
    path = location(options, table.place)
    mode = table.options.mode or ("append" if table.append_only else "changes")
    _check_options(table)
    _check_mode(table, mode)
    schema = written_schema(table, mode)
    layout = _layout(table, schema)
    target = Target(table, path, names_folder(options, path), mode, layout)
    _check_shape(target)
    return target


def written_schema(table: SinkTable, mode: str) -> Schema:
    """The columns of a written row."""
    if mode != "changes":
        return table.schema
    return Schema((Column(table.options.op_column, "string"), *table.schema.columns), table.schema.key)


def _layout(table: SinkTable, schema: Schema) -> Layout:
    options: FilesystemOptions = table.options
    if options.format == "parquet":
        return ParquetLayout(schema, options.compression.lower())
    given = FormatOptions(format=options.format, csv=options.csv, json=options.json, raw=options.raw)
    kind = formats_of(given, schema, place=table.place).value
    if isinstance(kind, RawFormat) and schema.columns[0].type not in ("string", "binary"):
        raise OptionError(
            "format 'raw' writes one column of text or bytes into a file",
            detail=f"Column '{schema.columns[0].name}' is {schema.columns[0].type}.",
            hint="Cast it to STRING in the query, or use 'format' = 'csv'.",
            place=table.place,
        )
    return TextLayout(schema, kind, header=options.header)


def _check_options(table: SinkTable) -> None:
    options: FilesystemOptions = table.options
    if options.commit:
        raise OptionError(
            f"option 'sink.partition-commit.{next(iter(options.commit))}' has no meaning here",
            detail="Tables are not split into partitions; every file is whole as soon as it has its name.",
            hint="Remove it.",
            place=table.place,
        )
    given = {"csv": {**options.csv, **({"write-header": ""} if options.header else {})}}
    given |= {"json": options.json, "raw": options.raw}
    for name, texts in given.items():
        if texts and options.format != name:
            raise OptionError(
                f"option '{name}.{next(iter(texts))}' belongs to no format of the table",
                detail=f"Its format is {options.format}.",
                hint="Remove it.",
                place=table.place,
            )
    if options.compression.lower() not in COMPRESSIONS:
        raise OptionError(
            f"option 'parquet.compression' does not take the value '{options.compression}'",
            detail=f"It takes {', '.join(COMPRESSIONS)}.",
            place=table.place,
        )


def _check_mode(table: SinkTable, mode: str) -> None:
    options: FilesystemOptions = table.options
    if mode == "append" and not table.append_only:
        raise SinkError(
            f"sink table '{table.name}' cannot take rows that change or go",
            detail="'sink.mode' = 'append' only adds rows, and the query that writes to it updates or deletes some.",
            hint="Use 'sink.mode' = 'changes', where every row has its sign, or 'snapshot'.",
            place=table.place,
        )
    if mode == "changes" and table.schema.find(options.op_column) is not None:
        raise OptionError(
            f"sink table '{table.name}' has a column '{options.op_column}', and so is the column of signs called",
            hint="Add 'sink.op-column' = '...' with another name.",
            place=table.place,
        )
    if mode != "append" and options.format == "raw":
        raise OptionError(
            f"format 'raw' cannot be written with 'sink.mode' = '{mode}'",
            detail="A line of it is one text as it stands: it has no room for a sign, and its end cannot be told.",
            hint="Use 'csv' or 'json'.",
            place=table.place,
        )


def _check_shape(target: Target) -> None:
    table, layout = target.table, target.layout
    if target.mode == "snapshot" and target.is_folder:
        raise OptionError(
            "'sink.mode' = 'snapshot' writes one file, and 'path' is a folder",
            detail=f"'path' is '{target.shown}'.",
            hint="Name a file in it.",
            place=table.place,
        )
    if target.mode != "snapshot" and not target.is_folder and isinstance(layout, ParquetLayout):
        raise OptionError(
            "a Parquet file cannot grow",
            detail=f"'path' is '{target.shown}', a file.",
            hint="End the path with /, for a folder with a file a batch, or use 'sink.mode' = 'snapshot'.",
            place=table.place,
        )
    if target.mode == "snapshot" and isinstance(layout, TextLayout) and isinstance(layout.kind, CsvFormat):
        form = csv_text(layout.kind)
        if not form.quote or any(sign in form.null for sign in ("\n", form.quote)):
            raise OptionError(
                "'sink.mode' = 'snapshot' needs CSV that can be told apart into rows",
                detail="Without quotes, or with a quote or the end of a line in 'csv.null-literal', it cannot.",
                hint="Remove 'csv.disable-quote-character' and choose another 'csv.null-literal', or use 'json'.",
                place=table.place,
            )
