"""How Debezium writes values when a message does not carry its schema: by the modes of the connector.

Decimals are base64 of an unscaled number, or text; times are numbers of a unit that depends on the database.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.formats.debezium_names import NANOS, Names
from headwater.formats.json_messages import ANYTHING
from headwater.formats.json_values import careful, json_language, narrow_float
from headwater.formats.kinds import DebeziumJson, JsonFormat
from headwater.formats.shapes import ArrayOf, Atom, MapOf, Shape, shape_of, type_text
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each_value,
    either,
    equals,
    first_of,
    given,
    in_list,
    is_null,
    like_pattern,
    negated,
    null,
    number,
    text,
    try_cast,
)
from headwater.formats.values import Bind, Language, Leaf, typed

_END_OF_MILLIS = 253_402_300_800_000
"""The year 10000; no database has a time beyond it in milliseconds, so it was one in microseconds."""
_INFINITY = 9_223_372_036_825_200_000
"""What the connector of Postgres writes for it."""
_DATE = r"^\d{4}-\d\d-\d\dZ?$"
_STAMP = r"^[+-]?\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?"
_MAP = "map<"


@dataclass(frozen=True)
class Manner:
    """How a column of one message is written."""

    scale: Tree
    """The scale of a decimal that is written as base64 of an unscaled number, as text; NULL if it is a plain number."""
    factor: Tree
    """How many microseconds one of a time's unit has, zero for nanoseconds; NULL if the unit is not known."""


def manner_of(name: str, shape: Shape, names: Names, *, connector: Tree, options: DebeziumJson) -> Manner:
    """How a column is written: as the message's schema tells, or else as the options say or the database is known for.

    A message of no connector is not Debezium's own: Flink writes it, and plainly.
    """
    atom = shape.element if isinstance(shape, ArrayOf) else shape
    scale: Tree = null("string")
    if isinstance(atom, Atom) and atom.is_decimal:
        declared = text(str(atom.precision_and_scale[1]))
        if options.decimal_mode in ("string", "double"):
            declared = null("string")
        elif options.decimal_mode is None:
            declared = case((given(connector), declared))
        scale = case((is_null(names.known), declared), default=call("try_element_at", names.scales, name))
    factor = first_of(call("try_element_at", names.units, name), factor_of(options, connector))
    return Manner(scale, factor)


def factor_of(options: DebeziumJson, connector: Tree) -> Tree:
    """How many microseconds one of the unit has in which a connector writes times without a schema."""
    fixed = {"connect": 1000, "microseconds": 1, "nanoseconds": NANOS}.get(options.time_mode or "")
    if fixed is not None:
        return number(fixed)
    is_mysql = in_list(connector, [text("mysql"), text("mariadb")])
    return case((equals(connector, text("postgresql")), number(1)), (is_mysql, number(1000)))


def debezium_shape(shape: Shape) -> Shape:
    """A column's shape as it is read: a map can also stand in a text, so it is not looked into yet."""
    return Atom(type_text(shape)) if isinstance(shape, MapOf) else shape


def debezium_language(options: DebeziumJson, manner: Manner) -> Language:
    """How each type is written.

    Most are read as text, which takes numbers and texts alike; what is always a number is read as one.
    """

    def leaf(atom: Atom) -> Leaf:
        if atom.is_decimal:
            return Leaf("string", lambda raw, bind: _decimal(raw, atom, manner, bind=bind))
        if atom.name.startswith(_MAP):
            return Leaf("string", lambda raw, _: _map(raw, atom))
        match atom.name:
            case "date":
                return Leaf("string", _date)
            case "timestamp" | "timestamp_ntz":
                return Leaf("string", lambda raw, bind: _timestamp(raw, atom, manner, bind=bind))
            case "binary":
                return Leaf("string", lambda raw, _: _bytes(raw, options), expects=options.binary_mode)
            case "boolean":
                return Leaf("string", lambda raw, _: _truth(raw))
            case "double" if options.decimal_mode == "string":
                return Leaf("string", lambda raw, _: try_cast(raw, "double"))
            case "float" if options.decimal_mode == "string":
                return Leaf("string", lambda raw, bind: bind(try_cast(raw, "double"), narrow_float))
            case "float":
                return Leaf("double", lambda raw, _: narrow_float(raw))
            case "tinyint":
                # The parser would take 200 for a byte and make it -56.
                return Leaf("int", lambda raw, _: try_cast(raw, "tinyint"))
        return Leaf(atom.name)

    return leaf


def _truth(raw: Tree) -> Tree:
    """MySQL has 0 and 1."""
    yes, no = (in_list(raw, [text(word), text(digit)]) for word, digit in (("true", "1"), ("false", "0")))
    return case((yes, exp.true()), (no, exp.false()))


