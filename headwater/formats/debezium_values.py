"""How Debezium writes values when a message does not carry its schema: by the modes of the connector.

Decimals are base64 of an unscaled number, or text; times are numbers of a unit that depends on the database.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

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
    given,
    in_list,
    is_null,
    like_pattern,
    negated,
    number,
    text,
    try_cast,
)
from headwater.formats.values import Bind, Language, Leaf, typed

_LAST_MILLIS = 253_402_300_799_999
"""The end of the year 9999, up to which MySQL knows times."""
LAST_MICROS = 9_223_372_036_825_199_999
"""From the next on Postgres's connector means infinity."""
_DATE = r"^\d{4}-\d\d-\d\dZ?$"
_STAMP = r"^[+-]?\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?"
_MAP = "map<"


@dataclass(frozen=True)
class Manner:
    """How one message is written: is a decimal plain text, and of which unit are times.

    A time is `times` microseconds and at most `most`, both NULL if the unit is not known; `parts` of it are one.
    """

    plain: Tree
    times: Tree
    most: Tree
    parts: Tree | None = None


def manner_of(options: DebeziumJson, connector: Tree, has_schema: Tree) -> Manner:
    """The manner that the options, or else the database, stand for.

    Messages that carry their schema are brought into one manner first. Those of no connector are not Debezium's own:
    Flink writes them, and plainly.
    """
    match options.decimal_mode:
        case "string" | "double":
            plain: Tree = exp.true()
        case "precise":
            plain = has_schema
        case _:
            plain = either(has_schema, is_null(connector))
    us, ms = (number(1), number(LAST_MICROS)), (number(1000), number(_LAST_MILLIS))
    match options.time_mode:
        case "microseconds":
            return Manner(plain, *us)
        case "nanoseconds":
            return Manner(plain, *us, parts=case((has_schema, number(1)), default=number(1000)))
        case "connect":
            is_micros, is_millis = has_schema, exp.true()
        case _:
            is_micros = either(has_schema, equals(connector, text("postgresql")))
            is_millis = in_list(connector, [text("mysql"), text("mariadb")])
    times, most = (case((is_micros, a), (is_millis, b)) for a, b in zip(us, ms, strict=True))
    return Manner(plain, times, most)


def debezium_shape(shape: Shape) -> Shape:
    """A column's shape as it is read: a map can also stand in a text, so it is not looked into yet."""
    return Atom(type_text(shape)) if isinstance(shape, MapOf) else shape


def debezium_language(options: DebeziumJson, manner: Manner) -> Language:
    """How each type is written."""

    def leaf(atom: Atom) -> Leaf:
        if atom.is_decimal:
            return Leaf("variant", lambda raw, bind: _decimal(raw, atom, manner, bind=bind))
        if atom.name.startswith(_MAP):
            return Leaf("variant", lambda raw, _: _map(raw, atom))
        match atom.name:
            case "date":
                return Leaf("variant", _date)
            case "timestamp" | "timestamp_ntz":
                return Leaf("variant", lambda raw, bind: _timestamp(raw, atom, manner, bind=bind))
            case "binary":
                return Leaf("string", lambda raw, _: _bytes(raw, options), expects=options.binary_mode)
            case "boolean":
                return Leaf("variant", _truth)
            case "double":
                return Leaf("variant", lambda raw, _: call("try_variant_get", raw, "$", "double"))
            case "float":
                return Leaf(
                    "variant",
                    lambda raw, bind: bind(call("try_variant_get", raw, "$", "double"), narrow_float),
                )
            case "tinyint":
                # The parser would take 200 for a byte and make it -56.
                return Leaf("int", lambda raw, _: try_cast(raw, "tinyint"))
        return Leaf(atom.name)

    return leaf


def _said(raw: Tree) -> Tree:
    return call("try_variant_get", raw, "$", "string")


def _truth(raw: Tree, bind: Bind) -> Tree:
    """MySQL has 0 and 1."""

    def told(word: Tree) -> Tree:
        yes, no = (
            exp.In(this=word.copy(), expressions=[text(w), text(d)])
            for w, d in (("true", "1"), ("false", "0"))
        )
        return case((yes, exp.true()), (no, exp.false()))

    return bind(_said(raw), told)


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
    entries = call("from_json", _said(raw), "map<string,variant>")
    return each_value(entries, lambda x: typed(careful(x, inner, language), inner, language))


def _decimal(raw: Tree, atom: Atom, manner: Manner, *, bind: Bind) -> Tree:
    precision, scale = atom.precision_and_scale

    def from_text(said: Tree) -> Tree:
        # Base64 has no point, and comes in fours.
        is_number = either(manner.plain, call("contains", said, "."))
        in_fours = equals(exp.Mod(this=call("length", said), expression=number(4)), number(0))
        coded = case((both(negated(is_number), in_fours), call("hex", call("try_to_binary", said, "base64"))))
        return bind(
            coded,
            lambda digits: case(
                (given(digits), try_cast(concat(unscaled(digits, precision), f"E-{scale}"), atom.name)),
                (is_number, try_cast(said, atom.name)),
            ),
        )

    return bind(_said(raw), from_text)


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
    def from_days(days: Tree) -> Tree:
        said = _said(raw)
        iso = case((like_pattern(said, _DATE), try_cast(call("left", said, number(10)), "date")))
        return case((given(days), call("date_from_unix_date", days)), default=iso)

    return bind(call("try_variant_get", raw, "$", "int"), from_days)


def _timestamp(raw: Tree, atom: Atom, manner: Manner, *, bind: Bind) -> Tree:
    is_local = atom.name == "timestamp_ntz"

    def from_number(count: Tree) -> Tree:
        said = _said(raw)
        pattern = _STAMP + ("Z?$" if is_local else r"(Z|[+-]\d\d:\d\d)$")
        iso = case((like_pattern(said, pattern), try_cast(said, atom.name)))
        # What no database means as a time stands for infinity, or is thousands of years in a wrong unit.
        size = exp.LTE(this=call("abs", count), expression=manner.most.copy())
        made = case((size, moment(_micros(count, manner), is_local=is_local)))
        return case((given(count), made), default=iso)

    return bind(call("try_variant_get", raw, "$", "bigint"), from_number)


def _micros(count: Tree, manner: Manner) -> Tree:
    if manner.parts is None:
        return exp.Mul(this=count.copy(), expression=manner.times.copy())
    rest = exp.Sub(this=count.copy(), expression=call("pmod", count, manner.parts))
    return exp.IntDiv(this=exp.Paren(this=rest), expression=manner.parts.copy())


def moment(count: Tree, *, is_local: bool) -> Tree:
    """A timestamp of so many microseconds since 1970, without a look at the session's time zone."""
    if not is_local:
        return call("timestamp_micros", count)
    begin = cast(text("1970-01-01 00:00:00"), "timestamp_ntz")
    return call("timestampadd", exp.var("MICROSECOND"), count, begin)


def array_element(shape: Shape) -> Atom | None:
    """The element of an array of plain values."""
    return shape.element if isinstance(shape, ArrayOf) and isinstance(shape.element, Atom) else None
