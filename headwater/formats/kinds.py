"""The formats a message can have, each with its options: Flink's names, defaults and meaning.

The fields are `option`s without the format's own prefix: `ignore-parse-errors` of json is written
`'json.ignore-parse-errors'`, or `'value.json.ignore-parse-errors'` after `'value.format'`.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.options import option

_IGNORE = "a value that cannot be read becomes NULL, a message that cannot be read is skipped"
_STANDARD = "how timestamps are written: '2020-12-30 12:13:14.123' or '2020-12-30T12:13:14.123'"
_STANDARDS = ("SQL", "ISO-8601")
_NULL_KEY = "what happens to a NULL key of a map when it is written"
_NULL_KEYS = ("FAIL", "DROP", "LITERAL")
_NULL_LITERAL = "what a NULL key of a map is written as when the mode is LITERAL"
_PLAIN = "write decimals as 0.000000027 and never as 2.7E-8"
_NO_NULLS = "write no fields that are NULL"


@dataclass(frozen=True)
class JsonFormat:
    """One JSON object for each row."""

    ignore_parse_errors: bool = option("ignore-parse-errors", _IGNORE, default=False)
    fail_on_missing_field: bool = option(
        "fail-on-missing-field", "a field that is not there is an error", default=False
    )
    timestamp_format: str = option("timestamp-format.standard", _STANDARD, default="SQL", choices=_STANDARDS)
    map_null_key_mode: str = option("map-null-key.mode", _NULL_KEY, default="FAIL", choices=_NULL_KEYS)
    map_null_key_literal: str = option("map-null-key.literal", _NULL_LITERAL, default="null")
    decimal_as_plain_number: bool = option("encode.decimal-as-plain-number", _PLAIN, default=False)
    ignore_null_fields: bool = option("encode.ignore-null-fields", _NO_NULLS, default=False)
    json_parser: bool = option(
        "decode.json-parser.enabled", "accepted; there is one way to parse here", default=True
    )


@dataclass(frozen=True)
class DebeziumJson:
    """One change event of Debezium for each change, with or without its schema."""

    schema_include: bool = option(
        "schema-include",
        "accepted; whether a message carries its schema is seen in the message",
        default=False,
    )
    ignore_parse_errors: bool = option("ignore-parse-errors", _IGNORE, default=False)
    timestamp_format: str = option(
        "timestamp-format.standard",
        _STANDARD + ", when written; both are read",
        default="SQL",
        choices=_STANDARDS,
    )
    map_null_key_mode: str = option("map-null-key.mode", _NULL_KEY, default="FAIL", choices=_NULL_KEYS)
    map_null_key_literal: str = option("map-null-key.literal", _NULL_LITERAL, default="null")
    decimal_as_plain_number: bool = option("encode.decimal-as-plain-number", _PLAIN, default=False)
    ignore_null_fields: bool = option("encode.ignore-null-fields", _NO_NULLS, default=False)
    decimal_mode: str | None = option(
        "decimal.handling.mode",
        "how the connector writes decimals, for messages without a schema",
        default=None,
        choices=("precise", "string", "double"),
    )
    time_mode: str | None = option(
        "time.precision.mode",
        "how the connector writes dates and times, for messages without a schema",
        default=None,
        choices=(
            "adaptive",
            "adaptive_time_microseconds",
            "connect",
            "isostring",
            "microseconds",
            "nanoseconds",
        ),
    )
    binary_mode: str = option(
        "binary.handling.mode",
        "how the connector writes bytes",
        default="bytes",
        choices=("bytes", "base64", "base64-url-safe", "hex"),
    )
    interval_mode: str = option(
        "interval.handling.mode",
        "how the connector writes intervals: microseconds as a number, or text",
        default="numeric",
        choices=("numeric", "string"),
    )
    hstore_mode: str = option(
        "hstore.handling.mode",
        "accepted; both forms of an hstore are told apart by themselves",
        default="json",
        choices=("json", "map"),
    )
    unavailable: str = option(
        "unavailable.value.placeholder",
        "what the connector writes for a large value that did not change",
        default="__debezium_unavailable_value",
    )


@dataclass(frozen=True)
class CsvFormat:
    """One line of separated values for each row, in the order of the columns."""

    field_delimiter: str = option(
        "field-delimiter", "one character between values; '\\t' is a tab", default=","
    )
    quote_character: str = option("quote-character", "one character around values", default='"')
    disable_quote_character: bool = option(
        "disable-quote-character", "quotes are letters like others", default=False
    )
    allow_comments: bool = option("allow-comments", "lines that start with # are skipped", default=False)
    ignore_parse_errors: bool = option("ignore-parse-errors", _IGNORE, default=False)
    array_element_delimiter: str = option(
        "array-element-delimiter", "what stands between the elements of an ARRAY or ROW", default=";"
    )
    escape_character: str | None = option(
        "escape-character", "one character that takes the meaning from the next one", default=None
    )
    null_literal: str | None = option("null-literal", "the text that stands for NULL", default=None)
    scientific: bool = option("write-bigdecimal-in-scientific-notation", "write 100000 as 1E+5", default=True)


@dataclass(frozen=True)
class RawFormat:
    """The bytes of a message as one column."""

    charset: str = option(
        "charset",
        "how text is encoded",
        default="UTF-8",
        choices=("UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16BE", "UTF-16LE"),
    )
    endianness: str = option(
        "endianness",
        "which byte of a number comes first",
        default="big-endian",
        choices=("big-endian", "little-endian"),
    )


Format = JsonFormat | DebeziumJson | CsvFormat | RawFormat

FORMATS: dict[str, type[JsonFormat] | type[DebeziumJson] | type[CsvFormat] | type[RawFormat]] = {
    "json": JsonFormat,
    "debezium-json": DebeziumJson,
    "csv": CsvFormat,
    "raw": RawFormat,
}
"""Every format by the name that stands in SQL."""


@dataclass(frozen=True)
class Formats:
    """How a table's messages are written: the value, the key if it has columns of its own, and which those are."""

    value: Format
    key: Format | None = None
    key_fields: tuple[str, ...] = ()
    key_prefix: str = ""
    include_key: bool = True
    """True if the value has the key's columns too."""