def _bytes(raw: Tree, options: DebeziumJson) -> Tree:
    match options.binary_mode:
        case "hex":
            return call("try_to_binary", raw, "hex")
        case "base64-url-safe":
            return call("try_to_binary", call("translate", raw, "-_", "+/"), "base64")
    return call("try_to_binary", raw, "base64")


def _map(raw: Tree, atom: Atom) -> Tree:
    """An hstore: an object, or a text that holds one."""
    shape = shape_of(atom.name)
    assert isinstance(shape, MapOf)
    inner, language = shape.value, json_language(JsonFormat())
    entries = call("from_json", raw, ANYTHING)
    return each_value(entries, lambda x: typed(careful(x, inner, language), inner, language))


def _decimal(raw: Tree, atom: Atom, manner: Manner, *, bind: Bind) -> Tree:
    precision, _ = atom.precision_and_scale
    # Base64 has no point, and comes in fours.
    in_fours = equals(exp.Mod(this=call("length", raw), expression=number(4)), number(0))
    can_be_coded = both(negated(call("contains", raw, ".")), in_fours)
    coded = case((can_be_coded, call("hex", call("try_to_binary", raw, "base64"))))

    def converted(digits: Tree, scale: Tree) -> Tree:
        is_number = either(is_null(scale), call("contains", raw, "."))
        return case(
            (is_number, try_cast(raw, atom.name)),
            default=try_cast(concat(unscaled(digits, precision), "E-", scale), atom.name),
        )

    return bind(coded, lambda digits: bind(manner.scale, lambda scale: converted(digits, scale)))


def unscaled(digits: Tree, precision: int = 38) -> Tree:
    """The number, as text, whose bytes are given in hexadecimal: two's complement, the greatest byte first.

    Up to 18 digits fit into eight bytes; for more two halves are put together.
    """
    sign = case((exp.GTE(this=digits.copy(), expression=text("8")), text("F")), default=text("0"))
    size = call("length", digits)
    short = exp.Between(this=size, low=number(2), high=number(16))
    one = call("conv", call("lpad", digits, number(16), sign), number(16), exp.Neg(this=number(10)))
    if precision <= 18:
        return case((short, one))
    whole = call("lpad", digits, number(32), sign)
    high = call("conv", call("substr", whole, number(1), number(16)), number(16), exp.Neg(this=number(10)))
    low = call("conv", call("substr", whole, number(17), number(16)), number(16), number(10))
    power = cast(text(str(2**64)), "decimal(20,0)")
    two = call(
        "try_add", call("try_multiply", cast(high, "decimal(20,0)"), power), cast(low, "decimal(20,0)")
    )
    long = exp.Between(this=size.copy(), low=number(17), high=number(32))
    return case((short, one), (long, cast(two, "string")))


def _date(raw: Tree, bind: Bind) -> Tree:
    iso = case((like_pattern(raw, _DATE), try_cast(call("left", raw, number(10)), "date")))
    return bind(
        try_cast(raw, "int"),
        lambda days: case((given(days), call("date_from_unix_date", days)), default=iso),
    )


def _timestamp(raw: Tree, atom: Atom, manner: Manner, *, bind: Bind) -> Tree:
    is_local = atom.name == "timestamp_ntz"
    pattern = _STAMP + ("Z?$" if is_local else r"(Z|[+-]\d\d:\d\d)$")
    iso = case((like_pattern(raw, pattern), try_cast(raw, atom.name)))

    def converted(count: Tree, factor: Tree) -> Tree:
        rest = exp.Paren(this=exp.Sub(this=count.copy(), expression=call("pmod", count, number(1000))))
        micros = case(
            (equals(factor, number(NANOS)), exp.IntDiv(this=rest, expression=number(1000))),
            default=call("try_multiply", count, factor),
        )
        end = case((equals(factor, number(1000)), number(_END_OF_MILLIS)), default=number(_INFINITY))
        is_time = exp.LT(this=call("abs", count), expression=end)
        return case((is_null(count), iso), (is_time, moment(micros, is_local=is_local)))

    return bind(
        try_cast(raw, "bigint"), lambda count: bind(manner.factor, lambda factor: converted(count, factor))
    )


def moment(count: Tree, *, is_local: bool) -> Tree:
    """A timestamp of so many microseconds since 1970, without a look at the session's time zone."""
    if not is_local:
        return call("timestamp_micros", count)
    begin = cast(text("1970-01-01 00:00:00"), "timestamp_ntz")
    return call("timestampadd", exp.var("MICROSECOND"), count, begin)


def array_element(shape: Shape) -> Atom | None:
    """The element of an array of plain values."""
    return shape.element if isinstance(shape, ArrayOf) and isinstance(shape.element, Atom) else None
