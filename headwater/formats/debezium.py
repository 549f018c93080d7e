"""Change events of Debezium: what became of rows, with or without the row before."""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.columns import Field, Made, make
from headwater.formats.debezium_event import (
    Event,
    Table,
    has_event,
    no_event,
    read_event,
    table_of,
    transaction_of,
)
from headwater.formats.debezium_mend import images_of
from headwater.formats.debezium_names import Names, names_of
from headwater.formats.debezium_values import debezium_language, manner_of
from headwater.formats.layers import Layers
from headwater.formats.metadata import debezium_metadata
from headwater.formats.outputs import Events, Reading, events_query
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    concat,
    each,
    either,
    equals,
    given,
    in_list,
    is_null,
    negated,
    number,
    part,
    text,
)
from headwater.log.events import DELETE, DELETE_KEY, INSERT, TRUNCATE, UPSERT

_CAME, _KNOWN = ("c", "r", "u"), ("c", "r", "u", "d", "t", "m")

_WHICH = (
    'the event deletes a row, and neither its "before" nor the key of the message says which: the key of the table '
    "in the database must be its PRIMARY KEY here, or the table needs REPLICA IDENTITY FULL"
)
_BEFORE = (
    'the event has no "before": in the database the table needs REPLICA IDENTITY FULL, or here a PRIMARY KEY by '
    "which the row before is known"
)


def changelog(reading: Reading) -> exp.Query:
    """Events of rows as insert and delete; of a table with a key as upsert and delete_key."""
    layers, table = Layers("messages"), table_of(reading)
    event = read_event(layers, table)
    names = names_of(layers, event.schema, table.after)
    images = layers.put(images_of(event, table, names))
    after = _made(layers, part(images, "after"), event=event, table=table, names=names)
    before = _made(layers, part(images, "before"), event=event, table=table, names=names, lead="before.")
    error = layers.put(_error(event, table, before, after))
    half = layers.put(exp.Explode(this=_halves(event, table, error, before, after)))
    events = Events(
        _values(table, half, before, after),
        _kind(event, table, half),
        half,
        error,
        debezium_metadata(event.said, source=event.source, ts_ms=event.ts_ms),
        case((equals(half, number(1)), part(images, "unchanged"))) if table.key else None,
        event.source_at,
        event.source_ms,
        event.op,
        transaction_of(event.source),
    )
    return events_query(layers, reading, events, where=has_event())


def _made(layers: Layers, image: Tree, *, event: Event, table: Table, names: Names, lead: str = "") -> Made:
    """The typed columns of an image."""
    fields = []
    for name, shape in table.before if lead else table.after:
        manner = manner_of(name, shape, names, connector=event.connector, options=table.options)
        fields.append(
            Field(part(image, name), shape, debezium_language(table.options, manner), f"{lead}{name}")
        )
    return make(layers, fields)


def _error(event: Event, table: Table, before: Made, after: Made) -> Tree:
    """What is wrong with an event, NULL if nothing is."""
    came = in_list(event.op, list(map(text, _CAME)))
    # A message of Kafka Connect that says nothing has a payload, and nothing in it.
    says_nothing = call("array_contains", call("json_object_keys", event.said), "payload")
    unknown = both(given(event.op), negated(in_list(event.op, list(map(text, _KNOWN)))))
    branches = [
        (given(event.problem), event.problem),
        (both(is_null(event.op), negated(says_nothing)), no_event(event.said)),
        (unknown, concat('"op" is unknown: ', event.op)),
        (both(came, is_null(event.after)), text('the event has no "after"')),
    ]
    if not table.options.ignore_parse_errors:
        branches += [*after.wrongs, *before.wrongs]
    if not table.key:
        needs = in_list(event.op, [text("u"), text("d")])
        return case(*branches, (both(needs, is_null(event.before)), text(_BEFORE)))
    lacking = either(*[is_null(value) for value in before.values])
    branches.append((both(equals(event.op, text("d")), lacking), text(_WHICH)))
    for name in table.key:
        no_key = text(f'key column "{name}" is NULL or missing in "after"')
        branches.append((both(came, is_null(_by_name(table, after)[name])), no_key))
    return case(*branches)


def _by_name(table: Table, after: Made) -> dict[str, Tree]:
    return {name: value for (name, _), value in zip(table.after, after.values, strict=True)}


def _halves(event: Event, table: Table, error: Tree, before: Made, after: Made) -> Tree:
    """0 for what goes, 1 for what comes; none for events that are about no row."""
    zero, one, both_of = (call("array", *map(number, halves)) for halves in ((0,), (1,), (0, 1)))
    nothing = each("filter", zero, lambda x: exp.false())
    pair = equals(event.op, text("u"))
    if table.key:
        new = _by_name(table, after)
        moved = [
            exp.NEQ(this=old.copy(), expression=new[name].copy())
            for (name, _), old in zip(table.before, before.values, strict=True)
        ]
        pair = both(pair, either(*moved))
    return case(
        (given(error), nothing if table.options.ignore_parse_errors else zero),
        (pair, both_of),
        (in_list(event.op, list(map(text, _CAME))), one),
        (in_list(event.op, [text("d"), text("t")]), zero),
        default=nothing,
    )


def _values(table: Table, half: Tree, before: Made, after: Made) -> dict[str, Tree]:
    olds = {name: value for (name, _), value in zip(table.before, before.values, strict=True)}
    goes = equals(half, number(0))
    values = {}
    for name, new in _by_name(table, after).items():
        values[name] = case((goes, olds[name]), default=new) if name in olds else case((negated(goes), new))
    return values


def _kind(event: Event, table: Table, half: Tree) -> Tree:
    goes, comes = (DELETE_KEY, UPSERT) if table.key else (DELETE, INSERT)
    return case(
        (equals(event.op, text("t")), text(TRUNCATE)),
        (equals(half, number(0)), text(goes)),
        default=text(comes),
    )
