"""Arrays and maps: counted from one, NULL for what is not there, NULLs found like any other value."""

from __future__ import annotations

from sqlglot import exp

from headwater.sql.functions.json_path import Element, Field, spark_path
from headwater.sql.functions.trees import (
    WrongCall,
    call,
    case,
    counted,
    enclosed,
    lambda_,
    literal_int,
    literal_text,
    number,
    text,
    variable,
)


def _equals(needle: exp.Expr) -> exp.Expr:
    return exp.NullSafeEQ(this=variable("x_"), expression=enclosed(needle))


def array_contains(arguments: list[exp.Expr]) -> exp.Expr:
    """ARRAY_CONTAINS: NULL is looked for like any other value."""
    array, needle = counted("ARRAY_CONTAINS", arguments, 2, 2)
    assert array is not None and needle is not None
    return call("exists", array, lambda_(_equals(needle), "x_"))


def array_remove(arguments: list[exp.Expr]) -> exp.Expr:
    """ARRAY_REMOVE: NULL is removed like any other value."""
    array, needle = counted("ARRAY_REMOVE", arguments, 2, 2)
    assert array is not None and needle is not None
    return call("filter", array, lambda_(exp.Not(this=exp.paren(_equals(needle))), "x_"))


def array_slice(arguments: list[exp.Expr]) -> exp.Expr:
    """ARRAY_SLICE: from one place to another, both inside; places below zero count from the end."""
    array, start, end = counted("ARRAY_SLICE", arguments, 2, 3)
    assert array is not None and start is not None
    size = call("size", array)
    first = call("greatest", _place(start, size), number(1))
    last = size if end is None else call("least", _end(end, size), size)
    length = exp.Add(this=exp.Sub(this=last, expression=enclosed(first)), expression=number(1))
    return call("slice", array, first, call("greatest", length, number(0)))


def _place(place: exp.Expr, size: exp.Expr) -> exp.Expr:
    from_end = exp.Add(this=exp.Add(this=size.copy(), expression=enclosed(place)), expression=number(1))
    known = literal_int(place)
    if known is not None:
        return number(known) if known >= 0 else from_end
    return case((exp.LT(this=enclosed(place), expression=number(0)), from_end), otherwise=place)


def _end(place: exp.Expr, size: exp.Expr) -> exp.Expr:
    """Zero as the last place means the first."""
    if literal_int(place) is not None:
        return number(1) if literal_int(place) == 0 else _place(place, size)
    is_zero = exp.EQ(this=enclosed(place), expression=number(0))
    return case((is_zero, number(1)), otherwise=_place(place, size))


def array_sort(arguments: list[exp.Expr]) -> exp.Expr:
    """ARRAY_SORT: upwards with NULLs first, downwards with NULLs last, or as the third argument says.

    Spark's own form, which compares by a lambda, is left as it is.
    """
    array, ascending, nulls_first = counted("ARRAY_SORT", arguments, 1, 3)
    assert array is not None
    if isinstance(ascending, exp.Lambda) and nulls_first is None:
        return call("array_sort", *arguments)
    flags = [ascending or exp.true(), nulls_first or ascending or exp.true()]
    if not all(isinstance(flag, exp.Boolean) for flag in flags):
        raise WrongCall(
            "an order of ARRAY_SORT is neither TRUE nor FALSE", "Write ARRAY_SORT(a, TRUE, FALSE)."
        )
    is_up, has_nulls_first = (bool(flag.this) for flag in flags)
    if is_up == has_nulls_first:
        return call("sort_array", array, exp.true() if is_up else exp.false())
    nulls_last = call("array_sort", array)
    return nulls_last if is_up else call("reverse", nulls_last)


def element(arguments: list[exp.Expr]) -> exp.Expr:
    """ELEMENT: the only element of an array; more than one is an error."""
    (array,) = counted("ELEMENT", arguments, 1, 1)
    assert array is not None
    has_many = exp.GT(this=call("size", array), expression=number(1))
    error = call("raise_error", text("ELEMENT has an array of more than one element"))
    return case((has_many, error), otherwise=call("get", array, number(0)))


def bracket(node: exp.Bracket) -> exp.Expr:
    """`array[1]`, `map['key']` and `MAP['key', 1]`."""
    owner = node.this
    is_map = (
        isinstance(owner, exp.Column) and owner.name.upper() == "MAP" and not owner.this.args.get("quoted")
    )
    if is_map and not owner.table and len(node.expressions) % 2 == 0:
        return call("map", *node.expressions)
    if len(node.expressions) != 1:
        raise WrongCall("there is more than one index in the brackets", "Write array[1] or map['key'].", node)
    (index,) = node.expressions
    if isinstance(owner, exp.Anonymous) and owner.name.upper() in ("PARSE_JSON", "TRY_PARSE_JSON"):
        return call("variant_get", owner, text(_path_to(index)), text("variant"))
    return call("try_element_at", owner, index)


def _path_to(index: exp.Expr) -> str:
    """An element, counted from one, or a field of a VARIANT."""
    place, name = literal_int(index), literal_text(index)
    if place is not None and place > 0:
        return spark_path((Element(place - 1),))
    if name is None or ("'" in name and '"' in name):
        raise WrongCall(
            "the index of a VARIANT is neither a number from 1 nor a string", "Write v[1] or v['a']."
        )
    return spark_path((Field(name),))
