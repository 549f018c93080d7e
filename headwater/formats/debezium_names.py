"""What a message's own schema tells of its fields: each has a type, and often the name of what it means."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.formats.json_messages import Fields
from headwater.formats.layers import Layers
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf
from headwater.formats.trees import (
    Body,
    Tree,
    call,
    case,
    each,
    each_entry,
    equals,
    first_of,
    given,
    let,
    number,
    part,
    row,
    text,
)

_TEXT = Atom("string")
_PLAIN = (("name", _TEXT), ("parameters", MapOf(_TEXT, _TEXT)))
_FIELD = RowOf((("field", _TEXT), *_PLAIN, ("items", RowOf(_PLAIN))))
SCHEMA = RowOf((("fields", ArrayOf(RowOf((("field", _TEXT), ("fields", ArrayOf(_FIELD)))))),))
"""What is read of a message's schema."""

_CONNECT, _TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
_DECIMAL = f"{_CONNECT}Decimal"
NANOS = 0
"""The factor of what is less than a microsecond."""
_STAMPS = {
    f"{_TIME}Date": 86_400_000_000,
    f"{_CONNECT}Date": 86_400_000_000,
    f"{_TIME}Timestamp": 1000,
    f"{_CONNECT}Timestamp": 1000,
    f"{_TIME}MicroTimestamp": 1,
    f"{_TIME}NanoTimestamp": NANOS,
}
_CLOCKS = {f"{_TIME}Time": 1000, f"{_CONNECT}Time": 1000, f"{_TIME}MicroTime": 1, f"{_TIME}NanoTime": NANOS}
"""How many microseconds one of a unit has."""


@dataclass(frozen=True)
class Names:
    """What a schema tells, each a map by column, and NULL where a message has no schema."""

    known: Tree
    """All of it."""

    @property
    def units(self) -> Tree:
        """How many microseconds one of a timestamp's unit has."""
        return part(self.known, "units")

    @property
    def scales(self) -> Tree:
        """The scale of decimals that are written as unscaled numbers."""
        return part(self.known, "scales")

    @property
    def clocks(self) -> Tree:
        """How many microseconds one of a time's unit has, for columns of text."""
        return part(self.known, "clocks")


def names_of(layers: Layers, schema: Tree, fields: Fields) -> Names:
    """What is known of the columns; an array's is what is known of its elements."""
    images = each("filter", part(schema, "fields"), lambda x: equals(part(x, "field"), text("after")))
    columns = part(call("try_element_at", images, number(1)), "fields")
    texts = call("array", *[name for name, shape in fields if shape == _TEXT])

    def told(columns: Tree) -> Tree:
        timed = each("filter", columns, lambda f: call("array_contains", texts, part(f, "field")))
        clocks = _by_name(timed, lambda f: _factor(_CLOCKS, f))
        return row(
            [
                ("units", _by_name(columns, lambda f: _factor(_STAMPS, f))),
                ("scales", _by_name(columns, _scale)),
                ("clocks", each_entry("map_filter", clocks, lambda _, factor: given(factor))),
            ]
        )

    return Names(layers.put(case((given(schema), let(columns, told)))))


def _by_name(columns: Tree, body: Body) -> Tree:
    names = each("transform", columns, lambda f: part(f, "field"))
    return call("map_from_arrays", names, each("transform", columns, body))


def _name(meaning: Tree) -> Tree:
    return first_of(part(part(meaning, "items"), "name"), part(meaning, "name"), text(""))


def _factor(units: dict[str, int], meaning: Tree) -> Tree:
    factors = call("map", *[word for n, f in units.items() for word in (text(n), number(f))])
    return call("try_element_at", factors, _name(meaning))


def _scale(meaning: Tree) -> Tree:
    parameters = first_of(part(part(meaning, "items"), "parameters"), part(meaning, "parameters"))
    return case((equals(_name(meaning), text(_DECIMAL)), call("try_element_at", parameters, "scale")))
