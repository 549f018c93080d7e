"""Dates and times of a binary log as the server shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_ZERO_YEAR_MONTH = 13
"""A year has thirteen months here, because the month may be zero."""


def date_text(packed: int) -> bytes:
    """A date of three bytes: `2020-12-30`, or `0000-00-00`."""
    return b"%04d-%02d-%02d" % (packed >> 9, packed >> 5 & 15, packed & 31)


def datetime_text(packed: int, fraction: str = "") -> str:
    """A date and time, packed from the year down to the second, with the text of its fraction."""
    days, clock = packed >> 17, packed & 0x1FFFF
    year, month = divmod(days >> 5, _ZERO_YEAR_MONTH)
    return (
        f"{year:04d}-{month:02d}-{days & 31:02d} "
        f"{clock >> 12:02d}:{clock >> 6 & 63:02d}:{clock & 63:02d}{fraction}"
    )


def time_text(packed: int, fraction: str = "", *, negative: bool = False) -> str:
    """A length of time, packed from the hour down to the second."""
    sign = "-" if negative else ""
    return f"{sign}{packed >> 12 & 0x3FF:02d}:{packed >> 6 & 63:02d}:{packed & 63:02d}{fraction}"


def stamp_text(seconds: int, fraction: str = "") -> str:
    """A moment in UTC, in seconds since 1970; zero is the server's date that is none."""
    if not seconds and not fraction.strip(".0"):
        return f"0000-00-00 00:00:00{fraction}"
    return f"{_EPOCH + timedelta(seconds=seconds)}{fraction}"


def fraction_text(value: int, digits: int) -> str:
    """The text of a fraction of so many digits, stored with one more where they are odd."""
    if not digits:
        return ""
    text = f".{value:0{digits + digits % 2}d}"
    return text[: digits + 1]
