"""Reading JSON: JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_LENGTH, JSON_TYPE and IS JSON.

A document is parsed once into Spark's VARIANT; what a path finds is a VARIANT, or an array of them if the path may
lead to many. What is not there is NULL, a JSON null is a VARIANT that prints as `null`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from sqlglot import exp

from headwater.sql.functions.json_path import All, Element, JsonPath, Step, parse_path, spark_path
from headwater.sql.functions.trees import (
    TEXT,
    WrongCall,
    call,
    case,
    cast,
    counted,
    is_not_null,
    is_null,
    lambda_,
    literal_text,
    number,
    text,
    try_cast,
    variable,
)

ERROR: Literal["ERROR"] = "ERROR"
_MANY = "ARRAY<VARIANT>"
_OBJECT = "MAP<STRING, VARIANT>"


@dataclass(frozen=True)
class Otherwise:
    """What comes out instead of a value: an expression, an error, or NULL (None)."""

    on_empty: exp.Expr | Literal["ERROR"] | None = None
    on_error: exp.Expr | Literal["ERROR"] | None = None


@dataclass(frozen=True)
class Query:
    """The clauses of a JSON_QUERY behind its path."""

    otherwise: Otherwise = Otherwise()
    wrapper: Literal["without", "conditional", "unconditional"] = "without"
    returns_array: bool = False


def path_of(name: str, written: exp.Expr | None) -> JsonPath:
    """The path of a call, which is always a literal: it decides what the result looks like."""
    found = literal_text(written)
    if found is None:
        raise WrongCall(f"the path of {name} is not a string literal", "Write it in quotes: '$.field'.")
    return parse_path(found)


def document(json: exp.Expr) -> exp.Expr:
    """The parsed text, NULL if it is no JSON."""
    return call("try_parse_json", json)


def one(start: exp.Expr, steps: tuple[Step, ...]) -> exp.Expr:
    """What a path without wildcards finds."""
    value = start
    for is_from_end, group in groupby(steps, key=lambda step: isinstance(step, Element) and step.index < 0):
        run = tuple(group)
        if not is_from_end:
            value = call("variant_get", value, text(spark_path(run)), text("variant"))
            continue
        for step in run:
            assert isinstance(step, Element)
            value = call("try_element_at", try_cast(value, _MANY), number(step.index))
    return value


def many(json: exp.Expr, path: JsonPath) -> exp.Expr:
    """The array of all that a path with wildcards finds, NULL if the way to the first wildcard is not there."""
    first = next(i for i, step in enumerate(path.steps) if isinstance(step, All))
    start = one(document(json), path.steps[:first])
    values = _children(start)
    for is_all, group in groupby(path.steps[first + 1 :], key=lambda step: isinstance(step, All)):
        x = variable("x_")
        if is_all:
            for _ in group:
                values = call("flatten", call("transform", values, lambda_(_children(x), "x_")))
        else:
            reached = call("transform", values, lambda_(one(x, tuple(group)), "x_"))
            values = call("filter", reached, lambda_(is_not_null(x), "x_"))
    needed = start if path.mode == "strict" else document(json)
    return case((is_not_null(needed), values))


def _children(value: exp.Expr) -> exp.Expr:
    fields = call("map_values", try_cast(value, _OBJECT))
    return exp.Coalesce(
        this=try_cast(value, _MANY), expressions=[fields, cast(call("array"), _MANY)], is_nvl=False
    )


def _begins(value: exp.Expr, *signs: str) -> exp.Expr:
    """True if the JSON text of a VARIANT begins so: it tells objects, arrays, strings and the rest apart."""
    return exp.In(this=_first(value), expressions=[text(sign) for sign in signs])


def _first(value: exp.Expr) -> exp.Expr:
    return call("left", call("to_json", value), number(1))


def json_value(
    json: exp.Expr, path: JsonPath, returning: exp.DataType | None, otherwise: Otherwise
) -> exp.Expr:
    """The scalar at a path, as text or as the type asked for."""
    is_text = returning is None or returning.this in exp.DataType.TEXT_TYPES
    scalar: exp.Expr = cast(exp.Null(), TEXT)
    if path.is_definite:
        scalar = _as_text(json, path)
        if is_text:
            scalar = case((exp.not_(_begins(one(document(json), path.steps), "{", "[")), scalar))
    result = scalar if is_text or returning is None else try_cast(scalar, returning.this)
    if not is_text and returning is not None and returning.expressions:
        result.set("to", returning.copy())
    on_empty = _instead("JSON_VALUE", path, otherwise.on_empty, None if is_text else returning)
    on_error = _instead("JSON_VALUE", path, otherwise.on_error, None if is_text else returning)
    if path.mode == "strict" or (on_empty is None and on_error is None):
        return _or(result, json, on_error)
    if is_text:
        return _or(result, json, on_empty)
    return _or(
        result, json, case((is_null(scalar), on_empty or exp.Null()), otherwise=on_error or exp.Null())
    )


def _as_text(json: exp.Expr, path: JsonPath) -> exp.Expr:
    if path.steps and not any(isinstance(step, Element) and step.index < 0 for step in path.steps):
        return call("variant_get", document(json), text(spark_path(path.steps)), text("string"))
    return cast(one(document(json), path.steps), TEXT)


def _or(result: exp.Expr, json: exp.Expr, instead: exp.Expr | None) -> exp.Expr:
    """A result, or what was asked for instead of it; nothing comes of a document that is NULL."""
    if instead is None:
        return result
    return case((is_not_null(result), result), (is_not_null(json), instead))


def _instead(
    name: str, path: JsonPath, wanted: exp.Expr | Literal["ERROR"] | None, kind: exp.DataType | None
) -> exp.Expr | None:
    if wanted is None or isinstance(wanted, exp.Null):
        return None
    if wanted == ERROR:
        return call("raise_error", text(f"{name} finds nothing that fits at {path.text}"))
    assert isinstance(wanted, exp.Expr)
    if kind is not None:
        return exp.Cast(this=wanted.copy(), to=kind.copy())
    match wanted:
        case exp.Boolean():
            return text(str(wanted.this).lower())
        case exp.Literal():
            return text(wanted.this)
    return cast(wanted, TEXT)


def json_query(json: exp.Expr, path: JsonPath, clauses: Query) -> exp.Expr:
    """The object or array at a path, as JSON text or as an array of texts."""
    if clauses.returns_array:
        result = _array_of_texts(json, path, clauses)
    else:
        found = one(document(json), path.steps) if path.is_definite else many(json, path)
        result = _wrapped(call("to_json", found), found, path, clauses)
    wanted = clauses.otherwise.on_error if path.mode == "strict" else clauses.otherwise.on_empty
    if wanted is None or wanted == ERROR:
        return _or(result, json, _instead("JSON_QUERY", path, wanted, None))
    assert isinstance(wanted, exp.Expr)
    return _or(result, json, wanted.copy())


def _wrapped(written: exp.Expr, found: exp.Expr, path: JsonPath, clauses: Query) -> exp.Expr:
    in_brackets = call("concat", text("["), written, text("]"))
    is_there = exp.NEQ(this=written.copy(), expression=text("null"))
    match clauses.wrapper:
        case "without":
            return case((_begins(found, "{", "["), written)) if path.is_definite else written
        case "conditional":
            return case((_begins(found, "["), written), (is_there, in_brackets))
    return case((is_there, in_brackets))


def _array_of_texts(json: exp.Expr, path: JsonPath, clauses: Query) -> exp.Expr:
    if not path.is_definite:
        each = lambda_(cast(variable("x_"), TEXT), "x_")
        texts: exp.Expr = call("transform", many(json, path), each)
        whole: exp.Expr = call("to_json", many(json, path))
    else:
        found = one(document(json), path.steps)
        texts, whole = try_cast(found, "ARRAY<STRING>"), cast(found, TEXT)
    in_array = case((is_not_null(whole), call("array", whole)))
    match clauses.wrapper:
        case "without":
            return texts
        case "conditional":
            return exp.Coalesce(this=texts, expressions=[in_array], is_nvl=False)
    return in_array


def json_exists(json: exp.Expr, path: JsonPath, on_error: exp.Expr | Literal["ERROR"]) -> exp.Expr:
    """Whether a path finds anything but null."""
    if path.is_definite:
        found: exp.Expr = is_not_null(_as_text(json, path))
    else:
        found = is_not_null(many(json, path))
    if path.mode == "lax" or (isinstance(on_error, exp.Boolean) and not on_error.this):
        return case((is_not_null(json), found))
    return case(
        (found, exp.true()),
        (is_not_null(json), _instead("JSON_EXISTS", path, on_error, _BOOLEAN) or exp.Null()),
    )


_BOOLEAN = exp.DataType.build("boolean")


def _value_of(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    json, written = counted(name, arguments, 1, 2)
    assert json is not None
    if written is None:
        return document(json)
    path = path_of(name, written)
    if (literal_text(written) or "").lstrip().lower().startswith(("lax ", "strict ")):
        raise WrongCall(f"{name} takes a path without lax and strict", "Write only '$.field'.")
    if path.is_definite:
        return one(document(json), path.steps)
    found = many(json, path)
    return case((exp.EQ(this=call("size", found), expression=number(1)), call("get", found, number(0))))


def json_length(arguments: list[exp.Expr]) -> exp.Expr:
    """How many elements or fields a value has; a scalar has one."""
    value = _value_of("JSON_LENGTH", arguments)
    sizes = [call("size", try_cast(value, kind)) for kind in (_MANY, _OBJECT)]
    return exp.Coalesce(
        this=sizes[0], expressions=[sizes[1], case((is_not_null(value), number(1)))], is_nvl=False
    )


def json_type(arguments: list[exp.Expr]) -> exp.Expr:
    """What kind of value it is: object, array, string, number, boolean or null."""
    value = _value_of("JSON_TYPE", arguments)
    kinds = (("object", "{"), ("array", "["), ("string", '"'), ("boolean", "tf"), ("null", "n"))
    branches = [(_begins(value, *signs), text(kind)) for kind, signs in kinds]
    return case(*branches, (is_not_null(value), text("number")))


def is_json(json: exp.Expr, kind: str) -> exp.Expr:
    """`x IS JSON [VALUE | SCALAR | ARRAY | OBJECT]`, NULL for NULL."""
    parsed = document(json)
    is_one: exp.Expr = is_not_null(parsed)
    match kind:
        case "OBJECT":
            is_one = _is_true(_begins(parsed, "{"))
        case "ARRAY":
            is_one = _is_true(_begins(parsed, "["))
        case "SCALAR":
            is_one = _is_true(exp.not_(_begins(parsed, "{", "[")))
    return case((is_not_null(json), is_one))


def _is_true(condition: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=condition, expressions=[exp.false()], is_nvl=False)
