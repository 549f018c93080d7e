"""The envelope of a change event: what it is about, where it stands, and what is wrong with it as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.formats.debezium_names import SCHEMA
from headwater.formats.debezium_values import Manner, debezium_language, debezium_shape
from headwater.formats.json_messages import ANYTHING, WRONG, Fields, Look, from_json, look_at
from headwater.formats.kinds import DebeziumJson
from headwater.formats.layers import Layers
from headwater.formats.outputs import Reading
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
    null,
    number,
    part,
    row,
    text,
    try_cast,
)
from headwater.formats.values import SHOWN, Language, read_shape

_TEXT, _LONG = Atom("string"), Atom("bigint")
SOURCE = RowOf(
    (
        *(
            (name, _TEXT)
            for name in ("connector", "db", "schema", "table", "sequence", "file", "txId", "gtid")
        ),
        *((name, _LONG) for name in ("ts_ms", "pos", "row")),
    )
)
"""What is read of where an event comes from."""


@dataclass(frozen=True)
class Table:
    """What is read: all columns of the row after, and of the row before those that are needed."""

    options: DebeziumJson
    after: Fields
    before: Fields
    key: tuple[str, ...]
    reads: Language
    """What values are read as, which is the same in whatever manner they are written."""


def table_of(reading: Reading) -> Table:
    """What is to be read for a table."""
    options = reading.formats.value
    assert isinstance(options, DebeziumJson)
    own = [col for col in reading.schema if col.name not in reading.metadata]
    fields = tuple((col.name, debezium_shape(shape_of(col.type))) for col in own)
    key = reading.schema.key
    before = tuple(f for f in fields if f[0] in key) if key else fields
    return Table(options, fields, before, key, debezium_language(options, Manner(null("string"), number(1))))


def transaction_of(source: Tree) -> Tree:
    """The name of the transaction an event belongs to."""
    return first_of(part(source, "gtid"), part(source, "txId"))


def has_event() -> Tree:
    """A message without a value says that the key may be forgotten, which the event before it said already."""
    size = exp.GT(this=call("octet_length", column("value")), expression=number(0))
    return both(size, exp.NEQ(this=column("value"), expression=exp.HexString(this=b"null".hex().upper())))


@dataclass(frozen=True)
class Envelope:
    """What an event says of its row and of itself."""

    op: Tree
    before: Tree
    after: Tree
    source: Tree
    ts_ms: Tree


@dataclass(frozen=True)
class Event:
    """The parts of an event, wherever they stood."""

    said: Tree
    problem: Tree
    """Why it cannot be read, NULL if it can."""
    op: Tree
    before: Tree
    after: Tree
    source: Tree
    connector: Tree
    ts_ms: Tree
    source_ms: Tree
    source_at: Tree
    schema: Tree


def read_event(layers: Layers, table: Table) -> Event:
    """Parse the values of messages as events."""
    body: Fields = (
        ("before", RowOf(table.before)),
        ("after", RowOf(table.after)),
        ("op", _TEXT),
        ("ts_ms", _LONG),
        ("source", SOURCE),
    )
    fields = (*body, ("payload", RowOf(body)), ("schema", SCHEMA))
    look = look_at(layers, column("value"), fields, language=table.reads, what="value")

    def found(*path: str) -> Tree:
        outer, inner = look.fast, part(look.fast, "payload")
        for name in path:
            outer, inner = part(outer, name), part(inner, name)
        return first_of(outer, inner)

    op, source = layers.put(found("op")), layers.put(found("source"))
    connector = layers.put(found("source", "connector"))
    old = found("before")
    return Event(
        look.said,
        layers.put(look.again(lambda x: _problem(x, look, table))),
        op,
        layers.put(_row_before(found("op"), old, table) if table.key else old),
        layers.put(found("after")),
        source,
        connector,
        found("ts_ms"),
        layers.put(found("source", "ts_ms")),
        layers.put(source_at(op, source)),
        part(look.fast, "schema"),
    )


def _row_before(op: Tree, before: Tree, table: Table) -> Tree:
    """The key of the row before; a delete that does not carry it has it in the key of the message."""
    keys = tuple((name, read_shape(shape, table.reads)) for name, shape in table.before)
    schema = type_text(RowOf((*keys, ("payload", RowOf(keys)))))
    said = from_json(cast(column("key"), "string"), schema)
    lacking = either(*[is_null(part(before, name)) for name, _ in keys])

    def from_key(x: Tree) -> Tree:
        return row([(name, first_of(part(part(x, "payload"), name), part(x, name))) for name, _ in keys])

    wanted = both(equals(op, text("d")), lacking, given(column("key")))
    return case((wanted, let(said, from_key)), default=before)


def _problem(loose: Tree, look: Look, table: Table) -> Tree:
    """Why an event cannot be read: it is no JSON, or a field of a row is of another type than the column."""
    broken = look.broken(loose)
    if table.options.ignore_parse_errors:
        return broken
    refused = given(part(look.fast, WRONG))
    return first_of(broken, case((refused, _misfit(loose, look, table))))


def _misfit(loose: Tree, look: Look, table: Table) -> Tree:
    """Which field of the row after or before the parser refuses."""
    schema = type_text(read_shape(RowOf((*table.after, (WRONG, _TEXT))), table.reads))
    event = first_of(call("try_variant_get", call("try_element_at", loose, "payload"), "$", ANYTHING), loose)
    images = [
        call("try_variant_get", call("try_element_at", event, name), "$", ANYTHING)
        for name in ("after", "before")
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
    return first_of(call("try_element_at", all_told, number(1)), no_event(look.said))


def no_event(said: Tree) -> Tree:
    """The complaint about something else."""
    return concat("the value is not an event of Debezium: ", call("left", said, number(SHOWN)))


def source_at(op: Tree, source: Tree) -> Tree:
    """Where an event stands in the log of its database; rows of a snapshot stand nowhere.

    Of Postgres the commit before the event's transaction comes first (`["24023119","24023128"]`): the place of the
    event alone goes back and forth between transactions that ran at the same time.
    """
    connector, sequence = (part(source, name) for name in ("connector", "sequence"))
    behind = exp.Neg(this=number(1))
    first = call("substring_index", call("substring_index", sequence, '"', number(2)), '"', behind)
    last = call(
        "substring_index", call("substring_index", sequence, '"', exp.Neg(this=number(2))), '"', number(1)
    )
    zero = cast(number(0), "bigint")
    commit = case((call("startswith", sequence, '["'), try_cast(first, "bigint")), default=zero)
    file = try_cast(call("substring_index", part(source, "file"), ".", behind), "bigint")
    streamed = exp.NEQ(this=op.copy(), expression=text("r"))
    is_postgres = both(streamed, equals(connector, text("postgresql")))
    is_mysql = both(streamed, in_list(connector, [text("mysql"), text("mariadb")]), given(file))
    return case(
        (both(is_postgres, given(sequence)), call("array", commit, first_of(try_cast(last, "bigint"), zero))),
        (is_mysql, call("array", file, part(source, "pos"), part(source, "row"))),
    )
