"""Changes of a batch, by table and then by key: what each key needs is its new row, or that it is gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.base import SinkTable

Row = tuple[object, ...]


@dataclass(frozen=True)
class ByKey:
    """`gone` are the last rows of keys that have none now; `come` are the new rows, one for each key."""

    gone: dict[Row, Row]
    come: dict[Row, Row]
    replaced: dict[Row, Row]
    """The old rows of keys in `come`."""


def by_table(changes: Sequence[ChangeSet]) -> dict[str, ChangeSet]:
    """One change set for each table: where several queries write one, a row of one may replace a row of another."""
    found: dict[str, ChangeSet] = {}
    for change_set in changes:
        before = found.get(change_set.relation)
        parts = (before.parts if before else ()) + change_set.parts
        found[change_set.relation] = ChangeSet(change_set.relation, change_set.schema, parts)
    return found


def by_key(table: SinkTable, rows: Iterable[tuple[Row, int]]) -> ByKey:
    """Group weighted rows by the table's key; two new rows of one key are an error that names it.

    Two rows that swap their keys, or `id = id + 1`, give new rows for the keys that go on and `gone` for the
    one that ends.
    """
    places = [table.schema.names.index(name) for name in table.schema.key]
    old: dict[Row, Row] = {}
    come: dict[Row, Row] = {}
    for row, weight in rows:
        key = tuple(row[place] for place in places)
        if weight < 0:
            old[key] = row
        elif key in come and not table.append_only:
            raise two_rows(table, key, (come[key], row))
        else:
            come[key] = row
    gone = {key: row for key, row in old.items() if key not in come}
    return ByKey(gone, come, {key: row for key, row in old.items() if key in come})


def two_rows(table: SinkTable, key: Sequence[object], rows: Sequence[Row] = ()) -> SinkError:
    """The error of two result rows that want one key."""
    return SinkError(
        f"two rows want the key {named(table.schema.key, key)} of sink table '{table.name}'",
        detail=" and ".join(named(table.schema.names, row) for row in rows) + "." if rows else "",
        hint="Make the key of the sink table as wide as what tells the rows of the query apart, "
        "or group the query by it.",
        place=table.place,
    )


def named(names: Sequence[str], values: Sequence[object]) -> str:
    """Values with their names: `(id, day) = (1, NULL)`."""
    said = ", ".join("NULL" if value is None else str(value) for value in values)
    return f"({', '.join(names)}) = ({said})"
