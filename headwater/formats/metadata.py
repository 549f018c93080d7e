"""Metadata columns: what a message says besides its value."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.errors import OptionError
from headwater.formats.trees import (
    Tree,
    call,
    case,
    cast,
    column,
    each,
    each_at,
    equals,
    negated,
    null,
    number,
    part,
    text,
)
from headwater.nearest import nearest

METADATA = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestamp-type": "string",
    "leader-epoch": "int",
    "headers": "map<string,binary>",
    "key": "binary",
    "value.schema": "string",
    "value.ingestion-timestamp": "timestamp",
    "value.source.timestamp": "timestamp",
    "value.source.database": "string",
    "value.source.schema": "string",
    "value.source.table": "string",
    "value.source.properties": "map<string,string>",
}
"""What METADATA columns can be taken from, and the type of each; `value.` is only there with debezium-json."""

_STAMPS = ((-1, "NoTimestampType"), (0, "CreateTime"), (1, "LogAppendTime"))


def broker_metadata() -> dict[str, Tree]:
    """What the broker says of every message, by Flink's names; `key` is ours: the bytes of the key."""
    kind = column("timestampType")
    return {
        "topic": column("topic"),
        "partition": column("partition"),
        "offset": column("offset"),
        "timestamp": column("timestamp"),
        "timestamp-type": case(*[(equals(kind, number(code)), text(name)) for code, name in _STAMPS]),
        "leader-epoch": null("int"),
        "headers": _headers(column("headers")),
        "key": column("key"),
    }


def debezium_metadata(said: Tree, *, source: Tree, ts_ms: Tree) -> dict[str, Tree]:
    """What Debezium says of every event besides, by Flink's names."""
    properties = call(
        "coalesce",
        call("get_json_object", said, "$.source"),
        call("get_json_object", said, "$.payload.source"),
    )
    return {
        **broker_metadata(),
        "value.schema": call("get_json_object", said, "$.schema"),
        "value.ingestion-timestamp": call("timestamp_millis", ts_ms),
        "value.source.timestamp": call("timestamp_millis", part(source, "ts_ms")),
        "value.source.database": part(source, "db"),
        "value.source.schema": part(source, "schema"),
        "value.source.table": part(source, "table"),
        "value.source.properties": call("from_json", properties, "map<string,string>"),
    }


def _headers(entries: Tree) -> Tree:
    """Headers as a map; of those with one name the last."""

    def is_last(entry: Tree, index: Tree) -> Tree:
        behind = call("slice", entries, exp.Add(this=index, expression=number(2)), call("size", entries))
        return negated(each("exists", behind, lambda other: equals(part(other, "key"), part(entry, "key"))))

    return call("map_from_entries", each_at("filter", entries, is_last))


def metadata_value(known: Mapping[str, Tree], name: str, *, kind: str, column_name: str) -> Tree:
    """The value of one metadata column, of its declared type."""
    if name not in known:
        near = nearest(name, known, cutoff=0.5)
        raise OptionError(
            f"column '{column_name}' is taken from '{name}', which a message does not have",
            detail=f"A message has {', '.join(known)}.",
            hint=f"Did you mean '{near}'?" if near else "Use one of these.",
        )
    return cast(known[name], kind)
