"""Messages that are rows: each one new (append), or the row of its key from now on (upsert)."""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.columns import make
from headwater.formats.json_messages import Fields
from headwater.formats.kinds import CsvFormat, JsonFormat, RawFormat
from headwater.formats.layers import Layers
from headwater.formats.metadata import broker_metadata
from headwater.formats.outputs import Events, Reading, events_query
from headwater.formats.parts import Part, read_part
from headwater.formats.shapes import shape_of
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    column,
    each,
    either,
    equals,
    first_of,
    given,
    is_null,
    negated,
    null,
    number,
    text,
)
from headwater.log.events import DELETE_KEY, INSERT, UPSERT


def appended(reading: Reading) -> exp.Query:
    """Every message that has a value is one new row."""
    layers = Layers("messages")
    value, key = _value_part(layers, reading), _key_part(layers, reading)
    values, error = _columns(layers, reading, value, key)
    half = _halves(layers, value, key)
    events = Events(values, text(INSERT), half, layers.put(error), broker_metadata())
    return events_query(layers, reading, events, where=_has_value(reading))


def upserted(reading: Reading) -> exp.Query:
    """Every message is the row of its key from now on, and one without a value says that there is none."""
    layers = Layers("messages")
    value, key = _value_part(layers, reading), _key_part(layers, reading)
    values, wrong = _columns(layers, reading, value, key)
    wrong = layers.put(wrong)
    unknown = [
        (is_null(values[name]), text(f'key: field "{name}" is NULL or missing'))
        for name in reading.formats.key_fields
    ]
    no_key = text("the message has no key, so it is not known which row it is about")
    error = case((is_null(column("key")), no_key), (given(wrong), wrong), *unknown)
    kind = case((is_null(column("value")), text(DELETE_KEY)), default=text(UPSERT))
    events = Events(values, kind, _halves(layers, value, key), layers.put(error), broker_metadata())
    return events_query(layers, reading, events, where=_is_not_json_null(reading))


def _value_part(layers: Layers, reading: Reading) -> Part:
    outside = (
        {*reading.metadata}
        if reading.formats.include_key
        else {*reading.metadata, *reading.formats.key_fields}
    )
    fields = tuple((col.name, shape_of(col.type)) for col in reading.schema if col.name not in outside)
    return read_part(layers, column("value"), form=reading.formats.value, fields=fields, what="value")


def _key_part(layers: Layers, reading: Reading) -> Part | None:
    formats = reading.formats
    if formats.key is None:
        return None
    found = [reading.schema.find(name) for name in formats.key_fields]
    fields: Fields = tuple(
        (col.name.removeprefix(formats.key_prefix), shape_of(col.type)) for col in found if col is not None
    )
    return read_part(layers, column("key"), form=formats.key, fields=fields, what="key")


def _columns(layers: Layers, reading: Reading, value: Part, key: Part | None) -> tuple[dict[str, Tree], Tree]:
    """The columns by name, and what is wrong."""
    formats = reading.formats
    key_wins = reading.kind == "upsert" or not formats.include_key
    values: dict[str, Tree] = {}
    wrongs: list[Tree] = []
    if key is not None:
        made = make(layers, key.fields)
        values |= dict(zip(formats.key_fields, made.values, strict=True))
        wrongs += _wrongs(key, made.wrong)
    outside = {*reading.metadata, *(formats.key_fields if key_wins else ())}
    fields = tuple(field for field in value.fields if field.path not in outside)
    made = make(layers, fields)
    values |= {field.path: tree for field, tree in zip(fields, made.values, strict=True)}
    wrongs += _wrongs(value, made.wrong)
    return values, first_of(*wrongs, null("string"))


def _wrongs(part: Part, wrong: Tree) -> list[Tree]:
    return [part.broken] if part.ignores else [part.broken, part.misfit, wrong]


def _halves(layers: Layers, *parts: Part | None) -> Tree:
    """0 for each message, none for those that are to be skipped.

    Not a condition of the query: Spark would compute it before the messages are parsed, by parsing them.
    """
    skipped = [part.broken for part in parts if part is not None and part.ignores]
    if not skipped:
        return number(0)
    good = both(*[is_null(broken) for broken in skipped])
    zero = call("array", number(0))
    return layers.put(
        exp.Explode(this=case((good, zero), default=each("filter", zero, lambda x: exp.false())))
    )


def _has_value(reading: Reading) -> Tree | None:
    """A message without a value is no row; with format raw it is a NULL."""
    match reading.formats.value:
        case RawFormat():
            return None
        case CsvFormat(allow_comments=comments):
            line = both(
                given(column("value")),
                exp.GT(this=call("octet_length", column("value")), expression=number(0)),
            )
            first = call("left", column("value"), number(1))
            return both(line, negated(equals(first, exp.HexString(this="23")))) if comments else line
    return both(given(column("value")), *_where_json(reading))


def _is_not_json_null(reading: Reading) -> Tree | None:
    found = _where_json(reading)
    return either(is_null(column("value")), *found) if found else None


def _where_json(reading: Reading) -> list[Tree]:
    """JSON's `null` is no row."""
    if not isinstance(reading.formats.value, JsonFormat):
        return []
    return [exp.NEQ(this=column("value"), expression=exp.HexString(this=b"null".hex().upper()))]
