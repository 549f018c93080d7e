"""Bytes that are one value as they stand."""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.kinds import RawFormat
from headwater.formats.shapes import Atom
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    equals,
    like_pattern,
    negated,
    number,
    text,
    try_cast,
)
from headwater.formats.values import Bind, Language, Leaf

SIZES = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "float": 4, "double": 8}
"""The types of a fixed number of bytes; the others are text and bytes."""

_BITS = {
    "float": ("java.lang.Float", "intBitsToFloat", "int"),
    "double": ("java.lang.Double", "longBitsToDouble", "bigint"),
}

# Pairs of 16-bit units of which one half is missing, in hexadecimal digits with a space behind each unit.
_HALF_PAIR = r"(^| )D[89AB].. (?!D[C-F])|(^|(?<!D[89AB].. ))D[C-F].. "


def raw_language(options: RawFormat) -> Language:
    """How each type is written as bytes."""

    def leaf(atom: Atom) -> Leaf:
        if atom.name == "binary":
            return Leaf("binary")
        if atom.name == "string":
            return Leaf("binary", lambda raw, bind: _text(raw, options.charset), expects=options.charset)
        size = SIZES[atom.name]
        expects = "1 byte" if size == 1 else f"{size} bytes"
        return Leaf("binary", lambda raw, bind: _number(raw, atom.name, options, bind=bind), expects=expects)

    return leaf


def _number(raw: Tree, kind: str, options: RawFormat, *, bind: Bind) -> Tree:
    size = SIZES[kind]

    def from_digits(digits: Tree) -> Tree:
        if options.endianness == "little-endian":
            pairs = [call("substr", digits, number(2 * place + 1), number(2)) for place in range(size)]
            digits = concat(*reversed(pairs))
        if kind == "boolean":
            return exp.NEQ(this=digits, expression=text("00"))
        return _signed(digits, kind)

    fits = equals(call("octet_length", raw), number(size))
    return case((fits, bind(call("hex", raw), from_digits)))


def _signed(digits: Tree, kind: str) -> Tree:
    """Hexadecimal digits of a number with its sign in the first bit."""
    sign = case((exp.GTE(this=digits.copy(), expression=text("8")), text("F")), default=text("0"))
    whole = call("conv", call("lpad", digits, number(16), sign), number(16), exp.Neg(this=number(10)))
    if kind not in _BITS:
        return try_cast(whole, kind)
    owner, method, bits = _BITS[kind]
    return cast(call("reflect", owner, method, cast(whole, bits)), kind)


def _text(raw: Tree, charset: str) -> Tree:
    said = cast(raw, "string")
    match charset:
        case "UTF-8":
            return case((call("is_valid_utf8", said), said))
        case "US-ASCII":
            single = equals(call("length", said), call("octet_length", said))
            return case((both(call("is_valid_utf8", said), single), said))
        case "ISO-8859-1":
            return call("decode", raw, charset)
    units = call("regexp_replace", _big_endian(raw, charset), "(....)", "$1 ")
    is_even = equals(exp.Mod(this=call("octet_length", raw), expression=number(2)), number(0))
    whole = both(is_even, negated(like_pattern(units, _HALF_PAIR)))
    return case((whole, call("decode", raw, charset)))


def _big_endian(raw: Tree, charset: str) -> Tree:
    digits = call("hex", raw)
    return digits if charset == "UTF-16BE" else call("regexp_replace", digits, "(..)(..)", "$2$1")
