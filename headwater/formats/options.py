"""The format options of a table, read and checked.

'value.format' = 'json', 'value.json.ignore-parse-errors' = 'true', 'key.format' = 'raw', 'key.fields' = 'id'
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from headwater.errors import OptionError, Place
from headwater.formats.fits import check_types
from headwater.formats.kinds import (
    FORMATS,
    CsvFormat,
    DebeziumJson,
    Format,
    Formats,
    JsonFormat,
    RawFormat,
)
from headwater.nearest import did_you_mean
from headwater.options import option, options_of, read_options
from headwater.schema import Schema

__all__ = [
    "CsvFormat",
    "DebeziumJson",
    "Format",
    "FormatOptions",
    "Formats",
    "JsonFormat",
    "RawFormat",
    "formats_of",
]


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """The options that say what stands in a message; a connector's own options inherit from it."""

    format: str | None = option("format", "the format of the value", default=None)
    value_format: str | None = option("value.format", "the same as 'format'", default=None)
    key_format: str | None = option(
        "key.format", "the format of the key, if columns come from it", default=None
    )
    key_fields: str = option("key.fields", "the columns that stand in the key: a;b", default="")
    key_fields_prefix: str = option(
        "key.fields-prefix", "what those columns' names begin with, and the key's fields do not", default=""
    )
    value_fields_include: str = option(
        "value.fields-include",
        "whether the value has the key's columns too",
        default="ALL",
        choices=("ALL", "EXCEPT_KEY"),
    )
    json: dict[str, str] = option("json.", "options of format json", prefix=True)
    debezium_json: dict[str, str] = option("debezium-json.", "options of format debezium-json", prefix=True)
    csv: dict[str, str] = option("csv.", "options of format csv", prefix=True)
    raw: dict[str, str] = option("raw.", "options of format raw", prefix=True)
    value_options: dict[str, str] = option("value.", "options of the format of the value", prefix=True)
    key_options: dict[str, str] = option("key.", "options of the format of the key", prefix=True)


def formats_of(
    options: FormatOptions,
    schema: Schema,
    *,
    place: Place | None,
    upsert: bool = False,
    metadata: Collection[str] = (),
) -> Formats:
    """The formats a table's options name, checked against its columns.

    `upsert` is for upsert-kafka: both formats are required and the key is the primary key. `metadata` names the
    columns of `schema` that do not stand in the message.
    """
    _check_forms(options, upsert=upsert, place=place)
    value = _format(options, "value", place)
    key = _format(options, "key", place) if options.key_format is not None else None
    if isinstance(key, DebeziumJson) or (upsert and isinstance(value, DebeziumJson)):
        owner = "a key" if isinstance(key, DebeziumJson) else "upsert-kafka"
        raise OptionError(
            f"format 'debezium-json' cannot be the format of {owner}",
            detail="It says what changed; here one message is one row.",
            hint="Use 'json', 'csv' or 'raw'.",
            place=place,
        )
    fields = _upsert_key(options, schema, place) if upsert else _key_fields(options, schema, place)
    found = Formats(
        value,
        key,
        key_fields=fields,
        key_prefix=options.key_fields_prefix,
        include_key=options.value_fields_include == "ALL",
    )
    check_types(found, schema, metadata=metadata, place=place)
    return found


def _check_forms(options: FormatOptions, *, upsert: bool, place: Place | None) -> None:
    owner = "connector 'upsert-kafka'" if upsert else "the table"
    if options.format is not None and (upsert or options.value_format is not None):
        raise OptionError(
            "options 'format' and 'value.format' cannot both be given"
            if options.value_format is not None
            else f"{owner} has no option 'format'",
            hint="Keep 'value.format'.",
            place=place,
        )
    wanted = ("value.format", "key.format") if upsert else ("format",)
    has = {
        "format": options.format or options.value_format,
        "value.format": options.value_format,
        "key.format": options.key_format,
    }
    for name in wanted:
        if has[name] is None:
            raise OptionError(
                f"{owner} needs option '{name}'",
                detail=f"The formats are {', '.join(FORMATS)}.",
                hint=f"Add '{name}' = 'json' to the WITH clause.",
                place=place,
            )
    if options.key_fields_prefix and options.value_fields_include == "ALL":
        raise OptionError(
            "option 'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'",
            detail="A column of the key cannot stand in the value under its name with the prefix.",
            hint="Add 'value.fields-include' = 'EXCEPT_KEY'.",
            place=place,
        )


def _format(options: FormatOptions, side: str, place: Place | None) -> Format:
    """The format of the key or of the value with the options that were given for it."""
    plain = side == "value" and options.format is not None
    name = options.format if plain else options.value_format if side == "value" else options.key_format
    assert name is not None
    if name not in FORMATS:
        raise OptionError(
            f"unknown format '{name}'",
            detail=f"The formats are {', '.join(FORMATS)}.",
            hint=did_you_mean(name, FORMATS, otherwise="Use one of these."),
            place=place,
        )
    prefix = f"{name}." if plain else f"{side}.{name}."
    given = _given(options)
    foreign = _foreign(given, options)
    if foreign is not None:
        raise _misplaced(foreign, options, place)
    chosen = {option_name: text for option_name, text in given.items() if option_name.startswith(prefix)}
    read: Format = read_options(FORMATS[name], chosen, owner=f"format '{name}'", place=place, prefix=prefix)
    _check_format(read, prefix, place)
    return read


