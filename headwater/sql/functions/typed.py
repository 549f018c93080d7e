"""Rewrites that need to know what kind of value they have: done when a query's columns are known."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.sql.functions.kinds import Kind, Types, columns_of, kind_of
from headwater.sql.functions.trees import LTZ, NTZ, WrongCall, call, case, cast, enclosed, number, text
from headwater.sql.functions.trees import try_cast as tried

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
_OF_DAYS = UNITS[:5]


def with_kinds(query: exp.Query, types: Types) -> exp.Query:
    """The query with the calls that mean something else for another kind of value, changed in place."""
    columns = columns_of(query, types)
    found = []
    for node in query.walk():
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
            raise WrongCall("the fields of a row are not written out yet", "Name them: row.a, row.b.", node)
        rewrite = _rewrite_of(node)
        if rewrite is not None:
            found.append((node, rewrite, kind_of(_argument(node), columns)))
    # From the inside out: what a call holds is changed before the call is.
    for node, rewrite, kind in reversed(found):
        made = rewrite(node, kind)
        if made is not node:
            node.replace(made)
    return query


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
    """A boolean as text is TRUE or FALSE."""
    return call("upper", node) if kind is Kind.BOOLEAN else node


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
