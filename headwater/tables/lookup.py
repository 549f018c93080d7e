"""Where the rows with a value are in a large run, found without reading the run.

Beside a run that slices are cut from, two kinds of files say the same in another form: the values of a column in order,
each with the number of its row, and a column as it lies in memory. They are mapped, not read, so a slice costs what is in
it, however large the run is. Each is made when it is first asked for, and can be made again: nothing is lost with it,
so they are not synced, and a pipeline that is opened begins without them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from secrets import token_hex

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.tables.state import Run

LEAST_ROWS = 200_000
"""A smaller run is read. The limit is not measured."""

PART_ROWS = 1 << 19
"""So many rows are brought in order at once, and are in memory meanwhile."""

BATCH_ROWS = 1 << 14

PART_BYTES = 512 << 20
"""A column that takes more than this in a part is not kept as it lies in memory."""

FOLDER = "lookups"

_VALUE, _ROW = "value", "row"


class Missed(Enum):
    """Why there is no answer."""

    TOO_MANY = "more rows than were asked for"
    TOO_WIDE = "values too long to be kept as they lie in memory"


def has_order(kind: pa.DataType) -> bool:
    """True if values of a type can be looked up."""
    is_time = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or is_time)


def places(run: Run, column: str, wanted: pa.Array, *, limit: int) -> dict[int, pa.Array] | Missed:
    """Where in each part of a run the rows are whose `column` is among `wanted`, values that are all different.

    NULL meets NULL.
    """
    with pq.ParquetFile(run.path, memory_map=True) as file:
        schema = file.schema_arrow
    order = _made(run, schema.get_field_index(column), "order", _ordered)
    if order is None:
        return Missed.TOO_WIDE
    keys = wanted.cast(schema.field(column).type)
    found = {number: _places(part, keys) for number, part in _parts(order)}
    if sum(map(len, found.values())) > limit:
        return Missed.TOO_MANY
    return {number: where for number, where in found.items() if len(where)}


def values(
    run: Run, names: Sequence[str], where: Mapping[int, pa.Array]
) -> dict[str, pa.ChunkedArray] | Missed:
    """Columns of the rows at some places of a run."""
    with pq.ParquetFile(run.path, memory_map=True) as file:
        schema = file.schema_arrow
    columns: dict[str, pa.ChunkedArray] = {}
    for name in names:
        kept = _made(run, schema.get_field_index(name), "values", _as_they_lie)
        if kept is None:
            return Missed.TOO_WIDE
        taken = [part.column(0).take(where[number]) for number, part in _parts(kept, where)]
        columns[name] = pa.chunked_array(taken, schema.field(name).type)
    return columns


def forget(run: Run) -> None:
    """Remove what was kept beside a run that is gone."""
    for folder in (run.path.parent / FOLDER).glob(f"{run.path.stem}-*"):
        shutil.rmtree(folder)


def forget_all(folder: Path) -> None:
    """Remove what was kept beside the runs of all relations in a folder, former ones too."""
    # A relation may have this name itself, so it is looked for only where runs lie: of a relation, or of a turn of one.
    for kept in [*folder.glob(f"*/{FOLDER}"), *folder.glob(f"*/t*/{FOLDER}")]:
        shutil.rmtree(kept)


def _home(run: Run) -> Path:
    """Where the files of a run are; one that was written anew under its old name has others."""
    return run.path.parent / FOLDER / f"{run.path.stem}-{run.path.stat().st_mtime_ns}"


def _places(part: pa.RecordBatch, wanted: pa.Array) -> pa.Array:
    """The numbers of the rows of a part that have a wanted value, in order: as one finds them who reads the run."""
    values, rows = part.column(_VALUE), part.column(_ROW)
    first, behind = (pc.search_sorted(values, wanted.drop_null(), side=side) for side in ("left", "right"))
    found = _spread(first.cast(pa.int64()), pc.subtract(behind, first).cast(pa.int64()))
    if wanted.null_count and values.null_count:
        # They are last in order.
        found = pa.concat_arrays([found, _count_up(values.null_count, len(values) - values.null_count)])
    numbers = rows.take(found)
    return numbers.take(pc.array_sort_indices(numbers))


def _spread(begins: pa.Array, counts: pa.Array) -> pa.Array:
    """From each beginning as many numbers as counted."""
    some = pc.greater(counts, 0)
    begins, counts = begins.filter(some), counts.filter(some)
    if len(counts) == 0 or pc.max(counts).as_py() == 1:
        return begins
    ends = pc.cumulative_sum(counts)
    shifts = pc.subtract(begins, pc.subtract(ends, counts))
    runs = pa.RunEndEncodedArray.from_arrays(ends, shifts)
    return pc.add(pc.run_end_decode(runs), _count_up(ends[-1].as_py()))


def _count_up(count: int, begin: int = 0) -> pa.Array:
    return pa.arange(begin, begin + count)


def _parts(path: Path, numbers: Iterable[int] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
    with pa.memory_map(str(path)) as mapped:
        file = pa.ipc.open_file(mapped)
        for number in range(file.num_record_batches) if numbers is None else numbers:
            yield number, file.get_batch(number)


def _ordered(part: pa.Array) -> pa.RecordBatch:
    order = pc.array_sort_indices(part, null_placement="at_end")
    return pa.record_batch({_VALUE: part.take(order), _ROW: order.cast(pa.int32())})


def _as_they_lie(part: pa.Array) -> pa.RecordBatch:
    return pa.record_batch({_VALUE: part})


def _made(run: Run, place: int, kind: str, turned: Callable[[pa.Array], pa.RecordBatch]) -> Path | None:
    """The file of a column, made if it is not there; None if its values are too long."""
    home = _home(run)
    path, refused = home / f"{place}.{kind}", home / f"{place}.wide"
    if path.exists():
        return path
    if refused.exists():
        return None
    home.mkdir(parents=True, exist_ok=True)
    # Compaction works beside the steps, and a driver that was thought dead beside another: all find the same.
    unfinished = home / f"{place}.{kind}.{token_hex(8)}"
    try:
        if _written(run, place, turned, unfinished):
            unfinished.rename(path)
            return path
        refused.touch()
        return None
    finally:
        unfinished.unlink(missing_ok=True)


def _written(run: Run, place: int, turned: Callable[[pa.Array], pa.RecordBatch], target: Path) -> bool:
    """Write a column part by part; False if a part is too large."""
    with pq.ParquetFile(run.path) as file, ExitStack() as closing:
        writer = None
        for part in _in_parts(file, place):
            if part is None:
                return False
            batch = turned(part)
            if writer is None:
                writer = closing.enter_context(pa.ipc.new_file(str(target), batch.schema))
            writer.write_batch(batch)
    return True


def _in_parts(file: pq.ParquetFile, place: int) -> Iterator[pa.Array | None]:
    """A column in parts of the same number of rows, whatever it is; None instead of one that is too large."""
    field = file.schema_arrow.field(place)
    held: list[pa.Array] = []
    rows = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=[field.name], use_threads=False):
        values = batch.column(field.name)
        while rows + len(values) >= PART_ROWS:
            yield pa.concat_arrays([*held, values.slice(0, PART_ROWS - rows)])
            values, held, rows = values.slice(PART_ROWS - rows), [], 0
        if len(values):
            held.append(values)
            rows += len(values)
        if sum(one.nbytes for one in held) > PART_BYTES:
            yield None
            return
    if held:
        yield pa.concat_arrays(held)
