"""Change events of Debezium: what became of rows, with or without the row before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.formats.columns import Field, Made, make
from headwater.formats.debezium_mend import PAIR, left_out, mended
from headwater.formats.debezium_names import SCHEMA, Names, names_of
from headwater.formats.debezium_unchanged import unchanged_columns
from headwater.formats.debezium_values import (
    Defaults,
    Manner,
    debezium_language,
    debezium_shape,
    defaults_of,
    manner_of,
)
from headwater.formats.json_messages import ANYTHING, WRONG, Fields, Look, from_json, look_at
from headwater.formats.kinds import DebeziumJson
from headwater.formats.layers import Layers
from headwater.formats.metadata import debezium_metadata
from headwater.formats.outputs import Events, Reading, events_query
from headwater.formats.shapes import Atom, RowOf, shape_of, type_text
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    column,
    concat,
    each,
    either,
    equals,
    first_of,
    given,
    in_list,
    is_null,
    let,
    negated,
    null,
    number,
    part,
    text,
    try_cast,
)
from headwater.formats.values import SHOWN, Language, read_shape
from headwater.log.events import DELETE, DELETE_KEY, INSERT, TRUNCATE, UPSERT

_TEXT, _LONG = Atom("string"), Atom("bigint")
_SOURCE = RowOf(
    (
        *((name, _TEXT) for name in ("connector", "db", "schema", "table", "sequence", "file")),
        *((name, _LONG) for name in ("ts_ms", "pos", "row")),
    )
)
_CAME, _NO_ROWS = ("c", "r", "u"), ("m",)


@dataclass(frozen=True)
class Envelope:
    """The parts of an event, wherever they stood."""

    op: Tree
    before: Tree
    after: Tree
    source: Tree
    ts_ms: Tree


@dataclass(frozen=True)
class Table:
    """What is read: all columns of the row after, and of the row before those that are needed."""

    options: DebeziumJson
    after: Fields
    before: Fields
    key: tuple[str, ...]
    reads: Language
    """What values are read as, which is the same in whatever manner they are written."""


def changelog(reading: Reading) -> exp.Query:
    """Events of rows as insert and delete; of a table with a key as upsert and delete_key."""
    layers, table = Layers("messages"), _table(reading)
    look = look_at(layers, column("value"), _fields(table), language=table.reads, what="value")
    event = _envelope(layers, look)
    names = names_of(layers, part(look.fast, "schema"), table.after)
    event, unchanged = _mended(layers, look, event, table, names)
    after, before = _made(layers, event, table, names)
    error = layers.put(_error(look, event, table, before, after))
    half = layers.put(exp.Explode(this=_halves(event, table, error, before, after)))
    events = Events(
        _values(table, half, before, after),
        _kind(event, table, half),
        half,
        error,
        debezium_metadata(look.said, source=event.source, ts_ms=event.ts_ms),
        case((both(equals(half, number(1)), _some(unchanged)), unchanged)) if table.key else None,
        source_at(event),
        part(event.source, "ts_ms"),
    )
    return events_query(layers, reading, events, where=_has_event())


def _some(names: Tree) -> Tree:
    return exp.GT(this=call("size", names), expression=number(0))


def _mended(layers: Layers, look: Look, event: Envelope, table: Table, names: Names) -> tuple[Envelope, Tree]:
    """The event with images without placeholders, pairs and times, and the columns that did not change.

    Most are so as they stand. Those of no connector have decimals as numbers, which are read again to be exact.
    """
    before = layers.put(_before(event, table)) if table.key else event.before
    unchanged = layers.put(unchanged_columns(event.op, event.after, table.after, table.options))
    names_of_decimals = [n for n, shape in table.after if isinstance(shape, Atom) and shape.is_decimal]
    decimals = [
        part(image, name)
        for image, fields in ((before, table.before), (event.after, table.after))
        for name, _ in fields
        if name in names_of_decimals
    ]
    foreign = both(is_null(part(event.source, "connector")), either(*[given(value) for value in decimals]))
    pairs = [call("startswith", value, PAIR) for value in decimals]
    is_asked = layers.put(either(_some(names.clocks), _some(unchanged), foreign, *pairs))
    exact = call("try_parse_json", look.said)
    old, new = (
        case(
            (foreign, call("try_variant_get", exact, f"$.{name}", ANYTHING)),
            default=call("from_json", call("to_json", image), ANYTHING),
        )
        for name, image in (("before", before), ("after", event.after))
    )
    sent = case((_some(unchanged), left_out(new, unchanged, instead=None if table.key else old)), default=new)
    maps = layers.put(case((is_asked, call("array", old, sent))))
    images = []
    for place, (image, fields) in enumerate(((before, table.before), (event.after, table.after)), start=1):
        schema = type_text(read_shape(RowOf(fields), table.reads))
        again = call("from_json", mended(call("element_at", maps, number(place)), names.clocks, names_of_decimals), schema)
        images.append(layers.put(case((both(is_asked, given(image)), again), default=image)))
    return replace(event, before=images[0], after=images[1]), unchanged


def _made(layers: Layers, event: Envelope, table: Table, names: Names) -> tuple[Made, Made]:
    """The typed columns of the row after and of the row before."""
    defaults = defaults_of(table.options, part(event.source, "connector"))
    defaults = Defaults(layers.put(defaults.plain), layers.put(defaults.factor), layers.put(defaults.most))
    made = []
    for image, fields, lead in ((event.after, table.after, ""), (event.before, table.before, "before.")):
        columns = []
        for name, shape in fields:
            language = debezium_language(table.options, manner_of(name, shape, names, defaults))
            columns.append(Field(part(image, name), shape, language, f"{lead}{name}"))
        made.append(make(layers, columns))
    return made[0], made[1]


def _table(reading: Reading) -> Table:
    options = reading.formats.value
    assert isinstance(options, DebeziumJson)
    fields = tuple(
        (c.name, debezium_shape(shape_of(c.type))) for c in reading.schema if c.name not in reading.metadata
    )
    key = reading.schema.key
    before = tuple(f for f in fields if f[0] in key) if key else fields
    any_manner = Manner(null("string"), number(1), number(1))
    return Table(options, fields, before, key, debezium_language(options, any_manner))


def _fields(table: Table) -> Fields:
    body: Fields = (
        ("before", RowOf(table.before)),
        ("after", RowOf(table.after)),
        ("op", _TEXT),
        ("ts_ms", _LONG),
        ("source", _SOURCE),
    )
    return (*body, ("payload", RowOf(body)), ("schema", SCHEMA))


def _has_event() -> Tree:
    """A message without a value says that the key may be forgotten, which the event before it said already."""
    size = exp.GT(this=call("octet_length", column("value")), expression=number(0))
    return both(size, exp.NEQ(this=column("value"), expression=exp.HexString(this=b"null".hex().upper())))


def _envelope(layers: Layers, look: Look) -> Envelope:
    inner = part(look.fast, "payload")
    found = {
        name: layers.put(first_of(part(look.fast, name), part(inner, name)))
        for name in ("op", "before", "after", "source", "ts_ms")
    }
    return Envelope(**found)


def _before(event: Envelope, table: Table) -> Tree:
    """The key of the row before; a delete that does not carry it has it in the key of the message."""
    keys = tuple((name, read_shape(shape, table.reads)) for name, shape in table.before)
    schema = type_text(RowOf((*keys, ("payload", RowOf(keys)), (WRONG, _TEXT))))
    said = from_json(cast(column("key"), "string"), schema)
    names = [name for name, _ in table.before]
    lacking = either(is_null(event.before), *[is_null(part(event.before, name)) for name in names])

    def from_key(x: Tree) -> Tree:
        values = [(name, first_of(part(part(x, "payload"), name), part(x, name))) for name in names]
        arguments = [word for pair in values for word in pair]
        return call("named_struct", *arguments)

    wanted = both(equals(event.op, text("d")), lacking, given(column("key")))
    return case((wanted, let(said, from_key)), default=event.before)


def _error(look: Look, event: Envelope, table: Table, before: Made, after: Made) -> Tree:
    """What is wrong with an event, NULL if nothing is."""
    came = in_list(event.op, list(map(text, _CAME)))
    keys = dict(zip([name for name, _ in table.after], after.values, strict=True))
    branches = [
        (given(look.broken), look.broken),
        # Messages of Kafka Connect that say nothing have a payload, and nothing in it.
        (
            both(is_null(event.op), negated(_has_payload(look))),
            concat("the value is not an event of Debezium: ", call("left", look.said, number(SHOWN))),
        ),
        (
            both(given(event.op), negated(in_list(event.op, list(map(text, (*_CAME, "d", "t", "m")))))),
            concat('"op" is unknown: ', event.op),
        ),
        (both(came, is_null(event.after)), text('the event has no "after"')),
    ]
    if not table.options.ignore_parse_errors:
        branches[1:1] = [(given(part(look.fast, WRONG)), _misfit(look, table))]
        branches += [(given(made.wrong), made.wrong) for made in (after, before)]
    if table.key:
        unknown = either(*[is_null(value) for value in before.values])
        branches.append((both(equals(event.op, text("d")), unknown), text(_WHICH)))
        branches += [
            (both(came, is_null(keys[name])), text(f'key column "{name}" is NULL or missing in "after"'))
            for name in table.key
        ]
    else:
        needs = in_list(event.op, [text("u"), text("d")])
        branches.append((both(needs, is_null(event.before)), text(_BEFORE)))
    return case(*branches)


_WHICH = (
    'the event deletes a row, and neither its "before" nor the key of the message says which: the key of the table '
    "in the database must be its PRIMARY KEY here, or the table needs REPLICA IDENTITY FULL"
)
_BEFORE = (
    'the event has no "before": in the database the table needs REPLICA IDENTITY FULL, or here a PRIMARY KEY by '
    "which the row before is known"
)


def _has_payload(look: Look) -> Tree:
    return call("array_contains", call("json_object_keys", look.said), "payload")


def _misfit(look: Look, table: Table) -> Tree:
    """Which field of the row after or before the parser refuses."""
    schema = type_text(read_shape(RowOf((*table.after, (WRONG, _TEXT))), table.reads))
    event = first_of(
        call("try_variant_get", call("try_element_at", look.loose, "payload"), "$", ANYTHING), look.loose
    )
    images = [
        call("try_variant_get", call("try_element_at", event, image), "$", ANYTHING)
        for image in ("after", "before")
    ]

    def refused(image: Tree) -> Tree:
        def alone(name: Tree) -> Tree:
            one = call("to_json", call("map", name, call("try_element_at", image, name)))
            return given(part(from_json(one, schema), WRONG))

        def told(name: Tree) -> Tree:
            value = call("try_variant_get", call("try_element_at", image, name), "$", "string")
            shown = call("left", value, number(SHOWN))
            return concat('field "', name, '" is of another type than the column: ', shown)

        wrong = each("filter", call("map_keys", image), alone)
        return let(call("try_element_at", wrong, number(1)), told)

    all_told = each("filter", each("transform", call("array", *images), refused), given)
    other = concat("the value is not an event of Debezium: ", call("left", look.said, number(SHOWN)))
    return first_of(call("try_element_at", all_told, number(1)), other)


def _halves(event: Envelope, table: Table, error: Tree, before: Made, after: Made) -> Tree:
    """0 for what goes, 1 for what comes; none for events that are about no row."""
    zero, one, both_of = (
        call("array", number(0)),
        call("array", number(1)),
        call("array", number(0), number(1)),
    )
    if table.key:
        news = dict(zip([name for name, _ in table.after], after.values, strict=True))
        moved = [
            exp.NEQ(this=old.copy(), expression=news[name].copy())
            for (name, _), old in zip(table.before, before.values, strict=True)
        ]
        pair = both(equals(event.op, text("u")), either(*moved))
    else:
        pair = equals(event.op, text("u"))
    skipped = table.options.ignore_parse_errors
    nothing = each("filter", zero, lambda x: exp.false())
    return case(
        (given(error), nothing if skipped else zero),
        (pair, both_of),
        (in_list(event.op, list(map(text, _CAME))), one),
        (in_list(event.op, [text("d"), text("t")]), zero),
        default=nothing,
    )


def _values(table: Table, half: Tree, before: Made, after: Made) -> dict[str, Tree]:
    olds = {name: value for (name, _), value in zip(table.before, before.values, strict=True)}
    goes = equals(half, number(0))
    values = {}
    for (name, _), new in zip(table.after, after.values, strict=True):
        values[name] = case((goes, olds[name]), default=new) if name in olds else case((negated(goes), new))
    return values


def _kind(event: Envelope, table: Table, half: Tree) -> Tree:
    goes, comes = (DELETE_KEY, UPSERT) if table.key else (DELETE, INSERT)
    return case(
        (equals(event.op, text("t")), text(TRUNCATE)),
        (equals(half, number(0)), text(goes)),
        default=text(comes),
    )


def source_at(event: Envelope) -> Tree:
    """Where an event stands in the log of its database; rows of a snapshot stand nowhere.

    Of Postgres the commit before the event's transaction comes first: the place of the event alone goes back and
    forth between transactions that ran at the same time.
    """
    connector = part(event.source, "connector")
    sequence = call("translate", part(event.source, "sequence"), '[]" ', "")
    places = [
        call("substring_index", sequence, ",", number(1)),
        call("substring_index", sequence, ",", exp.Neg(this=number(1))),
    ]
    commit, place = (first_of(try_cast(p, "bigint"), cast(number(0), "bigint")) for p in places)
    number_of_file = try_cast(
        call("substring_index", part(event.source, "file"), ".", exp.Neg(this=number(1))), "bigint"
    )
    binlog = call("array", number_of_file, part(event.source, "pos"), part(event.source, "row"))
    streamed = exp.NEQ(this=event.op.copy(), expression=text("r"))
    is_postgres = both(streamed, equals(connector, text("postgresql")))
    is_mysql = both(streamed, in_list(connector, [text("mysql"), text("mariadb")]), given(number_of_file))
    return case(
        (both(is_postgres, given(part(event.source, "sequence"))), call("array", commit, place)),
        (is_mysql, binlog),
    )
