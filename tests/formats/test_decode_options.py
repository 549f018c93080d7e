"""Format options: right ones are read, wrong ones are named with the nearest right one.

Oracle: Flink's option names, defaults and rules, written out here.
"""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import OptionError, Place
from headwater.formats.options import (
    CsvFormat,
    DebeziumJson,
    FormatOptions,
    Formats,
    JsonFormat,
    RawFormat,
    formats_of,
)
from headwater.options import read_options
from headwater.schema import Column, Schema

HERE = Place("a.sql", 3, 1)
TABLE = Schema((Column("id", "int"), Column("name", "string"), Column("key_k", "string")))
KEYED = Schema(TABLE.columns, ("id",))


def formats(given: dict[str, str], schema: Schema = TABLE, **more: Any) -> Formats:
    """The formats that options stand for."""
    options = read_options(FormatOptions, given, owner="connector 'kafka'", place=HERE)
    return formats_of(options, schema, place=HERE, **more)


def test_one_format_is_the_format_of_the_value() -> None:
    found = formats({"format": "json", "json.ignore-parse-errors": "true"})
    assert found == Formats(JsonFormat(ignore_parse_errors=True))


def test_key_and_value_have_formats_and_options_of_their_own() -> None:
    given = {
        "value.format": "json",
        "value.json.timestamp-format.standard": "ISO-8601",
        "key.format": "raw",
        "key.raw.endianness": "little-endian",
        "key.fields": "key_k",
        "key.fields-prefix": "key_",
        "value.fields-include": "EXCEPT_KEY",
    }
    assert formats(given) == Formats(
        JsonFormat(timestamp_format="ISO-8601"),
        RawFormat(endianness="little-endian"),
        key_fields=("key_k",),
        key_prefix="key_",
        include_key=False,
    )


def test_the_key_of_an_upsert_is_the_primary_key() -> None:
    found = formats({"value.format": "csv", "key.format": "json"}, KEYED, upsert=True)
    assert found == Formats(CsvFormat(), JsonFormat(), key_fields=("id",))


def test_options_of_debezium_have_debezium_s_names() -> None:
    given = {
        "format": "debezium-json",
        "debezium-json.schema-include": "true",
        "debezium-json.decimal.handling.mode": "string",
        "debezium-json.time.precision.mode": "connect",
        "debezium-json.binary.handling.mode": "hex",
    }
    assert formats(given).value == DebeziumJson(
        schema_include=True, decimal_mode="string", time_mode="connect", binary_mode="hex"
    )


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({}, "the table needs option 'format'", "Add 'format' = 'json'"),
        ({"format": "jsn"}, "unknown format 'jsn'", "Did you mean 'json'?"),
        ({"format": "json", "value.format": "json"}, "cannot both be given", "Keep 'value.format'."),
        (
            {"format": "json", "json.ignore-parse-error": "true"},
            "format 'json' has no option 'json.ignore-parse-error'",
            "Did you mean 'json.ignore-parse-errors'?",
        ),
        (
            {"value.format": "json", "json.ignore-parse-errors": "true"},
            "option 'json.ignore-parse-errors' belongs to no format of the table",
            "Did you mean 'value.json.ignore-parse-errors'?",
        ),
        (
            {"format": "json", "value.fields-inclde": "ALL"},
            "option 'value.fields-inclde' belongs to no format of the table",
            "Did you mean 'value.fields-include'?",
        ),
        (
            {"format": "csv", "json.ignore-parse-errors": "true"},
            "belongs to no format",
            "Did you mean 'csv.ignore-parse-errors'?",
        ),
        (
            {"format": "json", "json.timestamp-format.standard": "ISO"},
            "option 'json.timestamp-format.standard' does not take the value 'ISO'",
            "Did you mean 'ISO-8601'?",
        ),
        (
            {"format": "json", "json.ignore-parse-errors": "true", "json.fail-on-missing-field": "true"},
            "contradict each other",
            "Keep one of them.",
        ),
        ({"format": "csv", "csv.field-delimiter": "::"}, "'csv.field-delimiter' does not take", ""),
        (
            {"format": "csv", "csv.disable-quote-character": "true", "csv.quote-character": "'"},
            "contradict each other",
            "Keep one of them.",
        ),
        (
            {"format": "json", "key.format": "json"},
            "'key.format' needs option 'key.fields'",
            "'key.fields' =",
        ),
        ({"format": "json", "key.fields": "id"}, "'key.fields' needs option 'key.format'", "'key.format' ="),
        (
            {"format": "json", "key.format": "json", "key.fields": "nam"},
            "names column 'nam', which the table does not have",
            "Did you mean 'name'?",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "id", "key.fields-prefix": "k_"},
            "needs 'value.fields-include' = 'EXCEPT_KEY'",
            "EXCEPT_KEY",
        ),
        (
            {
                "format": "json",
                "key.format": "json",
                "key.fields": "id",
                "key.fields-prefix": "k_",
                "value.fields-include": "EXCEPT_KEY",
            },
            "column 'id' does not begin with 'k_'",
            "Call the column 'k_id'.",
        ),
        (
            {"format": "json", "key.format": "debezium-json", "key.fields": "id"},
            "'debezium-json' cannot be the format of a key",
            "Use 'json'",
        ),
        ({"format": "raw"}, "format 'raw' has one column, and 3 stand in the value", "Declare one column"),
    ],
)
def test_a_wrong_option_is_named(given: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        formats(given)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.place == HERE


@pytest.mark.parametrize(
    ("given", "schema", "message"),
    [
        ({"key.format": "json"}, KEYED, "connector 'upsert-kafka' needs option 'value.format'"),
        ({"value.format": "json"}, KEYED, "connector 'upsert-kafka' needs option 'key.format'"),
        ({"format": "json"}, KEYED, "connector 'upsert-kafka' has no option 'format'"),
        ({"value.format": "json", "key.format": "json"}, TABLE, "needs a primary key"),
        (
            {"value.format": "debezium-json", "key.format": "json"},
            KEYED,
            "'debezium-json' cannot be the format of upsert-kafka",
        ),
        (
            {"value.format": "json", "key.format": "json", "key.fields": "id"},
            KEYED,
            "has no option 'key.fields'",
        ),
    ],
)
def test_an_upsert_table_is_told_what_it_needs(given: dict[str, str], schema: Schema, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        formats(given, schema, upsert=True)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("json", "map<int,string>", "in JSON the keys of a map are texts"),
        ("json", "array<struct<a:map<int,int>>>", "in JSON the keys of a map are texts"),
        ("csv", "map<string,int>", "format 'csv' has no maps"),
        ("csv", "array<array<int>>", "format 'csv' has no lists in lists"),
        ("raw", "date", "format 'raw' holds text, bytes, numbers and truth values"),
    ],
)
def test_a_column_that_a_format_cannot_hold_is_named(name: str, kind: str, message: str) -> None:
    with pytest.raises(OptionError, match=f"column 'a' cannot stand in the value of a message: {message}"):
        formats({"format": name}, Schema((Column("a", kind),)))


def test_metadata_columns_do_not_stand_in_the_value() -> None:
    schema = Schema((Column("line", "string"), Column("at", "timestamp")))
    assert formats({"format": "raw"}, schema, metadata={"at": "timestamp"}).value == RawFormat()
