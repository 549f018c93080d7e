"""Fields that have to be there and are not (`json.fail-on-missing-field`)."""

from __future__ import annotations

from headwater.formats.json_messages import Fields
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape
from headwater.formats.trees import (
    Tree,
    call,
    case,
    each,
    first_of,
    is_null,
    let,
    negated,
    null,
    number,
    text,
)


def missing_field(said: Tree, fields: Fields) -> Tree:
    """The complaint about the first missing field of a JSON text, NULL if all are there."""
    return let(call("try_parse_json", said), lambda x: _of_row(x, fields, path=""))


def _of_row(value: Tree, fields: Fields, *, path: str) -> Tree:
    """A field with JSON's null is there; what stands in it is looked at only where it has fields itself."""
    found = []
    for name, shape in fields:
        inner, where = _get(value, name, "variant"), f"{path}{name}"
        found.append(case((is_null(inner), text(f'field "{where}" is missing'))))
        if not isinstance(shape, Atom):
            found.append(let(inner, lambda x, shape=shape, where=where: _inside(x, shape, path=where)))  # type: ignore[misc]
    return first_of(*found, null("string"))


def _get(value: Tree, name: str, kind: str) -> Tree:
    quote = "'" if '"' in name else '"'
    return call("try_variant_get", value, f"$[{quote}{name}{quote}]", kind)


def _inside(value: Tree, shape: Shape, *, path: str) -> Tree:
    match shape:
        case RowOf(fields):
            # Where an object is expected and something else stands, the field is told to be of another type.
            is_object = call("startswith", call("schema_of_variant", value), "OBJECT")
            return case((is_object, _of_row(value, fields, path=f"{path}.")))
        case ArrayOf(inner):
            return _among(call("try_variant_get", value, "$", "array<variant>"), inner, path=f"{path}[]")
        case MapOf(_, inner):
            values = call("map_values", call("try_variant_get", value, "$", "map<string,variant>"))
            return _among(values, inner, path=f"{path}{{}}")
    return null("string")


def _among(values: Tree, shape: Shape, *, path: str) -> Tree:
    if isinstance(shape, Atom):
        return null("string")
    told = each("transform", values, lambda x: _inside(x, shape, path=path))
    return call("try_element_at", each("filter", told, lambda x: negated(is_null(x))), number(1))