def _given(options: FormatOptions) -> dict[str, str]:
    """All options of formats as they stand in SQL, with their whole names."""
    found: dict[str, str] = {}
    for spec, target in options_of(FormatOptions):
        if spec.prefix:
            texts: Mapping[str, str] = getattr(options, target.name)
            found |= {spec.name + name: text for name, text in texts.items()}
    return found


def _prefixes(options: FormatOptions) -> list[str]:
    found = [f"{options.format}."] if options.format is not None else [f"value.{options.value_format}."]
    return found if options.key_format is None else [*found, f"key.{options.key_format}."]


def _foreign(given: Mapping[str, str], options: FormatOptions) -> str | None:
    """An option that belongs to no format of the table."""
    return next((name for name in given if not name.startswith(tuple(_prefixes(options)))), None)


def _misplaced(name: str, options: FormatOptions, place: Place | None) -> OptionError:
    own = [o.name for o, _ in options_of(FormatOptions) if not o.prefix]
    known = own + [
        prefix + o.name
        for prefix in _prefixes(options)
        for o, _ in options_of(FORMATS.get(prefix.split(".")[-2], JsonFormat))
    ]
    tail = name.removeprefix("value.").removeprefix("key.")
    exact = [option_name for option_name in known if option_name.endswith("." + tail)]
    return OptionError(
        f"option '{name}' belongs to no format of the table",
        detail=f"The options of its formats begin with {' or '.join(_prefixes(options))}",
        hint=f"Did you mean '{exact[0]}'?" if exact else did_you_mean(name, known, otherwise="Remove it."),
        place=place,
    )


def _check_format(read: Format, prefix: str, place: Place | None) -> None:
    if isinstance(read, JsonFormat) and read.ignore_parse_errors and read.fail_on_missing_field:
        raise OptionError(
            f"options '{prefix}ignore-parse-errors' and '{prefix}fail-on-missing-field' contradict each other",
            hint="Keep one of them.",
            place=place,
        )
    if isinstance(read, CsvFormat):
        _check_csv(read, prefix, place)


def _check_csv(read: CsvFormat, prefix: str, place: Place | None) -> None:
    single = {
        "field-delimiter": read.field_delimiter.replace("\\t", "\t"),
        "quote-character": read.quote_character,
        "escape-character": read.escape_character or "\\",
    }
    for name, text in single.items():
        if len(text) != 1:
            raise OptionError(
                f"option '{prefix}{name}' does not take the value '{text}'",
                detail="It takes one character.",
                place=place,
            )
    default = next(f.default for o, f in options_of(CsvFormat) if o.name == "quote-character")
    if read.disable_quote_character and read.quote_character != default:
        raise OptionError(
            f"options '{prefix}quote-character' and '{prefix}disable-quote-character' contradict each other",
            hint="Keep one of them.",
            place=place,
        )


def _upsert_key(options: FormatOptions, schema: Schema, place: Place | None) -> tuple[str, ...]:
    if not schema.key:
        raise OptionError(
            "connector 'upsert-kafka' needs a primary key",
            detail="The key of a message says which row it replaces.",
            hint="Add PRIMARY KEY (...) NOT ENFORCED to the table.",
            place=place,
        )
    if options.key_fields:
        raise OptionError(
            "connector 'upsert-kafka' has no option 'key.fields'",
            detail=f"The columns of the key are those of the primary key: {', '.join(schema.key)}.",
            hint="Remove it.",
            place=place,
        )
    for name in schema.key:
        _check_prefix(name, options.key_fields_prefix, place)
    return schema.key


def _check_prefix(name: str, prefix: str, place: Place | None) -> None:
    if not name.startswith(prefix):
        raise OptionError(
            f"column '{name}' does not begin with '{prefix}'",
            detail="Option 'key.fields-prefix' asks that of every column of the key.",
            hint=f"Call the column '{prefix}{name}'.",
            place=place,
        )


def _key_fields(options: FormatOptions, schema: Schema, place: Place | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in options.key_fields.split(";") if name.strip())
    if bool(names) != (options.key_format is not None):
        there, lacking = ("key.fields", "key.format") if names else ("key.format", "key.fields")
        raise OptionError(
            f"option '{there}' needs option '{lacking}'",
            hint=f"Add '{lacking}' = '{'id' if names == () else 'json'}' to the WITH clause.",
            place=place,
        )
    found = []
    for name in names:
        column = schema.find(name)
        if column is None:
            raise OptionError(
                f"option 'key.fields' names column '{name}', which the table does not have",
                detail=f"The columns are {', '.join(schema.names)}.",
                hint=did_you_mean(name, schema.names, otherwise="Use one of these."),
                place=place,
            )
        _check_prefix(column.name, options.key_fields_prefix, place)
        found.append(column.name)
    return tuple(dict.fromkeys(found))
