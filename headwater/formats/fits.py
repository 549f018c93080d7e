"""Which columns a format can hold."""

from __future__ import annotations

from collections.abc import Collection

from headwater.errors import OptionError, Place
from headwater.formats.kinds import CsvFormat, DebeziumJson, Format, Formats, JsonFormat, RawFormat
from headwater.formats.raw import SIZES
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape, shape_of
from headwater.schema import Column, Schema


def check_types(found: Formats, schema: Schema, *, metadata: Collection[str], place: Place | None) -> None:
    """Raise OptionError for a column that a format cannot hold."""
    in_key = [column for column in schema if column.name in found.key_fields]
    outside = {*metadata} if found.include_key else {*metadata, *found.key_fields}
    in_value = [column for column in schema if column.name not in outside]
    if found.key is not None:
        _check(found.key, in_key, what="key", place=place)
    _check(found.value, in_value, what="value", place=place)


def _check(form: Format, columns: list[Column], *, what: str, place: Place | None) -> None:
    if isinstance(form, RawFormat) and len(columns) != 1:
        raise OptionError(
            f"format 'raw' has one column, and {len(columns)} stand in the {what}",
            detail=f"They are {', '.join(column.name for column in columns) or 'none'}.",
            hint="Declare one column, or use another format.",
            place=place,
        )
    for column in columns:
        problem = _problem(form, shape_of(column.type))
        if problem is not None:
            raise OptionError(
                f"column '{column.name}' cannot stand in the {what} of a message: {problem}",
                detail=f"Its type is {column.type}.",
                hint="Declare it as STRING, or use another format.",
                place=place,
            )


def _problem(form: Format, shape: Shape) -> str | None:
    match form:
        case JsonFormat() | DebeziumJson():
            return _problem_in_json(shape)
        case CsvFormat():
            return _problem_in_csv(shape)
        case RawFormat():
            is_held = isinstance(shape, Atom) and shape.name in {*SIZES, "string", "binary"}
            return None if is_held else "format 'raw' holds text, bytes, numbers and truth values"


def _problem_in_json(shape: Shape) -> str | None:
    match shape:
        case Atom():
            return None
        case ArrayOf(inner):
            return _problem_in_json(inner)
        case MapOf(key, value):
            is_text = key == Atom("string")
            return _problem_in_json(value) if is_text else "in JSON the keys of a map are texts"
        case RowOf(fields):
            found = [_problem_in_json(inner) for _, inner in fields]
            return next((problem for problem in found if problem is not None), None)


def _problem_in_csv(shape: Shape) -> str | None:
    """Between two delimiters there is room for one list of plain values."""
    match shape:
        case Atom():
            return None
        case MapOf():
            return "format 'csv' has no maps"
        case ArrayOf(inner):
            parts: tuple[Shape, ...] = (inner,)
        case RowOf(fields):
            parts = tuple(inner for _, inner in fields)
    return None if all(isinstance(inner, Atom) for inner in parts) else "format 'csv' has no lists in lists"
