"""Change events of Debezium that are as most are: told quickly, and told apart from all others.

The whole of what an event may be takes a long query, and Spark plans it anew for every batch. This one is short. It
reads tables of numbers, booleans and texts, and marks what it does not understand (an envelope with its schema, a
placeholder, a value of another type, a missing row) with `UNREAD`; whoever meets the mark asks the long query.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.debezium_event import Envelope, source_at
from headwater.formats.json_messages import WRONG, from_json
from headwater.formats.kinds import DebeziumJson
from headwater.formats.layers import Layers
from headwater.formats.metadata import broker_metadata
from headwater.formats.outputs import Events, Reading, events_query
from headwater.formats.shapes import Atom, RowOf, Shape, type_text
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
    number,
    part,
    text,
)
from headwater.log.events import DELETE, DELETE_KEY, INSERT, UPSERT

UNREAD = "unread"
"""The error of a row that the long query has to look at."""

PLAIN = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string")
"""Types whose values every connector writes in one way."""

_MARKS = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ")
"""The placeholder, and how it begins in base64."""

_TEXT, _LONG = Atom("string"), Atom("bigint")
_SOURCE = RowOf(
    (
        *((name, _TEXT) for name in ("connector", "sequence", "file")),
        *((name, _LONG) for name in ("ts_ms", "lsn", "pos", "row")),
    )
)


def plain_changelog(reading: Reading) -> exp.Query | None:
    """The short query for a table, None if its columns or options need the long one."""
    options = reading.formats.value
    assert isinstance(options, DebeziumJson)
    has_value_metadata = any(name.startswith("value.") for name in reading.metadata.values())
    columns = [c for c in reading.schema if c.name not in reading.metadata]
    is_plain = all(c.type in PLAIN for c in columns) and not has_value_metadata
    if not is_plain or options.ignore_parse_errors or options.unavailable != _MARKS[0]:
        return None
    names, key = [c.name for c in columns], reading.schema.key
    layers = Layers("messages")
    said = layers.put(cast(column("value"), "string"))
    row = RowOf(tuple((c.name, Atom(c.type)) for c in columns))
    whole: tuple[tuple[str, Shape], ...] = (
        ("before", row),
        ("after", row),
        ("op", _TEXT),
        ("source", _SOURCE),
    )
    fast = layers.put(from_json(said, type_text(RowOf((*whole, ("payload", _TEXT), (WRONG, _TEXT))))))
    parts = {name: part(fast, name) for name in ("op", "before", "after", "source")}
    event = Envelope(**parts, ts_ms=part(parts["source"], "ts_ms"))
    error = layers.put(case((negated(_is_plain(said, fast, event, key)), text(UNREAD))))
    half = layers.put(exp.Explode(this=_halves(event, error, key)))
    goes, comes = (DELETE_KEY, UPSERT) if key else (DELETE, INSERT)
    is_old = equals(half, number(0))
    events = Events(
        {name: _value(event, name, is_old, is_told=not key or name in key) for name in names},
        case((is_old, text(goes)), default=text(comes)),
        half,
        error,
        broker_metadata(),
        None,
        source_at(event.op, event.source),
        event.ts_ms,
    )
    return events_query(layers, reading, events, where=_has_event())


def _is_plain(said: Tree, fast: Tree, event: Envelope, key: tuple[str, ...]) -> Tree:
    """True for events of rows that are there, whole, and without placeholders; never NULL."""
    came, gone = in_list(event.op, [text(op) for op in ("c", "r", "u")]), equals(event.op, text("d"))
    after = both(given(event.after), *[given(part(event.after, name)) for name in key])
    before = both(given(event.before), *[given(part(event.before, name)) for name in key])
    if key:
        is_whole = either(both(came, after), both(gone, before))
    else:
        alone = both(in_list(event.op, [text("c"), text("r")]), after)
        changed = both(equals(event.op, text("u")), before, after)
        is_whole = either(alone, changed, both(gone, before))
    found = both(
        given(fast),
        is_null(part(fast, WRONG)),
        is_null(part(fast, "payload")),
        call("is_valid_utf8", said),
        call("endswith", said, "}"),
        *[negated(call("contains", said, mark)) for mark in _MARKS],
        is_whole,
    )
    return call("coalesce", found, exp.false())


def _value(event: Envelope, name: str, is_old: Tree, *, is_told: bool) -> Tree:
    """A column of what goes or comes; of what goes by its key nothing else is told."""
    old, new = part(event.before, name), part(event.after, name)
    return case((is_old, old), default=new) if is_told else case((negated(is_old), new))


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


def _has_event() -> Tree:
    size = exp.GT(this=call("octet_length", column("value")), expression=number(0))
    return both(size, exp.NEQ(this=column("value"), expression=exp.HexString(this=b"null".hex().upper())))
