"""Change events of Debezium that are as most are: told quickly, and told apart from all others.

The whole of what an event may be takes a long query, and Spark plans it anew for every batch. This one is short. It
reads events without their schema, as the connector of Postgres or MySQL writes them by the options, and marks what it
does not understand (an envelope with its schema, a placeholder, a value of another type, a missing row) with `UNREAD`;
whoever meets the mark asks the long query.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.columns import Field, Made, make
from headwater.formats.debezium_event import (
    SOURCE,
    Envelope,
    Table,
    has_event,
    source_at,
    table_of,
    transaction_of,
)
from headwater.formats.debezium_unchanged import placeholders
from headwater.formats.debezium_values import Manner, debezium_language, factor_of
from headwater.formats.json_messages import WRONG, Fields, from_json
from headwater.formats.layers import Layers
from headwater.formats.metadata import broker_metadata
from headwater.formats.outputs import Events, Reading, events_query
from headwater.formats.shapes import ArrayOf, Atom, RowOf, Shape, type_text
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    column,
    either,
    equals,
    given,
    in_list,
    is_null,
    negated,
    null,
    number,
    part,
    text,
)
from headwater.formats.values import read_shape
from headwater.log.events import DELETE, DELETE_KEY, INSERT, UPSERT

UNREAD = "unread"
"""The error of a row that the long query has to look at."""

_TEXT = Atom("string")


def plain_changelog(reading: Reading) -> exp.Query | None:
    """The short query for a table, None if its columns or options need the long one."""
    table = table_of(reading)
    has_value_metadata = any(name.startswith("value.") for name in reading.metadata.values())
    is_plain = all(_is_flat(shape) for _, shape in table.after) and not has_value_metadata
    if not is_plain or table.options.ignore_parse_errors:
        return None
    layers, said = Layers("messages"), cast(column("value"), "string")
    rows: Fields = (("before", RowOf(table.before)), ("after", RowOf(table.after)))
    whole = RowOf((*rows, ("op", _TEXT), ("source", SOURCE), ("payload", _TEXT), (WRONG, _TEXT)))
    fast = layers.put(from_json(said, type_text(read_shape(whole, table.reads))))
    parts = {name: part(fast, name) for name in ("op", "before", "after", "source")}
    event = Envelope(**parts, ts_ms=part(parts["source"], "ts_ms"))
    before = _made(layers, event.before, event, table=table, fields=table.before)
    after = _made(layers, event.after, event, table=table, fields=table.after)
    error = layers.put(case((negated(_is_plain(said, fast, event, table, (before, after))), text(UNREAD))))
    half = layers.put(exp.Explode(this=_halves(event, error, table.key)))
    goes, comes = (DELETE_KEY, UPSERT) if table.key else (DELETE, INSERT)
    is_old = equals(half, number(0))
    events = Events(
        _values(table, before, after, is_old),
        case((is_old, text(goes)), default=text(comes)),
        half,
        error,
        broker_metadata(),
        None,
        source_at(event.op, event.source),
        event.ts_ms,
        event.op,
        transaction_of(event.source),
    )
    return events_query(layers, reading, events, where=has_event())


def _is_flat(shape: Shape) -> bool:
    """True for single values and arrays of them; an hstore can be two things."""
    atom = shape.element if isinstance(shape, ArrayOf) else shape
    return isinstance(atom, Atom) and not atom.name.startswith("map<")


def _made(layers: Layers, image: Tree, event: Envelope, *, table: Table, fields: Fields) -> Made:
    """The typed columns of an image that is written as is the default."""
    found = []
    for name, shape in fields:
        atom = shape.element if isinstance(shape, ArrayOf) else shape
        assert isinstance(atom, Atom)
        scale = null("string")
        if atom.is_decimal and table.options.decimal_mode not in ("string", "double"):
            scale = text(str(atom.precision_and_scale[1]))
        manner = Manner(scale, factor_of(table.options, part(event.source, "connector")))
        found.append(Field(part(image, name), shape, debezium_language(table.options, manner), name))
    return make(layers, found)


def _is_plain(said: Tree, fast: Tree, event: Envelope, table: Table, made: tuple[Made, Made]) -> Tree:
    """True for events of rows that are there, whole, and without placeholders; never NULL."""
    came, gone = in_list(event.op, [text(op) for op in ("c", "r", "u")]), equals(event.op, text("d"))
    after = both(given(event.after), *[given(part(event.after, name)) for name in table.key])
    before = both(given(event.before), *[given(part(event.before, name)) for name in table.key])
    if table.key:
        is_whole = either(both(came, after), both(gone, before))
    else:
        alone = both(in_list(event.op, [text("c"), text("r")]), after)
        changed = both(equals(event.op, text("u")), before, after)
        is_whole = either(alone, changed, both(gone, before))
    gaps = [gap for _, gap in placeholders(event.after, table.after, table.options)]
    found = both(
        given(fast),
        is_null(part(fast, WRONG)),
        is_null(part(fast, "payload")),
        given(part(event.source, "connector")),
        call("is_valid_utf8", said),
        call("endswith", said, "}"),
        negated(call("coalesce", either(*gaps), exp.false())),
        is_whole,
        *[negated(condition) for image in made for condition, _ in image.wrongs],
    )
    return call("coalesce", found, exp.false())


def _values(table: Table, before: Made, after: Made, is_old: Tree) -> dict[str, Tree]:
    """Columns of what goes or comes; of what goes by its key nothing else is told."""
    olds = {name: value for (name, _), value in zip(table.before, before.values, strict=True)}
    values = {}
    for (name, _), new in zip(table.after, after.values, strict=True):
        values[name] = (
            case((is_old, olds[name]), default=new) if name in olds else case((negated(is_old), new))
        )
    return values


def _halves(event: Envelope, error: Tree, key: tuple[str, ...]) -> Tree:
    """0 for what goes, 1 for what comes."""
    changed = equals(event.op, text("u"))
    if key:
        moved = [exp.NEQ(this=part(event.before, name), expression=part(event.after, name)) for name in key]
        changed = both(changed, either(*moved))
    return case(
        (given(error), call("array", number(0))),
        (changed, call("array", number(0), number(1))),
        (equals(event.op, text("d")), call("array", number(0))),
        default=call("array", number(1)),
    )
