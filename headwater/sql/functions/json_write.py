"""Writing JSON: JSON_OBJECT, JSON_ARRAY, JSON_STRING, their aggregates, JSON_QUOTE and JSON_UNQUOTE.

What these functions write is marked, so that one inside another is put in as it is and not as a string.
"""

from __future__ import annotations

import json

from sqlglot import exp

from headwater.sql.functions.trees import (
    TEXT,
    WrongCall,
    call,
    case,
    cast,
    counted,
    literal_text,
    number,
    text,
)

_MARK = "is_json"
_KEEP_NULLS = ("ignoreNullFields", "false")

Pair = tuple[exp.Expr, exp.Expr]


def marked(tree: exp.Expr) -> exp.Expr:
    """A tree that gives JSON text, for the function around it to know."""
    tree.meta[_MARK] = True
    return tree


def json_text(value: exp.Expr) -> exp.Expr:
    """A value as JSON text; a NULL is the text `null`, or NULL for a literal and for JSON that was written here."""
    whole = value.unnest()
    match whole:
        case exp.Anonymous() if whole.name.upper() == "JSON":
            (raw,) = counted("JSON", whole.expressions, 1, 1)
            assert raw is not None
            return call("to_json", call("parse_json", call("nullif", call("trim", raw), text(""))))
        case exp.Null():
            return cast(exp.Null(), TEXT)
        case exp.Boolean():
            return text("true" if whole.this else "false")
        case exp.Literal():
            return text(json.dumps(whole.this, ensure_ascii=False) if whole.is_string else whole.this)
    if whole.meta.get(_MARK):
        return whole.copy()
    # In an array any value can be written; its brackets are taken off again.
    return call("regexp_extract", _written(call("array", value)), text("(?s)^.(.*).$"), number(1))


def _written(value: exp.Expr) -> exp.Expr:
    return call("to_json", value, call("map", *map(text, _KEEP_NULLS)))


def _is_plain(value: exp.Expr) -> bool:
    whole = value.unnest()
    is_raw = isinstance(whole, exp.Anonymous) and whole.name.upper() == "JSON"
    return not is_raw and not whole.meta.get(_MARK)


def _or_null(value: exp.Expr) -> exp.Expr:
    """JSON text in which NULL is written out."""
    written = json_text(value)
    if isinstance(written, exp.Literal) or (_is_plain(value) and not isinstance(value, exp.Null)):
        return written
    return exp.Coalesce(this=written, expressions=[text("null")], is_nvl=False)


def _or_nothing(value: exp.Expr) -> exp.Expr:
    """JSON text, NULL for NULL."""
    written = json_text(value)
    is_certain = isinstance(written, exp.Literal) or not _is_plain(value)
    return written if is_certain else call("nullif", written, text("null"))


def json_object(pairs: list[Pair], *, absent: bool) -> exp.Expr:
    """JSON_OBJECT; its fields are in the order of their names, as in Flink, and the last of a name counts."""
    by_name = {_key(key): value for key, value in pairs}
    fields = sorted(by_name.items())
    if not fields:
        return marked(text("{}"))
    if not absent and all(_is_plain(value) for _, value in fields):
        members = [part for name, value in fields for part in (text(name), value)]
        return marked(_written(call("named_struct", *members)))
    inner = [_after_name(name, _or_nothing(value) if absent else _or_null(value)) for name, value in fields]
    return _enclosed("{", inner, "}")


def _key(key: exp.Expr) -> str:
    name = literal_text(key)
    if name is None:
        raise WrongCall(
            "a key of JSON_OBJECT is not a string literal", "Write it in quotes: 'name' VALUE x.", key
        )
    return name


def _after_name(name: str, value: exp.Expr) -> exp.Expr:
    return call("concat", text(json.dumps(name, ensure_ascii=False) + ":"), value)


def _enclosed(opening: str, parts: list[exp.Expr], closing: str) -> exp.Expr:
    return marked(call("concat", text(opening), call("concat_ws", text(","), *parts), text(closing)))


def json_array(values: list[exp.Expr], *, absent: bool) -> exp.Expr:
    """JSON_ARRAY of values of any types."""
    if not values:
        return marked(text("[]"))
    return _enclosed("[", [_or_nothing(value) if absent else _or_null(value) for value in values], "]")


def json_object_agg(key: exp.Expr, value: exp.Expr, *, absent: bool) -> exp.Expr:
    """JSON_OBJECTAGG; the fields are in the order of their names."""
    written = _or_nothing(value) if absent else _or_null(value)
    error = call("raise_error", text("JSON_OBJECTAGG has a key that is NULL"))
    name = exp.Coalesce(this=cast(key, TEXT), expressions=[error], is_nvl=False)
    return _gathered("{", call("concat", json_text(name), text(":"), written), "}")


def json_array_agg(value: exp.Expr, *, absent: bool) -> exp.Expr:
    """JSON_ARRAYAGG; a group has no order of its own, so the elements are in the order of their texts."""
    return _gathered("[", _or_nothing(value) if absent else _or_null(value), "]")


def _gathered(opening: str, each: exp.Expr, closing: str) -> exp.Expr:
    listed = call("array_join", call("sort_array", exp.ArrayAgg(this=each)), text(","))
    return marked(call("concat", text(opening), listed, text(closing)))


def json_string(arguments: list[exp.Expr]) -> exp.Expr:
    """JSON_STRING: any value as JSON text, NULL for NULL."""
    (value,) = counted("JSON_STRING", arguments, 1, 1)
    assert value is not None
    return _or_nothing(value)


def json_quote(arguments: list[exp.Expr]) -> exp.Expr:
    """JSON_QUOTE: a text as a JSON string."""
    (value,) = counted("JSON_QUOTE", arguments, 1, 1)
    assert value is not None
    return _or_nothing(value)


def json_unquote(arguments: list[exp.Expr]) -> exp.Expr:
    """JSON_UNQUOTE: the text of a JSON string; anything else stays as it is."""
    (value,) = counted("JSON_UNQUOTE", arguments, 1, 1)
    assert value is not None
    is_quoted = call("regexp_like", value, text('(?s)^".*"$'))
    unquoted = case((is_quoted, cast(call("try_parse_json", value), TEXT)))
    return exp.Coalesce(this=unquoted, expressions=[value.copy()], is_nvl=False)
