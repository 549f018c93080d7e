"""Rows as messages: one function for each way a format is written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import OptionError, Place
from headwater.formats import encode_csv, encode_json
from headwater.formats.encode_json import Fields, JsonText
from headwater.formats.kinds import CsvFormat, DebeziumJson, Format, JsonFormat, RawFormat


def messages(kind: Format, fields: Fields) -> pa.Array:
    """One message for each row; NULL where the format has no bytes for it (raw)."""
    match kind:
        case JsonFormat() | DebeziumJson():
            return encode_json.objects(fields, json_text(kind))
        case CsvFormat():
            return encode_csv.lines(fields, csv_text(kind))
        case RawFormat():
            (_, array), *others = fields
            assert not others
            return encode_csv.raw(array, charset=kind.charset, endianness=kind.endianness)


def envelopes(kind: DebeziumJson, fields: Fields, *, come: bool) -> pa.Array:
    """One change event for each row that came or is gone, as Flink writes them: `c` or `d`, never `u`."""
    rows = encode_json.objects(fields, json_text(kind))
    before, after = (
        ('{"before":null,"after":', ',"op":"c"}') if come else ('{"before":', ',"after":null,"op":"d"}')
    )
    return pc.binary_join_element_wise(before, rows, after, "")


def json_text(kind: JsonFormat | DebeziumJson) -> JsonText:
    """How a table's JSON is written."""
    return JsonText(timestamps=kind.timestamp_format, ignore_nulls=kind.ignore_null_fields)


def csv_text(kind: CsvFormat) -> encode_csv.CsvText:
    """How a table's CSV is written."""
    return encode_csv.CsvText(
        delimiter=kind.field_delimiter.replace("\\t", "\t"),
        quote="" if kind.disable_quote_character else kind.quote_character,
        escape=kind.escape_character or "",
        null=kind.null_literal or "",
        array_delimiter=kind.array_element_delimiter,
    )


def check_written(kind: Format, place: Place | None) -> None:
    """Refuse what can be read but not written."""
    if isinstance(kind, DebeziumJson) and kind.schema_include:
        raise OptionError(
            "option 'debezium-json.schema-include' = 'true' cannot be written",
            detail="Messages are written without their schema, as Flink does.",
            hint="Remove the option.",
            place=place,
        )
