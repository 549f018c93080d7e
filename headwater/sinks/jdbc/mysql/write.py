"""The changes of one table, written inside a transaction that someone else commits.

Keys that are gone are deleted first, then new rows are upserted: so two rows that swap their keys, and
`id = id + 1` over a whole table, lose nothing. Where another unique index could take a new row for an old one, all
rows that change are deleted first and then inserted, so that the index refuses instead of overwriting. Only the
keys of a change set are held at once, as Arrow; its rows go by in pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.by_key import two_rows
from headwater.sinks.jdbc.mysql import statements
from headwater.sinks.jdbc.mysql.literals import NoPlace, joined, literals
from headwater.sinks.jdbc.mysql.statements import KEYS_AT_ONCE, Runner
from headwater.sinks.jdbc.mysql.target import Target
from headwater.sinks.jdbc.pieces import checked


def write_changes(cursor: Any, target: Target, changes: ChangeSet, *, packet: int) -> None:
    """Apply a change set to its table; no statement is larger than `packet` bytes."""
    if not changes.count:
        return
    runner = Runner(cursor, target, packet=packet)
    if not target.key:
        _insert(runner, target, changes, winners=None)
        return
    old, new = _keys(target, changes)
    winners = _winners(target, changes, new)
    ended = _without(old, new)
    going = pa.chunked_array([*ended.chunks, *new.chunks], pa.string()) if target.replaces else ended
    _delete(runner, target, going)
    _insert(runner, target, changes, winners=winners)


def _keys(target: Target, changes: ChangeSet) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """The keys of all rows that go, and of all that come."""
    old, new = [], []
    for batch in _pieces(target, changes):
        found = _key_of(target, batch)
        comes = pc.greater(batch.column(WEIGHT), 0)
        old.append(found.filter(pc.invert(comes)))
        new.append(found.filter(comes))
    return pa.chunked_array(old, pa.string()), pa.chunked_array(new, pa.string())


def _key_of(target: Target, batch: pa.RecordBatch) -> pa.Array:
    return statements.keys(target, _literals(target, batch.select(target.table.schema.key), of_key=True))


def _winners(target: Target, changes: ChangeSet, new: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Which of the rows that come are written, by number; None if all are.

    Two rows of one key are an error, unless rows only ever come: then the last wins.
    """
    if pc.count_distinct(new).as_py() == len(new):
        return None
    numbered = pa.table({"key": new, "n": pa.array(range(len(new)), pa.int64())})
    grouped = numbered.group_by("key").aggregate([("n", "max"), ("n", "count")])
    if not target.table.append_only:
        twice = grouped.filter(pc.greater(grouped["n_count"], 1))["key"][0].as_py()
        raise _two_rows(target, changes, twice)
    return grouped["n_max"]


def _two_rows(target: Target, changes: ChangeSet, key: str) -> SinkError:
    names = target.table.schema.names
    rows: list[tuple[object, ...]] = []
    for batch in _pieces(target, changes):
        wanted = pc.and_(pc.greater(batch.column(WEIGHT), 0), pc.equal(_key_of(target, batch), key))
        rows += [tuple(row[name] for name in names) for row in batch.filter(wanted).to_pylist()]
    values = [rows[0][names.index(name)] for name in target.table.schema.key]
    return two_rows(target.table, values, rows[:2])


def _without(old: pa.ChunkedArray, new: pa.ChunkedArray) -> pa.ChunkedArray:
    return old.filter(pc.invert(pc.is_in(old, value_set=new.combine_chunks())))


def _delete(runner: Runner, target: Target, going: pa.ChunkedArray) -> None:
    rows = (row for chunk in going.chunks for row in chunk.cast(pa.binary()).to_pylist())
    tree, glue = statements.delete(target), statements.between(target)
    for _ in runner.run(tree, rows, glue=glue, at_once=KEYS_AT_ONCE):
        pass


def _insert(runner: Runner, target: Target, changes: ChangeSet, *, winners: pa.ChunkedArray | None) -> None:
    tree = statements.insert(target)
    for batch in _coming(target, changes, winners):
        rows = joined(_literals(target, batch), ",", around=("(", ")")).cast(pa.binary()).to_pylist()
        for _ in runner.run(tree, rows, glue=b","):
            pass
        if any(column.folds for column in target.key):
            _check_keys_apart(runner, target, batch)


def _coming(target: Target, changes: ChangeSet, winners: pa.ChunkedArray | None) -> Iterator[pa.RecordBatch]:
    """The rows that are written, in pieces."""
    number = 0
    for batch in _pieces(target, changes):
        coming = batch.filter(pc.greater(batch.column(WEIGHT), 0))
        numbers = pa.array(range(number, number + len(coming)), pa.int64())
        number += len(coming)
        if winners is not None:
            coming = coming.filter(pc.is_in(numbers, value_set=winners.combine_chunks()))
        if len(coming):
            yield coming


def _check_keys_apart(runner: Runner, target: Target, batch: pa.RecordBatch) -> None:
    """See that the server took no key for another one, as `Ann` for `ann` where case does not count."""
    folding = [column for column in target.key if column.folds]
    names = target.table.schema.names
    at = [target.columns.index(column) for column in folding]
    given = Counter(zip(*(batch.column(place).to_pylist() for place in at), strict=True))
    found: Counter[tuple[object, ...]] = Counter()
    rows = _key_of(target, batch).cast(pa.binary()).to_pylist()
    tree, glue = statements.select(target, folding), statements.between(target)
    for _ in runner.run(tree, rows, glue=glue, at_once=KEYS_AT_ONCE):
        found.update(tuple(row) for row in runner.cursor.fetchall())
    for key in given - found:
        said = ", ".join(f"{names[place]} = '{value}'" for place, value in zip(at, key, strict=True))
        other = next(iter(found - given), None)
        raise SinkError(
            f"the key {said} of sink table '{target.table.name}' is another one to MySQL",
            detail=(f"It takes it for '{', '.join(map(str, other))}'. " if other else "")
            + f"Column {folding[0].name} has the collation {folding[0].collation}, in which different texts are equal.",
            hint=f"Give the column the collation {_EXACT_HINT}.",
            place=target.table.place,
        )


_EXACT_HINT = "utf8mb4_0900_bin (MySQL) or utf8mb4_nopad_bin (MariaDB)"


def _literals(target: Target, batch: pa.RecordBatch, *, of_key: bool = False) -> list[pa.Array]:
    try:
        return literals(batch, target.key if of_key else target.columns)
    except NoPlace as error:
        raise SinkError(
            f"column '{error.column}' of table '{target.name.shown}' cannot hold a value of sink table "
            f"'{target.table.name}'",
            detail=error.what,
            hint=error.hint,
            place=target.table.place,
        ) from None


def _pieces(target: Target, changes: ChangeSet) -> Iterator[pa.RecordBatch]:
    return checked(target.table, changes, null_key=lambda name: _null_key(target, name))


def _null_key(target: Target, name: str) -> SinkError:
    return SinkError(
        f"key column '{name}' of sink table '{target.table.name}' is NULL in a row",
        detail="A unique index of MySQL takes no two NULLs for the same, so the row could not be found again.",
        hint="Replace NULL in the query with COALESCE.",
        place=target.table.place,
    )
