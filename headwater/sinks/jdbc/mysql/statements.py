"""Statements over many rows, each below what the server takes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.errors import SinkError
from headwater.sinks.jdbc.mysql.literals import joined
from headwater.sinks.jdbc.mysql.target import Target
from headwater.sinks.jdbc.mysql.types import MysqlColumn

STATEMENT_BYTES = 1_000_000
"""Larger statements are no faster."""

KEYS_AT_ONCE = 1_000
"""Up to so many keys the server looks up one by one; with many more it would read the whole table."""

ROWS = exp.Var(this="\0")
"""Where the rows of a statement will stand: no name can hold this character."""

MARGIN = 1_024
"""Bytes that the protocol adds to a statement, and more."""


def insert(target: Target) -> exp.Insert:
    """Rows that come; one whose key is there already takes its place."""
    names = [exp.to_identifier(column.name, quoted=True) for column in target.columns]
    tree = exp.Insert(
        this=exp.Schema(this=target.name.tree, expressions=names),
        expression=exp.Values(expressions=[ROWS.copy()]),
    )
    if target.key and not target.replaces:
        others = [column for column in target.columns if column not in target.key] or target.key[:1]
        tree.set("conflict", _overwrite(others))
    return tree


def _overwrite(columns: Sequence[MysqlColumn]) -> exp.OnConflict:
    names = [exp.column(column.name, quoted=True) for column in columns]
    # The one form that both MySQL and MariaDB understand.
    sets = [
        exp.EQ(this=name, expression=exp.Anonymous(this="VALUES", expressions=[name.copy()]))
        for name in names
    ]
    return exp.OnConflict(duplicate=True, action=exp.Var(this="UPDATE"), expressions=sets)


def delete(target: Target) -> exp.Delete:
    """Rows that go, by key."""
    return exp.delete(target.name.tree).where(_where(target))


def select(target: Target, columns: Sequence[MysqlColumn]) -> exp.Select:
    """Some columns of rows, by key."""
    wanted = [exp.column(column.name, quoted=True) for column in columns]
    return exp.select(*wanted).from_(target.name.tree).where(_where(target))


def keys(target: Target, parts: Sequence[pa.Array]) -> pa.Array:
    """Each row's key as it stands in a condition: a literal, or `(a = 1 AND b = 'x')` for several columns."""
    if len(parts) == 1:
        return parts[0]
    named = [
        joined([part], "", around=(f"{exp.column(column.name, quoted=True).sql(dialect='mysql')} = ", ""))
        for column, part in zip(target.key, parts, strict=True)
    ]
    return joined(named, " AND ", around=("(", ")"))


def between(target: Target) -> bytes:
    """What stands between two keys in a condition."""
    return b", " if len(target.key) == 1 else b" OR "


def _where(target: Target) -> exp.Expression:
    if len(target.key) == 1:
        return exp.column(target.key[0].name, quoted=True).isin(ROWS.copy())
    return exp.Paren(this=ROWS.copy())


class Runner:
    """Runs statements over many rows in the transaction of a cursor."""

    def __init__(self, cursor: Any, target: Target, *, packet: int) -> None:
        self.cursor, self._target = cursor, target
        self._most = min(STATEMENT_BYTES, packet - MARGIN)
        self._packet = packet - MARGIN

    def run(
        self, tree: exp.Expression, rows: Iterable[bytes], *, glue: bytes, at_once: int = STATEMENT_BYTES
    ) -> Iterator[list[bytes]]:
        """Run a statement over rows, a part of them at a time; gives each part after it ran."""
        before, after = (part.encode() for part in tree.sql(dialect="mysql").split(ROWS.name))
        frame = len(before) + len(after)
        for part in self._parts(rows, frame=frame, glue=glue, at_once=at_once):
            self.cursor.execute(before + glue.join(part) + after)
            yield part

    def _parts(
        self, rows: Iterable[bytes], *, frame: int, glue: bytes, at_once: int
    ) -> Iterator[list[bytes]]:
        part: list[bytes] = []
        size = frame
        for row in rows:
            if frame + len(row) > self._packet:
                raise self._too_large(len(row))
            if part and (size + len(row) > self._most or len(part) == at_once):
                yield part
                part, size = [], frame
            part.append(row)
            size += len(row) + len(glue)
        if part:
            yield part

    def _too_large(self, size: int) -> SinkError:
        table = self._target.table
        return SinkError(
            f"a row of sink table '{table.name}' is larger than MySQL takes at once",
            detail=f"It has {size} bytes, and max_allowed_packet of the server is {self._packet + MARGIN}.",
            hint="Raise max_allowed_packet at the server, or shorten the value in the query.",
            place=table.place,
        )
