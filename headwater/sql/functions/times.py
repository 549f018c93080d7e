"""Dates and timestamps: what cannot be read is NULL, units are Flink's."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.sql.functions.trees import (
    LTZ,
    NTZ,
    WrongCall,
    call,
    case,
    cast,
    counted,
    enclosed,
    is_not_null,
    literal_int,
    literal_text,
    number,
    text,
    try_cast,
)

STANDARD = "yyyy-MM-dd HH:mm:ss"
_NOT_READ = cast(text("-9223372036854775808"), "bigint")
_ZONES = re.compile(r"[VzOXxZ]")


def to_timestamp(arguments: list[exp.Expr]) -> exp.Expr:
    """TO_TIMESTAMP: a timestamp without a zone, NULL for a text that is none."""
    value, pattern = counted("TO_TIMESTAMP", arguments, 1, 2)
    assert value is not None
    return try_cast(value, NTZ) if pattern is None else cast(call("try_to_timestamp", value, pattern), NTZ)


def to_date(arguments: list[exp.Expr]) -> exp.Expr:
    """TO_DATE: NULL for a text that is no date."""
    value, pattern = counted("TO_DATE", arguments, 1, 2)
    assert value is not None
    if pattern is None:
        return try_cast(value, exp.DataType.Type.DATE)
    return call("try_to_date", value, pattern)


def to_timestamp_ltz(arguments: list[exp.Expr]) -> exp.Expr:
    """TO_TIMESTAMP_LTZ of a number of seconds, milliseconds and so on, or of a text."""
    value, second, zone = counted("TO_TIMESTAMP_LTZ", arguments, 1, 3)
    assert value is not None
    if second is None:
        # A number cannot be a timestamp's text, so one of the two is NULL.
        read = call("timestamp_millis", try_cast(value, "bigint"))
        return exp.Coalesce(this=read, expressions=[try_cast(value, LTZ)], is_nvl=False)
    precision = literal_int(second)
    if precision is not None and zone is None:
        return _of_number(value, precision)
    if literal_text(second) is None:
        raise WrongCall(
            "the second argument of TO_TIMESTAMP_LTZ is neither a precision nor a format",
            "Write TO_TIMESTAMP_LTZ(milliseconds, 3) or TO_TIMESTAMP_LTZ(text, 'yyyy-MM-dd HH:mm:ss').",
        )
    read = call("try_to_timestamp", value, second)
    return cast(read, LTZ) if zone is None else call("to_utc_timestamp", read, zone)


def _of_number(value: exp.Expr, precision: int) -> exp.Expr:
    if not 0 <= precision <= 9:
        raise WrongCall("a precision is a number from 0 to 9", "Write 0 for seconds, 3 for milliseconds.")
    whole = cast(value, "bigint")
    if precision in (0, 3, 6):
        return call({0: "timestamp_seconds", 3: "timestamp_millis", 6: "timestamp_micros"}[precision], whole)
    if precision > 6:
        micros: exp.Expr = exp.IntDiv(this=whole, expression=number(10 ** (precision - 6)))
    else:
        micros = exp.Mul(this=whole, expression=number(10 ** (6 - precision)))
    return call("timestamp_micros", micros)


def unix_timestamp(arguments: list[exp.Expr]) -> exp.Expr:
    """UNIX_TIMESTAMP of a text: seconds, the smallest number for a text that is no timestamp."""
    if not arguments:
        return exp.Anonymous(this="UNIX_TIMESTAMP", expressions=[])
    value, pattern = counted("UNIX_TIMESTAMP", arguments, 1, 2)
    assert value is not None
    if pattern is not None and _ZONES.search(re.sub(r"'[^']*'", "", literal_text(pattern) or "")):
        read: exp.Expr = call("to_timestamp_ltz", value, pattern)
    else:
        read = cast(call("try_to_timestamp", value, pattern or text(STANDARD)), LTZ)
    seconds = call("unix_seconds", read)
    return exp.Coalesce(
        this=seconds, expressions=[case((is_not_null(value), _NOT_READ.copy()))], is_nvl=False
    )


def from_unixtime(arguments: list[exp.Expr]) -> exp.Expr:
    """FROM_UNIXTIME: the text of a number of seconds."""
    value, pattern = counted("FROM_UNIXTIME", arguments, 1, 2)
    assert value is not None
    return call("from_unixtime", value, pattern or text(STANDARD))


def date_format(arguments: list[exp.Expr]) -> exp.Expr:
    """DATE_FORMAT with Java's patterns."""
    value, pattern = counted("DATE_FORMAT", arguments, 2, 2)
    assert value is not None and pattern is not None
    return call("date_format", value, pattern)


