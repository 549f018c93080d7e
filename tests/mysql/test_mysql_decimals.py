"""Decimals of every precision and scale are read from the bytes of the log.

Oracle: the digits that were put into the bytes, nine in four bytes, by hand.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.log.binlog_decimals import decimal_size, decimal_text

BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def packed(digits: str, scale: int, *, is_negative: bool) -> bytes:
    """The bytes of a decimal: groups of nine digits from the point outwards."""
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    rest = len(whole) % 9
    groups = [whole[:rest], *(whole[at : at + 9] for at in range(rest, len(whole), 9))]
    groups += [fraction[at : at + 9] for at in range(0, scale, 9)]
    data = bytearray(b"".join(int(group).to_bytes(BYTES[len(group)], "big") for group in groups if group))
    if is_negative:
        data = bytearray(byte ^ 0xFF for byte in data)
    data[0] ^= 0x80
    return bytes(data)


# How long an example takes is up to the machine.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("0123456789", min_size=1, max_size=65), st.integers(0, 30), st.booleans())
def test_a_decimal_is_its_digits(digits: str, scale: int, is_negative: bool) -> None:
    scale = min(scale, len(digits))
    is_negative = is_negative and int(digits) > 0
    data = packed(digits, scale, is_negative=is_negative)
    assert len(data) == decimal_size(len(digits), scale)
    plain = str(int(digits)).zfill(scale + 1)
    expected = f"{plain[:-scale]}.{plain[-scale:]}" if scale else plain
    found = decimal_text(b"before" + data + b"behind", 6, len(digits), scale)
    assert found.decode() == ("-" if is_negative else "") + expected
