"""Values of enums that got another name, of which the server's log says nothing: rows that are stored keep the old one.

    ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'

Each value has a number that stays. So the names are remembered, and looked at; a value that is new takes nothing away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headwater.log.losses import Loss
from headwater.log.shards import declared_name
from headwater.log.store import LogWriter
from headwater.sources.postgres.config import CaptureTable

Labels = Mapping[str, Mapping[int, str]]
"""By column of a table at the server the names of what it can hold, by their number."""

_KEPT = "labels "
"""Under this and the name of a table the manifest remembers them."""

_LABELS = (
    # What a column is made of: below domains, and within arrays.
    "WITH RECURSIVE made AS (SELECT a.attrelid, a.attname, a.atttypid AS kind FROM pg_attribute a"
    " WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped"
    " UNION SELECT m.attrelid, m.attname, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END"
    " FROM made m JOIN pg_type t ON t.oid = m.kind AND (t.typtype = 'd' OR t.typelem <> 0))"
    " SELECT m.attrelid::bigint, m.attname, e.oid::bigint, e.enumlabel"
    " FROM made m JOIN pg_enum e ON e.enumtypid = m.kind ORDER BY 1, 2, 3"
)


def labels_of(cursor: Any, tables: Sequence[int]) -> dict[int, dict[str, dict[int, str]]]:
    """The names for some tables, by their number; those without enums are not among them."""
    cursor.execute(_LABELS, (list(tables),))
    found: dict[int, dict[str, dict[int, str]]] = {}
    for table, column, number, label in cursor.fetchall():
        found.setdefault(table, {}).setdefault(column, {})[number] = label
    return found


def renamed(before: Labels, now: Labels) -> dict[str, tuple[str, str]]:
    """Of each column in which a value got another name, the old and the new one."""
    return {
        column: (label, labels[number])
        for column, labels in now.items()
        for number, label in before.get(column, {}).items()
        if labels.get(number, label) != label
    }


def label_losses(table: CaptureTable, columns: Mapping[str, str], before: Labels, now: Labels) -> list[Loss]:
    """The declared columns that hold a name which is no more; `columns` says what each is called at the server."""
    changed = renamed(before, now)
    again = (
        f"Stop, let the table be read again (headwater resnapshot {declared_name(table.name)}), and start."
    )
    return [
        Loss(
            table.name,
            column,
            f"a value of column '{column}' of table '{table.shown}' was renamed",
            "It was '{}' and is now '{}' (ALTER TYPE ... RENAME VALUE); the log does not tell which rows have it.".format(
                *changed[found]
            ),
            again,
        )
        for column, found in columns.items()
        if found in changed
    ]


def remember_labels(log: LogWriter, table: str, labels: Labels) -> None:
    """Keep them as they were when the table was read, with those that are new."""
    log.manifest.remember(_KEPT + table, json.dumps(labels))


def recall_labels(log: LogWriter, table: str) -> Labels | None:
    """What was kept; None of a table that an older version has read."""
    said = log.manifest.recall(_KEPT + table)
    if said is None:
        return None
    return {
        column: {int(number): str(label) for number, label in labels.items()}
        for column, labels in json.loads(said).items()
    }
