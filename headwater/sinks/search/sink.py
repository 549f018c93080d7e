"""Connectors 'elasticsearch-7', 'elasticsearch-8' and 'opensearch': all indices of one cluster.

Documents carry the batch id as their version: a batch that comes again changes nothing, and a late write of a
process that was replaced never wins over a newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError, placed
from headwater.formats.encode import json_text
from headwater.formats.kinds import JsonFormat
from headwater.options import options_of, read_options, revealed
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import by_table
from headwater.sinks.search import batches
from headwater.sinks.search.bulk import Limits, send
from headwater.sinks.search.client import Client, Unreachable
from headwater.sinks.search.documents import Target, actions
from headwater.sinks.search.indices import Indices
from headwater.sinks.search.names import check_key, fixed_name, index_name
from headwater.sinks.search.options import Elasticsearch7Options, SearchOptions, bytes_of, group_of
from headwater.sinks.search.patience import Patient, pauses_of
from headwater.sinks.search.troubles import unreachable

OPEN_SECONDS = 30.0
"""How long a cluster that answers may refuse at the start."""

EMPTY = (
    "delete its indices and run POST /headwater_batches/_delete_by_query"
    ' {{"query": {{"term": {{"pipeline": "{pipeline}"}}}}}} there'
)

SHARED = (
    "username",
    "password",
    "connection.path-prefix",
    "connection.timeout",
    "socket.timeout",
    "ssl.ca.location",
    "allow-insecure",
)
"""The options that must be the same for all tables of a cluster: they go over one connection."""


class SearchSink:
    """Writes the documents of each batch, and then that it is in."""

    def __init__(self, targets: Sequence[Target], patient: Patient, owner: batches.Owner) -> None:
        self._targets = {target.table.name: target for target in targets}
        self._patient, self._owner = patient, owner
        self._place = targets[0].table.place
        self._indices = Indices(patient)
        for target in targets:
            name = fixed_name(target.name)
            if name is not None:
                self._indices.ensure(target.table, name)
        batches.prepare(patient, self._place)
        self._last = batches.last(patient, owner, place=self._place)
        patient.goes_on()

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; goes on by itself when nodes that were away or full take documents again."""
        if self._last is not None and batch_id <= self._last:
            return
        for name, change_set in sorted(by_table(changes).items()):
            self._write(self._targets[name], change_set, batch_id)
        batches.advance(self._patient, self._owner, batch_id, place=self._place)
        self._patient.goes_on()
        self._last = batch_id

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that the cluster holds."""
        return self._last

    def close(self) -> None:
        """Close the connections."""
        self._patient.client.close()

    def _write(self, target: Target, changes: ChangeSet, batch_id: int) -> None:
        place, limits = target.table.place, _limits(target.table)
        for found in actions(target, changes, batch_id=batch_id, owner=self._owner.pipeline):
            for index in found.indices:
                self._indices.ensure(target.table, index)
            send(self._patient, found.lines, limits=limits, place=place)


def open_sink(tables: Sequence[SinkTable], context: SinkContext) -> SearchSink:
    """Check every table, make indices that are missing, and see how far the pipeline has come."""
    first = tables[0]
    for table in tables[1:]:
        _check_same(first, table)
    owner = batches.Owner(context.pipeline, group_of(first.options))
    targets = [_target(table) for table in tables]
    # The address stays hidden in messages if it came from a reference.
    client = Client(replace(targets[0].table.options, hosts=first.options.hosts), first.place)
    patient = Patient(client, pauses_of(targets[0].table.options), waits=context.waits)
    try:
        with placed(first.place):
            client.ask("HEAD", "/")
            patient.within(OPEN_SECONDS)
            sink = SearchSink(targets, patient, owner)
            patient.within(None)
            return sink
    except Unreachable as problem:
        client.close()
        raise unreachable(problem, first.place) from problem
    except Exception:
        client.close()
        raise


def _check(table: SinkTable) -> None:
    _target(table)


def _target(table: SinkTable) -> Target:
    plain = replace(table, options=revealed(table.options))
    if not plain.schema.key and not plain.append_only:
        raise SinkError(
            f"sink table '{table.name}' needs a primary key",
            detail="The query that writes to it updates or deletes rows, and without a key nobody knows which "
            "document a row is.",
            hint="Add PRIMARY KEY (...) NOT ENFORCED to the table.",
            place=table.place,
        )
    check_key(plain)
    _limits(plain)
    given = {f"json.{name}": text for name, text in plain.options.json.items()}
    form = read_options(JsonFormat, given, owner="format 'json'", place=table.place, prefix="json.")
    return Target(plain, index_name(plain), json_text(form))


def _limits(table: SinkTable) -> Limits:
    options: SearchOptions = table.options
    size = bytes_of(options.max_size, name="sink.bulk-flush.max-size", place=table.place)
    return Limits(options.max_actions, size)


def _check_same(one: SinkTable, other: SinkTable) -> None:
    for spec, field in options_of(SearchOptions):
        differ = getattr(one.options, field.name) != getattr(other.options, field.name)
        if spec.name in SHARED and differ:
            raise SinkError(
                f"sink tables '{one.name}' and '{other.name}' lie on one cluster and differ in '{spec.name}'",
                detail="All tables of a cluster are written over one connection.",
                hint="Give both the same value.",
                place=other.place,
            )


def _type(options: type[SearchOptions]) -> SinkType:
    return SinkType(
        options=options, group=group_of, open=open_sink, check=_check, family="search", empty=EMPTY
    )


SEARCH_TYPES: dict[str, SinkType] = {
    "elasticsearch-7": _type(Elasticsearch7Options),
    "elasticsearch-8": _type(SearchOptions),
    "opensearch": _type(SearchOptions),
}
