"""The key or the value of a message, read by its format."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.formats.columns import Field
from headwater.formats.csv import csv_leaf, parse_csv
from headwater.formats.json_messages import Fields, parse_json
from headwater.formats.json_values import json_language
from headwater.formats.kinds import CsvFormat, DebeziumJson, Format, JsonFormat, RawFormat
from headwater.formats.layers import Layers
from headwater.formats.missing import missing_field
from headwater.formats.raw import raw_language
from headwater.formats.trees import Tree, case, cast, first_of, given, null


@dataclass(frozen=True)
class Part:
    """The fields of a key or value, and why it cannot be read: as a whole, or in a field the parser wanted otherwise."""

    fields: tuple[Field, ...]
    broken: Tree
    misfit: Tree
    ignores: bool
    """True if fields that cannot be read are NULL, and messages that cannot be read are skipped."""


def read_part(layers: Layers, source: Tree, *, form: Format, fields: Fields, what: str) -> Part:
    """Read `fields` from a column of bytes; `what` is "key" or "value"."""
    lead = "key: " if what == "key" else ""
    match form:
        case JsonFormat():
            language = json_language(form)
            parsed = parse_json(layers, source, fields, language=language, what=what)
            misfit = parsed.misfit
            if form.fail_on_missing_field:
                missing = case((given(source), missing_field(cast(source, "string"), fields)))
                misfit = layers.put(first_of(misfit, missing))
            ignores = form.ignore_parse_errors
        case CsvFormat():
            language, ignores = csv_leaf, form.ignore_parse_errors
            parsed = parse_csv(layers, source, fields, options=form, what=what)
            misfit = parsed.misfit
        case RawFormat():
            ((name, shape),) = fields
            only = Field(source, shape, raw_language(form), f"{lead}{name}")
            return Part((only,), null("string"), null("string"), ignores=False)
        case DebeziumJson():
            raise AssertionError("events of Debezium are not read as plain rows")
    found = tuple(
        Field(raw, shape, language, f"{lead}{name}")
        for raw, (name, shape) in zip(parsed.raws, fields, strict=True)
    )
    return Part(found, parsed.broken, misfit, ignores)
