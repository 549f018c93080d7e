"""Values as MySQL writes them where that is not how Postgres does: typed column by column.

A family says how a value is written. Times carry the zone of the server, which tells a local time from a moment:

    typed(pa.array(["2020-07-01 12:00:00"]), "timestamp_ntz", "moment Europe/Berlin")     # 14:00 at the server

Dates that are none (`0000-00-00`, a day zero) are NULL, because no other system has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.geometry import geojson
from headwater.log.text_decimals import decimals
from headwater.schema import arrow_type

Convert = Callable[[pa.Array], pa.Array]

DIGITS, BITS, REAL, DATE, GEOMETRY = "digits", "bits", "real", "calendar", "geometry"
LOCAL, MOMENT = "local ", "moment "
"""A time without a zone, and a moment in UTC; behind them stands the zone of the server."""

BYTES = (BITS, GEOMETRY)
"""Families whose values are bytes and no text."""

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double")
_TIMES = ("timestamp", "timestamp_ntz")
_SECONDS = 19
"""So many letters has a time without its fraction."""


def is_mysql(family: str) -> bool:
    """True for the families of this module."""
    return family in (DIGITS, BITS, REAL, DATE, GEOMETRY) or family.startswith((LOCAL, MOMENT))


def readable(family: str, kind: str) -> bool:
    """True if values of a family can be read as a Spark type."""
    if kind == "string":
        return True
    is_number = kind in _NUMBERS or kind.startswith("decimal")
    match family:
        case "digits":
            return kind == "boolean" or is_number
        case "bits":
            return kind in ("boolean", "binary", "bigint", "decimal(20,0)")
        case "real":
            return is_number
        case "calendar":
            return kind == "date"
        case "geometry":
            return kind == "binary"
    return kind in _TIMES


def converter(kind: str, family: str) -> Convert:
    """What makes typed values of texts, or of bytes."""
    match family:
        case "digits":
            return _truths if kind == "boolean" else _plain(kind)
        case "bits":
            return lambda raw: _of_bits(raw, kind)
        case "real":
            return _shortest if kind == "string" else _reals(kind)
        case "calendar":
            return _plain(kind) if kind == "string" else lambda texts: _dates(texts).cast(arrow_type(kind))
        case "geometry":
            return _geometries if kind == "string" else lambda raw: raw
    zone = family.partition(" ")[2]
    if family.startswith(MOMENT):
        return lambda texts: _moments(texts, kind, zone)
    return lambda texts: _locals(texts, kind, zone)


def _plain(kind: str) -> Convert:
    wanted = arrow_type(kind)
    return (
        partial(decimals, wanted=wanted) if pa.types.is_decimal(wanted) else lambda texts: texts.cast(wanted)
    )


def _truths(texts: pa.Array) -> pa.Array:
    return pc.not_equal(texts.cast(pa.int64()), 0)


def _of_bits(raw: pa.Array, kind: str) -> pa.Array:
    if kind == "binary":
        return raw
    numbers = [None if value is None else int.from_bytes(value, "big") for value in raw.to_pylist()]
    if kind == "boolean":
        return pa.array([None if number is None else number != 0 for number in numbers], pa.bool_())
    texts = pa.array([None if number is None else str(number) for number in numbers], pa.string())
    return _plain(kind)(texts)


def _reals(kind: str) -> Convert:
    wanted = arrow_type(kind)
    if kind.startswith("decimal"):
        return _plain(kind)
    return lambda texts: texts.cast(pa.float64()).cast(wanted)


def _shortest(texts: pa.Array) -> pa.Array:
    """One text for one number, whichever way it came."""
    return pa.array(
        [None if value is None else repr(value) for value in texts.cast(pa.float64()).to_pylist()]
    )


def _dates(texts: pa.Array) -> pa.Array:
    """Texts without those that are no dates: a month or a day of zero."""
    if not pc.any(pc.match_substring(texts, "-00")).as_py():
        return texts
    is_none = pc.match_substring_regex(texts, r"^\d{4}-(00-\d\d|\d\d-00)")
    return pc.if_else(is_none, pa.scalar(None, pa.string()), texts)


def _locals(texts: pa.Array, kind: str, zone: str) -> pa.Array:
    """Times without a zone; as moments they are those of the server's own zone."""
    if kind == "string":
        return texts
    times = _dates(texts).cast(pa.timestamp("us"))
    if kind == "timestamp_ntz":
        return times
    # An hour that a clock shows twice is the first of both; one that it leaves out is the moment it does so.
    moments = pc.assume_timezone(times, zone, ambiguous="earliest", nonexistent="earliest")
    return moments.cast(arrow_type(kind))


def _moments(texts: pa.Array, kind: str, zone: str) -> pa.Array:
    """Moments in UTC; as times without a zone they are what the server's clock shows."""
    if kind == "string":
        return _shown(texts, zone)
    moments = pc.assume_timezone(_dates(texts).cast(pa.timestamp("us")), "UTC")
    return moments if kind == "timestamp" else _at(moments, zone)


def _at(moments: pa.Array, zone: str) -> pa.Array:
    return pc.local_timestamp(moments.cast(pa.timestamp("us", tz=zone)))


def _shown(texts: pa.Array, zone: str) -> pa.Array:
    if zone == "UTC":
        return texts
    seconds = pc.utf8_slice_codeunits(texts, 0, _SECONDS)
    moments = pc.assume_timezone(_dates(seconds).cast(pa.timestamp("us")), "UTC")
    shown = pc.utf8_slice_codeunits(_at(moments, zone).cast(pa.string()), 0, _SECONDS)
    fractions = pc.utf8_slice_codeunits(texts, _SECONDS, _SECONDS + 7)
    whole = pc.binary_join_element_wise(shown, fractions, "")
    # What is no date has no zone either.
    return pc.coalesce(whole, texts)


def _geometries(raw: pa.Array) -> pa.Array:
    return pa.array([None if value is None else geojson(value) for value in raw.to_pylist()], pa.string())
