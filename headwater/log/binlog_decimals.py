"""Decimals of a binary log: nine digits in four bytes, the greatest first, so that their bytes compare as they do."""

from __future__ import annotations

_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""How many bytes so many digits take."""
_GROUP = 9


def decimal_size(precision: int, scale: int) -> int:
    """How many bytes a decimal takes."""
    whole, rest = divmod(precision - scale, _GROUP)
    parts, left = divmod(scale, _GROUP)
    return 4 * (whole + parts) + _BYTES[rest] + _BYTES[left]


def decimal_text(data: bytes, at: int, precision: int, scale: int) -> bytes:
    """A decimal with all digits of its scale: `-12.30`."""
    body = bytearray(data[at : at + decimal_size(precision, scale)])
    is_negative = not body[0] & 0x80
    body[0] ^= 0x80
    if is_negative:
        body = bytearray(byte ^ 0xFF for byte in body)
    groups, rest = divmod(precision - scale, _GROUP)
    size = _BYTES[rest]
    whole = int.from_bytes(body[:size], "big")
    place = size
    for _ in range(groups):
        whole = whole * 10**_GROUP + int.from_bytes(body[place : place + 4], "big")
        place += 4
    text = b"%d" % whole
    if scale:
        text += b"." + _fraction(body, place, scale)
    return b"-" + text if is_negative else text


def _fraction(body: bytearray, place: int, scale: int) -> bytes:
    groups, rest = divmod(scale, _GROUP)
    parts = []
    for _ in range(groups):
        parts.append(b"%09d" % int.from_bytes(body[place : place + 4], "big"))
        place += 4
    if rest:
        parts.append(b"%0*d" % (rest, int.from_bytes(body[place : place + _BYTES[rest]], "big")))
    return b"".join(parts)
