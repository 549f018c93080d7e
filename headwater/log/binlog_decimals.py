"""Decimals of a binary log: nine digits in four bytes, the greatest first, so that their bytes compare as they do."""

from __future__ import annotations

from collections.abc import Callable

_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""How many bytes so many digits take."""
_GROUP = 9


def decimal_size(precision: int, scale: int) -> int:
    """How many bytes a decimal takes."""
    return sum(_BYTES[digits] for digits in _groups(precision, scale))


def decimal_text(data: bytes, at: int, precision: int, scale: int) -> bytes:
    """A decimal with all digits of its scale: `-12.30`."""
    return decimal_reader(precision, scale)(data, at)


def decimal_reader(precision: int, scale: int) -> Callable[[bytes, int], bytes]:
    """Reads decimals of one type, one after the other."""
    size = decimal_size(precision, scale)
    top, ones = 1 << 8 * size - 1, (1 << 8 * size) - 1
    # Where each group stands from the end, and by how much it moves those before it up.
    parts, left = [], size
    for digits in _groups(precision, scale):
        left -= _BYTES[digits]
        parts.append((8 * left, (1 << 8 * _BYTES[digits]) - 1, 10**digits))

    def read(data: bytes, at: int) -> bytes:
        # The first bit is set for what is not negative; of the others all bits are turned over.
        raw = int.from_bytes(data[at : at + size], "big") ^ top
        is_negative = raw & top
        if is_negative:
            raw ^= ones
        number = 0
        for shift, mask, power in parts:
            number = number * power + (raw >> shift & mask)
        text = b"%0*d" % (scale + 1, number)
        if scale:
            text = text[:-scale] + b"." + text[-scale:]
        return b"-" + text if is_negative else text

    return read


def _groups(precision: int, scale: int) -> list[int]:
    """How many digits stand together: what is left over is at the outer ends."""
    whole, first = divmod(precision - scale, _GROUP)
    parts, last = divmod(scale, _GROUP)
    return [first, *[_GROUP] * (whole + parts), last]
