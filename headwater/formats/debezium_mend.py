"""Images that are not written as most are, rewritten before they are typed.

Placeholders are left out, decimals with a scale of their own become numbers, and times in columns of text become
text. It is done by one short piece of code over the names of the fields, not by one for each column, so that it costs
little where no message needs it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.debezium_event import Event, Table
from headwater.formats.debezium_names import NANOS, Names
from headwater.formats.debezium_unchanged import placeholders
from headwater.formats.debezium_values import moment, unscaled
from headwater.formats.json_messages import ANYTHING, Fields
from headwater.formats.json_values import careful
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape, type_text
from headwater.formats.trees import (
    Body,
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each,
    each_entry,
    either,
    equals,
    first_of,
    given,
    is_null,
    let,
    negated,
    null,
    number,
    part,
    row,
    row_or_null,
    text,
    try_cast,
)
from headwater.formats.values import read_shape

_PAIR = '{"scale"'
"""How a decimal with a scale of its own begins."""

_HOUR = 3_600_000_000


def images_of(event: Event, table: Table, names: Names) -> Tree:
    """A struct of the images `before` and `after` as they are to be typed, and of the columns that are `unchanged`.

    Events of no connector have decimals as numbers, which are read again to be exact.
    """
    decimals = [name for name, shape in table.after if _is_decimal(shape)]
    values = [part(event.after, name) for name in decimals]
    values += [part(event.before, name) for name, _ in table.before if name in decimals]
    inside = [part(event.after, name) for name, shape in table.after if _has_decimals_inside(shape)]
    inside += [part(event.before, name) for name, shape in table.before if _has_decimals_inside(shape)]
    foreign = both(is_null(event.connector), either(*[given(value) for value in (*values, *inside)]))
    gaps = placeholders(event.after, table.after, table.options)
    has_gaps = both(equals(event.op, text("u")), either(*[condition for _, condition in gaps]))
    has_clocks = exp.GT(this=call("size", names.clocks), expression=number(0))
    asked = either(has_gaps, has_clocks, foreign, *[call("startswith", value, _PAIR) for value in values])
    unchanged = call("array_compact", call("array", *[case((gap, text(name))) for name, gap in gaps]))
    as_they_stand = row(
        [("before", event.before), ("after", event.after), ("unchanged", null("array<string>"))]
    )

    def again(unchanged: Tree) -> Tree:
        old, new = (_entries(event, name, exact=foreign) for name in ("before", "after"))
        sent = case(
            (given(unchanged), _sent(new, unchanged, instead=None if table.key else old)), default=new
        )
        texts = each("transform", call("array", old, sent), lambda x: _mended(x, names.clocks, decimals))
        exactly = tuple(case((foreign, image)) for image in (old, sent))
        return let(texts, lambda x: _read_again(x, exactly, unchanged, table))

    return case((asked, let(case((has_gaps, unchanged)), again)), default=as_they_stand)


def _entries(event: Event, name: str, *, exact: Tree) -> Tree:
    """An image as a map of names to whatever stands there."""
    read = event.before if name == "before" else event.after
    exactly = call("try_variant_get", call("try_parse_json", event.said), f"$.{name}", ANYTHING)
    return case((exact, exactly), default=call("from_json", call("to_json", read), ANYTHING))


def _sent(image: Tree, unchanged: Tree, *, instead: Tree | None) -> Tree:
    """An image without the columns that did not change, or with what `instead` has for them."""
    sent = each_entry("map_filter", image, lambda k, x: negated(call("array_contains", unchanged, k)))
    if instead is None:
        return sent
    old = each_entry("map_filter", instead, lambda k, x: call("array_contains", unchanged, k))
    return call("map_concat", sent, first_of(old, call("from_json", "{}", ANYTHING)))


def _read_again(texts: Tree, exactly: tuple[Tree, ...], unchanged: Tree, table: Table) -> Tree:
    """The images of their texts; decimals inside other values are taken from maps of the images, where these are."""
    images = []
    for place, fields in enumerate((table.before, table.after), start=1):
        schema = type_text(read_shape(RowOf(fields), table.reads))
        image = call("from_json", call("element_at", texts, number(place)), schema)
        if any(_has_decimals_inside(shape) for _, shape in fields):
            image = let(image, _with_exact_parts(exactly[place - 1], fields, table))
        images.append(image)
    return row([("before", images[0]), ("after", images[1]), ("unchanged", unchanged)])


def _with_exact_parts(entries: Tree, fields: Fields, table: Table) -> Body:
    def whole(image: Tree) -> Tree:
        parts = [(name, part(image, name)) for name, _ in fields]
        for place, (name, shape) in enumerate(fields):
            if _has_decimals_inside(shape):
                exact = careful(call("try_element_at", entries, name), shape, table.reads)
                parts[place] = (name, case((given(entries), exact), default=part(image, name)))
        return row_or_null(image, parts)

    return whole


def _has_decimals_inside(shape: Shape) -> bool:
    """True if decimals are parts of a column's values."""
    match shape:
        case Atom():
            return False
        case ArrayOf(inner) | MapOf(_, inner):
            return _is_decimal(inner) or _has_decimals_inside(inner)
        case RowOf(fields):
            return any(_is_decimal(inner) or _has_decimals_inside(inner) for _, inner in fields)


def _is_decimal(shape: Shape) -> bool:
    return isinstance(shape, Atom) and shape.is_decimal


def _mended(image: Tree, clocks: Tree, decimals: list[str]) -> Tree:
    """The JSON text of an image with decimals and times rewritten."""
    exact = call("array", *decimals)

    def mend(name: Tree, value: Tree) -> Tree:
        said = call("try_variant_get", value, "$", "string")
        factor = call("try_element_at", clocks, name)
        return case(
            (call("startswith", said, _PAIR), cast(_number(said), "variant")),
            # As a number it would pass through one of 15 digits.
            (call("array_contains", exact, name), cast(said, "variant")),
            (given(factor), cast(let(_micros(try_cast(said, "bigint"), factor), _clock), "variant")),
            default=value,
        )

    return call("to_json", each_entry("transform_values", image, mend))


def _number(pair: Tree) -> Tree:
    """A decimal as `12345.E-2`; the point says that it is no base64."""
    digits = call("hex", call("try_to_binary", call("get_json_object", pair, "$.value"), "base64"))
    power = cast(exp.Neg(this=try_cast(call("get_json_object", pair, "$.scale"), "int")), "string")
    return let(digits, lambda x: concat(unscaled(x), ".E", power))


def _micros(count: Tree, factor: Tree) -> Tree:
    thousands = exp.IntDiv(this=count.copy(), expression=number(1000))
    return case((equals(factor, number(NANOS)), thousands), default=call("try_multiply", count, factor))


def _clock(count: Tree) -> Tree:
    """A time of day, or a length of time, as `12:34:56.789`."""
    size = call("abs", count)
    hours = cast(exp.IntDiv(this=size, expression=number(_HOUR)), "string")
    rest = moment(exp.Mod(this=size.copy(), expression=number(_HOUR)), is_local=True)
    two = call("lpad", hours, call("greatest", call("length", hours), number(2)), "0")
    sign = case((exp.LT(this=count.copy(), expression=number(0)), text("-")), default=text(""))
    return concat(sign, two, call("substr", cast(rest, "string"), number(14)))