def convert_tz(arguments: list[exp.Expr]) -> exp.Expr:
    """CONVERT_TZ: a timestamp's text, moved from one zone to another."""
    value, from_zone, to_zone = counted("CONVERT_TZ", arguments, 3, 3)
    assert value is not None and from_zone is not None and to_zone is not None
    read = cast(call("try_to_timestamp", value, text(STANDARD)), NTZ)
    return call("date_format", call("convert_timezone", from_zone, to_zone, read), text(STANDARD))


def week(arguments: list[exp.Expr]) -> exp.Expr:
    """WEEK: the number of the ISO week."""
    (value,) = counted("WEEK", arguments, 1, 1)
    assert value is not None
    return call("weekofyear", value)


_PARTS = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "WEEK": "weekofyear",
    "DAY": "dayofmonth",
    "DOY": "dayofyear",
    "DOW": "dayofweek",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
}
_FRACTIONS = {"MILLISECOND": "SSS", "MICROSECOND": "SSSSSS", "NANOSECOND": "SSSSSSSSS"}
_YEARS = {"DECADE": (0, 10), "CENTURY": (99, 100), "MILLENNIUM": (999, 1000)}


def extract(node: exp.Extract) -> exp.Expr:
    """EXTRACT(unit FROM x): a whole number, seconds without their fraction."""
    unit, value = node.this.name.upper(), node.expression
    if unit in _PARTS:
        return call(_PARTS[unit], value)
    if unit in _FRACTIONS:
        return cast(call("date_format", value, text(_FRACTIONS[unit])), "bigint")
    if unit in _YEARS:
        added, length = _YEARS[unit]
        years = call("year", value)
        moved = exp.paren(exp.Add(this=years, expression=number(added))) if added else years
        return exp.IntDiv(this=moved, expression=number(length))
    match unit:
        case "EPOCH":
            return call("unix_seconds", cast(value, LTZ))
        case "ISODOW":
            return exp.paren(exp.Add(this=call("weekday", value), expression=number(1)))
        case "ISOYEAR":
            return exp.Extract(this=exp.var("YEAROFWEEK"), expression=value.copy())
    raise WrongCall(
        f"{unit} cannot be extracted",
        f"The units are {', '.join((*_PARTS, *_FRACTIONS, *_YEARS, 'EPOCH', 'ISODOW', 'ISOYEAR'))}.",
        node,
    )


def overlaps(node: exp.Overlaps) -> exp.Expr:
    """`(a, b) OVERLAPS (c, d)`; the second of a pair is a point in time or an interval."""
    sides = [side.expressions if isinstance(side, exp.Tuple) else [] for side in (node.this, node.expression)]
    if any(len(side) != 2 for side in sides):
        raise WrongCall("OVERLAPS compares two pairs", "Write (start1, end1) OVERLAPS (start2, end2).", node)
    (first, last), (other_first, other_last) = (_ends(*side) for side in sides)
    return exp.paren(
        exp.and_(
            exp.GTE(this=last, expression=other_first.copy()),
            exp.GTE(this=other_last, expression=first.copy()),
        )
    )


def _ends(start: exp.Expr, end: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    until: exp.Expr = end
    if isinstance(end, exp.Interval):
        until = exp.Add(this=enclosed(start), expression=end.copy())
    return call("least", start, until), call("greatest", start, until)


def timestamp_add(arguments: list[exp.Expr]) -> exp.Expr:
    """TIMESTAMPADD(unit, number, x)."""
    unit, amount, value = counted("TIMESTAMPADD", arguments, 3, 3)
    assert unit is not None and amount is not None and value is not None
    return call("timestampadd", exp.var(unit.name.upper()), amount, value)
