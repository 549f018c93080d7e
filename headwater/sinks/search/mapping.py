"""How columns are indexed: the mapping that is made for a new index, and what an existing one can hold.

name string  ->  {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from headwater.schema import Schema, arrow_schema

DATES = "strict_date_optional_time_nanos||yyyy-MM-dd HH:mm:ss[.SSSSSS][.SSSSS][.SSSS][.SSS][.SS][.S][X]||epoch_millis"
"""Both forms in which timestamps are written, with as many digits of a second as they have."""

SETTINGS = {
    # So long a delete is remembered with its version: a late write of a former process does not bring it back.
    "index": {"gc_deletes": "10m"}
}

_NUMBERS = {"byte", "short", "integer", "long", "unsigned_long"}
_FLOATS = {"half_float", "float", "double", "scaled_float"}
_TEXTS = {"text", "keyword", "wildcard", "constant_keyword", "match_only_text", "search_as_you_type"}
_DATES = {"date", "date_nanos"}

Property = dict[str, Any]


def properties(schema: Schema) -> dict[str, Property]:
    """The mapping of each column."""
    return _properties(arrow_schema(schema), key=schema.key)


def _properties(fields: pa.Schema | pa.StructType, key: tuple[str, ...] = ()) -> dict[str, Property]:
    found = {field.name: _property(field.type, in_key=field.name in key) for field in fields}
    return {name: wanted for name, wanted in found.items() if wanted}


def _property(kind: pa.DataType, *, in_key: bool = False) -> Property:
    if pa.types.is_struct(kind):
        return {"properties": _properties(kind)}
    if pa.types.is_map(kind):
        return {"type": "object"}
    if pa.types.is_list(kind):
        return _property(kind.value_type)
    if pa.types.is_string(kind):
        word: Property = {"type": "keyword"} if in_key else {"type": "keyword", "ignore_above": 256}
        return {"type": "text", "fields": {"keyword": word}}
    if pa.types.is_floating(kind):
        # The only values that are no numbers are NaN and infinity: kept in the document, not indexed.
        return {"type": "float" if kind == pa.float32() else "double", "ignore_malformed": True}
    if pa.types.is_decimal(kind):
        return {"type": "long" if kind.scale == 0 and kind.precision <= 18 else "double"}
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return {"type": "date", "format": DATES}
    return {"type": _ATOMS[kind]} if kind in _ATOMS else {}


_ATOMS = {
    pa.bool_(): "boolean",
    pa.int8(): "byte",
    pa.int16(): "short",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.binary(): "binary",
}

_HOLD: dict[str, set[str]] = {
    # what a column would be mapped to: the types of an existing index that hold its values whole
    "boolean": {"boolean"} | _TEXTS,
    "byte": _NUMBERS | _FLOATS | _TEXTS | _DATES,
    "short": _NUMBERS - {"byte"} | _FLOATS | _TEXTS | _DATES,
    "integer": {"integer", "long", "unsigned_long"} | _FLOATS | _TEXTS | _DATES,
    "long": {"long", "unsigned_long"} | _FLOATS | _TEXTS | _DATES,
    "float": _FLOATS | _TEXTS,
    "double": _FLOATS | _TEXTS,
    "date": _DATES | _TEXTS,
    "binary": {"binary"} | _TEXTS,
    "text": _TEXTS | _DATES | {"ip", "version", "completion"},
    "object": {"object", "nested", "flattened", "flat_object"},
}

_KNOWN = set().union(*_HOLD.values())
"""Types we can judge; of others the server itself says whether a value fits."""


def conflicts(
    wanted: Mapping[str, Property], there: Mapping[str, Property], path: str = ""
) -> Iterator[tuple[str, str, str]]:
    """(field, its type in the index, the type it needs) for each field whose values the index cannot hold."""
    for name, inner in wanted.items():
        if name not in there:
            continue
        needed, found = _type_of(inner), _type_of(there[name])
        if found in _KNOWN and found not in _HOLD[needed]:
            yield path + name, found, needed
        elif needed == "object":
            yield from conflicts(
                inner.get("properties", {}), there[name].get("properties", {}), f"{path}{name}."
            )


def missing(wanted: Mapping[str, Property], there: Mapping[str, Property]) -> dict[str, Property]:
    """The columns an existing index has no mapping for."""
    return {name: inner for name, inner in wanted.items() if name not in there}


def _type_of(inner: Property) -> str:
    return str(inner.get("type", "object"))
