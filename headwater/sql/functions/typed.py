"""Rewrites that need to know what kind of value they have: done when a query's columns are known."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.sql.functions.kinds import Columns, Kind, Types, columns_of, kind_of, may_hold_bytes, parts_of
from headwater.sql.functions.trees import LTZ, NTZ, TEXT, WrongCall, call, case, cast, enclosed, number, text
from headwater.sql.functions.trees import try_cast as tried

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
_OF_DAYS = UNITS[:5]
_ABOUT_UTF8 = ("IS_VALID_UTF8", "MAKE_VALID_UTF8")
_OF_TEXTS = (exp.ConcatWs, exp.Trim, exp.Replace, exp.Repeat, exp.Reverse)
"""Spark takes bytes here too, reads them as text and does not look whether they are."""


def with_kinds(query: exp.Query, types: Types) -> exp.Query:
    """The query with the calls that mean something else for another kind of value, changed in place."""
    columns = columns_of(query, types)
    found = []
    for value in [value for node in query.walk() for value in _bytes_as_text(node, columns)]:
        _say_as_text(value)
    for node in query.walk():
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
            raise WrongCall("the fields of a row are not written out yet", "Name them: row.a, row.b.", node)
        rewrite = _rewrite_of(node)
        if rewrite is not None:
            found.append((node, rewrite, _kind(node, columns)))
    # From the inside out: what a call holds is changed before the call is.
    for node, rewrite, kind in reversed(found):
        made = rewrite(node, kind)
        if made is not node:
            node.replace(made)
    return query


def _kind(node: exp.Expr, columns: Columns) -> Kind:
    argument = _argument(node)
    kind = kind_of(argument, columns)
    if kind is Kind.OTHER and isinstance(node, exp.Cast) and may_hold_bytes(argument, columns):
        return Kind.BYTES
    return kind


def _bytes_as_text(node: exp.Expr, columns: Columns) -> list[exp.Expr]:
    """The bytes that Spark would take for text where the node has them."""
    match node:
        case exp.DPipe() | exp.Concat() if kind_of(node, columns) is Kind.TEXT:
            values = parts_of(node)
        case _ if isinstance(node, _OF_TEXTS):
            values = [value for value in (node.this, *node.expressions) if value is not None]
        case _:
            return []
    return [value for value in values if kind_of(value, columns) is Kind.BYTES]


def _say_as_text(value: exp.Expr) -> None:
    """Cast a value to text where it stands; the tree keeps the very node, which others may have noted."""
    made = cast(exp.null(), TEXT)
    value.replace(made)
    made.set("this", value)


def _argument(node: exp.Expr) -> exp.Expr:
    is_call = isinstance(node, exp.Anonymous)
    found = node.expressions[2 if node.name.upper() == "TIMESTAMPADD" else 0] if is_call else node.this
    assert isinstance(found, exp.Expr)
    return found


def _rewrite_of(node: exp.Expr) -> Callable[[exp.Expr, Kind], exp.Expr] | None:
    match node:
        case exp.Cast() if node.to.this in exp.DataType.TEXT_TYPES:
            return _to_text
        case exp.Floor() | exp.Ceil() if node.args.get("to"):
            return _rounded
        case exp.Anonymous() if node.name.upper() == "DATE_FORMAT":
            return _formatted
        case exp.Anonymous() if node.name.upper() == "TIMESTAMPADD":
            return _added
    return None


def _to_text(node: exp.Expr, kind: Kind) -> exp.Expr:
    """A boolean as text is TRUE or FALSE; of bytes what is not UTF-8 becomes the replacement character, as in Java."""
    about_utf8 = isinstance(node.parent, exp.Anonymous) and node.parent.name.upper() in _ABOUT_UTF8
    match kind:
        case Kind.BOOLEAN:
            return call("upper", node)
        case Kind.BYTES if not about_utf8:
            return call("make_valid_utf8", node)
    return node


def _formatted(node: exp.Expr, kind: Kind) -> exp.Expr:
    """A text that is no timestamp has no format: NULL."""
    value, pattern = node.expressions
    return call("date_format", tried(value, NTZ), pattern) if kind is Kind.TEXT else node


def _added(node: exp.Expr, kind: Kind) -> exp.Expr:
    """TIMESTAMPADD to a date gives a date, unless hours are added."""
    if kind is not Kind.DATE:
        return node
    return cast(node, exp.DataType.Type.DATE if node.expressions[0].name.upper() in _OF_DAYS else NTZ)


def _rounded(node: exp.Expr, kind: Kind) -> exp.Expr:
    """FLOOR and CEIL of a point in time: weeks begin on Sunday, a date stays a date."""
    unit = node.args["to"].name.upper()
    if unit not in UNITS:
        raise WrongCall(f"time cannot be rounded to {unit}", f"The units are {', '.join(UNITS)}.", node)
    value: exp.Expr = tried(node.this, NTZ) if kind is Kind.TEXT else node.this
    down = _truncated(value, unit)
    result = {Kind.DATE: exp.DataType.Type.DATE, Kind.LTZ: LTZ}.get(kind, NTZ)
    floor = down if result is LTZ else cast(down, result)
    if isinstance(node, exp.Floor):
        return floor
    up = call("timestampadd", exp.var(unit), number(1), floor)
    is_whole = exp.EQ(this=floor.copy(), expression=enclosed(value))
    return case((is_whole, floor), otherwise=cast(up, result) if kind is Kind.DATE else up)


def _truncated(value: exp.Expr, unit: str) -> exp.Expr:
    if unit != "WEEK":
        return call("date_trunc", text(unit), value)
    day = exp.var("DAY")
    monday = call("date_trunc", text(unit), call("timestampadd", day, number(1), value))
    return call("timestampadd", day, number(-1), monday)
