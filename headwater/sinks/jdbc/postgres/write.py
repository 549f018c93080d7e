"""The changes of one table, written inside a transaction that someone else commits.

Keys that are gone are deleted first, then new rows are upserted: so two rows that swap their keys, and
`id = id + 1` over a whole table, lose nothing. Where another unique index could refuse a row for a value that
has yet to leave its old row, all rows that change are deleted first. Few rows go as VALUES; many are streamed with
COPY.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg2
import pyarrow as pa
from psycopg2 import sql
from psycopg2.errors import UniqueViolation
from psycopg2.extras import execute_values

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.by_key import by_key, two_rows
from headwater.sinks.jdbc.pieces import checked, lowest_weight
from headwater.sinks.jdbc.postgres.encode import cells, csv, texts
from headwater.sinks.jdbc.postgres.target import Target
from headwater.sinks.jdbc.postgres.types import TargetColumn

SMALL_ROWS = 1_000
"""Up to so many changes are sent as VALUES: a temporary table would cost more than it saves."""

STAGE = sql.Identifier("pg_temp", "headwater_stage")
ORDER = sql.Identifier("__hw_order")
WEIGHT_NAME = sql.Identifier(WEIGHT)


def write_changes(cursor: Any, target: Target, changes: ChangeSet) -> None:
    """Apply a change set to its table."""
    if not changes.count:
        return
    if changes.count <= SMALL_ROWS:
        _write_few(cursor, target, changes)
    elif not target.key:
        _copy(cursor, target.identifier, names(target.columns), _rows(target, changes))
    elif _is_first_load(cursor, target, changes):
        _load(cursor, target, changes)
    else:
        _write_staged(cursor, target, changes)


def _write_few(cursor: Any, target: Target, changes: ChangeSet) -> None:
    rows = [row for batch in _checked(target, changes) for row in cells(batch, target.columns)]
    if not target.key:
        _insert_values(cursor, target, [row for row, _ in rows])
        return
    grouped = by_key(target.table, rows)
    going = [*grouped.gone, *(grouped.come if target.replaces else ())]
    if going:
        head = sql.SQL("DELETE FROM {} AS t USING (VALUES").format(target.identifier)
        given = [sql.Identifier(f"k{number}") for number in range(len(target.key))]
        tail = sql.SQL(") AS s ({}) WHERE {}").format(
            sql.SQL(", ").join(given), _same_key(target, [sql.SQL("s.{}").format(name) for name in given])
        )
        _execute_values(cursor, head, tail, going)
    if grouped.come:
        _insert_values(cursor, target, list(grouped.come.values()))


def _insert_values(cursor: Any, target: Target, rows: Sequence[Sequence[object]]) -> None:
    given = [sql.Identifier(f"c{number}") for number in range(len(target.columns))]
    casts = [
        sql.SQL("s.{}::{}").format(name, sql.SQL(column.type))
        for name, column in zip(given, target.columns, strict=True)
    ]
    head = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM (VALUES").format(
        target.identifier, names(target.columns), sql.SQL(", ").join(casts)
    )
    tail = sql.SQL(") AS s ({}){}").format(sql.SQL(", ").join(given), _on_conflict(target))
    _execute_values(cursor, head, tail, rows)


def _execute_values(
    cursor: Any, head: sql.Composable, tail: sql.Composable, rows: Sequence[Sequence[object]]
) -> None:
    # A percent sign in a name would be taken for a placeholder.
    before, after = (part.as_string(cursor).replace("%", "%%") for part in (head, tail))
    execute_values(cursor, f"{before} %s {after}", rows, page_size=len(rows))


def _is_first_load(cursor: Any, target: Target, changes: ChangeSet) -> bool:
    """True if the table is empty and rows only come: then COPY goes straight into it."""
    if target.table.append_only or any(lowest_weight(batch) < 0 for batch in changes.batches()):
        return False
    cursor.execute(sql.SQL("SELECT NOT EXISTS (SELECT FROM {})").format(target.identifier))
    return bool(cursor.fetchone()[0])


def _load(cursor: Any, target: Target, changes: ChangeSet) -> None:
    try:
        _copy(cursor, target.identifier, names(target.columns), _rows(target, changes))
    except UniqueViolation as error:
        # The table was empty, so the other row of the key is one of ours, unless another index refused.
        said = re.fullmatch(r"Key \((.*)\)=\((.*)\) already exists\.", error.diag.message_detail or "")
        columns = said.group(1).replace('"', "").split(", ") if said else []
        if said is None or sorted(columns) != sorted(column.name for column in target.key):
            raise
        raise two_rows(target.table, said.group(2).split(", ")) from None


def _write_staged(cursor: Any, target: Target, changes: ChangeSet) -> None:
    columns, key = names(target.columns), names(target.key)
    words = {
        "t": target.identifier,
        "stage": STAGE,
        "columns": columns,
        "key": key,
        "w": WEIGHT_NAME,
        "n": ORDER,
    }
    cursor.execute(
        sql.SQL(
            "CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS "
            "SELECT {columns}, 0::smallint AS {w}, 0::bigint AS {n} FROM {t} WITH NO DATA"
        ).format(name=sql.Identifier(STAGE.strings[1]), **words)
    )
    _copy(cursor, STAGE, sql.SQL("{columns}, {w}, {n}").format(**words), _ordered(target, changes))
    cursor.execute(sql.SQL("ANALYZE {}").format(STAGE))
    if not target.table.append_only:
        _check_one_row_each(cursor, target, words)
    _delete_staged(cursor, target, words)
    last_wins = sql.SQL("DISTINCT ON ({key})").format(**words) if target.table.append_only else sql.SQL("")
    in_order = (
        sql.SQL("ORDER BY {key}, {n} DESC").format(**words) if target.table.append_only else sql.SQL("")
    )
    cursor.execute(
        sql.SQL(
            "INSERT INTO {t} ({columns}) "
            "SELECT {last_wins} {columns} FROM {stage} WHERE {w} > 0 {in_order}{conflict}"
        ).format(last_wins=last_wins, in_order=in_order, conflict=_on_conflict(target), **words)
    )
    cursor.execute(sql.SQL("DROP TABLE {}").format(STAGE))


def _delete_staged(cursor: Any, target: Target, words: dict[str, sql.Composable]) -> None:
    ended = sql.SQL("" if target.replaces else " HAVING max({w}) < 0").format(**words)
    cursor.execute(
        sql.SQL(
            "DELETE FROM {t} AS t USING (SELECT {key} FROM {stage} GROUP BY {key}{ended}) AS s WHERE {same}"
        ).format(
            ended=ended,
            same=_same_key(target, [sql.Identifier("s", column.name) for column in target.key]),
            **words,
        )
    )


def _check_one_row_each(cursor: Any, target: Target, words: dict[str, sql.Composable]) -> None:
    cursor.execute(
        sql.SQL("SELECT {key} FROM {stage} WHERE {w} > 0 GROUP BY {key} HAVING count(*) > 1 LIMIT 1").format(
            **words
        )
    )
    key = cursor.fetchone()
    if key is None:
        return
    match = sql.SQL(" AND ").join(
        sql.SQL("{} IS NOT DISTINCT FROM %s::{}").format(sql.Identifier(column.name), sql.SQL(column.type))
        for column in target.key
    )
    cursor.execute(
        sql.SQL("SELECT {columns} FROM {stage} WHERE {w} > 0 AND {match} ORDER BY {n} LIMIT 2").format(
            match=match, **words
        ),
        key,
    )
    raise two_rows(target.table, key, cursor.fetchall())


def _copy(cursor: Any, into: sql.Identifier, columns: sql.Composable, pieces: Iterator[bytes]) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN WITH (FORMAT csv)").format(into, columns)
    stream = Stream(pieces)
    try:
        cursor.copy_expert(statement, stream)
    except psycopg2.Error:
        # The driver turns whatever happens while it reads into an error of its own.
        if stream.error is not None:
            raise stream.error from None
        raise


def _rows(target: Target, changes: ChangeSet) -> Iterator[bytes]:
    for batch in _checked(target, changes):
        yield csv(texts(batch, target.columns))


def _ordered(target: Target, changes: ChangeSet) -> Iterator[bytes]:
    number = 0
    for batch in _checked(target, changes):
        order = pa.array(range(number, number + len(batch)), pa.int64()).cast(pa.string())
        number += len(batch)
        yield csv([*texts(batch, target.columns), batch.column(WEIGHT).cast(pa.string()), order])


def _checked(target: Target, changes: ChangeSet) -> Iterator[pa.RecordBatch]:
    null_key = None if target.nulls_equal else lambda name: _null_key(target, name)
    return checked(target.table, changes, null_key=null_key)


def _null_key(target: Target, name: str) -> SinkError:
    key = ", ".join(column.name for column in target.key)
    return SinkError(
        f"key column '{name}' of sink table '{target.table.name}' is NULL in a row",
        detail=f"The unique index of {target.schema}.{target.name} takes no two NULLs for the same, "
        "so the row could not be found again.",
        hint=f"Replace NULL in the query with COALESCE, or make the index UNIQUE NULLS NOT DISTINCT ({key}).",
        place=target.table.place,
    )


def names(columns: Sequence[TargetColumn]) -> sql.Composable:
    """The names of columns, with commas."""
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)


def _same_key(target: Target, given: Sequence[sql.Composable]) -> sql.Composable:
    # A plain equality can use the index; NULLs that count as equal need the longer test.
    test = "{t} = {s}::{type}" if not target.nulls_equal else "{t} IS NOT DISTINCT FROM {s}::{type}"
    return sql.SQL(" AND ").join(
        sql.SQL(test).format(t=sql.Identifier("t", column.name), s=text, type=sql.SQL(column.type))
        for column, text in zip(target.key, given, strict=True)
    )


def _on_conflict(target: Target) -> sql.Composable:
    if not target.key:
        return sql.SQL("")
    others = [column for column in target.columns if column not in target.key]
    if not others:
        return sql.SQL(" ON CONFLICT ({}) DO NOTHING").format(names(target.key))
    sets = sql.SQL(", ").join(
        sql.SQL("{name} = excluded.{name}").format(name=sql.Identifier(column.name)) for column in others
    )
    return sql.SQL(" ON CONFLICT ({}) DO UPDATE SET {}").format(names(target.key), sets)


class Stream:
    """Pieces of bytes as the file that COPY reads: never more than one piece in memory."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")
        self.error: BaseException | None = None
        """What went wrong while a piece was made."""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        while not self._rest:
            try:
                piece = next(self._pieces, None)
            except BaseException as error:
                self.error = error
                raise
            if piece is None:
                return b""
            self._rest = memoryview(piece)
        taken, self._rest = self._rest[:size], self._rest[size:]
        return bytes(taken)
