"""Numbers as text, read as decimals, or refused.

Arrow reads most of them. What it makes of one that has more digits than a decimal can hold may be any number, or 0,
without a word; and it refuses zeros at the end for which there is no place.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

MOST_DIGITS = 38
"""What 128 bits can hold."""

_DIGITS = r"^(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*?)0*)?$"


def decimals(texts: pa.Array, wanted: pa.Decimal128Type) -> pa.Array:
    """The decimals that texts say; one that does not fit is an error.

    >>> decimals(pa.array(["1.50000"]), pa.decimal128(3, 2))
    [1.50]
    """
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest + wanted.scale <= MOST_DIGITS and not _has_exponents(texts):
        return texts.cast(wanted)
    return _digits(_written_out(texts), wanted).cast(wanted)


def _has_exponents(texts: pa.Array) -> bool:
    # In all bytes at once, which is a tenth of the time; a slice may see one that is not its own.
    data = texts.buffers()[2]
    said = b"" if data is None else data.to_pybytes()
    return b"e" in said or b"E" in said


def _written_out(texts: pa.Array) -> pa.Array:
    """Texts without exponents."""
    if not _has_exponents(texts):
        return texts
    return pa.array([None if text is None else _plain(text) for text in texts.to_pylist()], pa.string())


def _plain(text: str) -> str:
    if "e" not in text.lower():
        return text
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"'{text}' is not a number") from None
    if number == 0:
        return "0"
    if not number.is_finite() or not -2 * MOST_DIGITS < number.adjusted() < MOST_DIGITS:
        raise ValueError(f"'{text}' has more digits than a decimal can hold")
    return format(number, "f")


def _digits(texts: pa.Array, wanted: pa.Decimal128Type) -> pa.Array:
    """The same numbers without zeros that say nothing, if all of them fit."""
    found = pc.extract_regex(texts, _DIGITS)
    sign, whole, part = (pc.struct_field(found, name) for name in ("sign", "whole", "part"))
    too_large = pc.greater(pc.binary_length(whole), wanted.precision - wanted.scale)
    too_fine = pc.greater(pc.binary_length(part), wanted.scale)
    if pc.any(pc.or_(too_large, too_fine)).as_py():
        raise ValueError(f"it has more digits than {wanted}")
    # Every digit counts, zeros at the end too: not one more may be written than the number has.
    first = pc.if_else(pc.equal(whole, ""), "0", whole)
    point = pc.if_else(pc.equal(part, ""), "", ".")
    known = pc.binary_join_element_wise(sign, first, point, part, "")
    is_number = pc.and_(pc.is_valid(found), pc.match_substring_regex(texts, "[0-9]"))
    # What is no number Arrow refuses.
    return pc.if_else(is_number, known, texts)
