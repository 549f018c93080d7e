"""Compare two bags of rows, both ways; floating numbers to nine digits, everything else exactly."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

TOLERANCE = 1e-9


def differences(expected: DataFrame, found: DataFrame, *, most: int = 5) -> list[str]:
    """What only one side has, a line each, at most `most` lines; an empty list means equal.

    Rows are matched by all columns that are not floating numbers; within a match the floating ones are compared in
    order, so that two ways of adding up the same numbers count as equal.
    """
    floats = [n for n, kind in expected.dtypes if kind in ("float", "double")]
    names = [n for n in expected.columns if n not in floats]
    one, other = _grouped(expected, names, floats), _grouped(found, names, floats)
    meets = [one[f"k{i}"].eqNullSafe(other[f"k{i}"]) for i in range(len(names))]
    condition = reduce(lambda a, b: a & b, meets, f.lit(True))
    both = one.join(other, condition, "full_outer").select(
        *[f.coalesce(one[f"k{i}"], other[f"k{i}"]).alias(f"k{i}") for i in range(len(names))],
        one["values"].alias("wanted"),
        other["values"].alias("got"),
    )
    wrong = both.where(~f.coalesce(_equal(len(floats)), f.lit(False))).limit(most).collect()
    return [_line(row.asDict(recursive=True), names, floats) for row in wrong]


def _grouped(frame: DataFrame, names: list[str], floats: list[str]) -> DataFrame:
    numbers = [f.col(f"`{n}`").cast("double").alias(f"v{i}") for i, n in enumerate(floats)]
    value = f.struct(*numbers) if numbers else f.struct(f.lit(1.0).alias("v0"))
    kinds = dict(frame.dtypes)
    keys = [_comparable(n, kinds[n]).alias(f"k{i}") for i, n in enumerate(names)]
    rows = frame.select(*keys, value.alias("value"))
    return rows.groupBy(*[f"k{i}" for i in range(len(names))]).agg(
        f.array_sort(f.collect_list("value")).alias("values")
    )


def _comparable(name: str, kind: str) -> Column:
    """A column that can be compared: a map as its entries in order."""
    column = f.col(f"`{name}`")
    return f.array_sort(f.map_entries(column)) if kind.startswith("map<") else column


def _equal(floats: int) -> Column:
    def close(pair: Column) -> Column:
        return reduce(lambda a, b: a & b, [_close(pair, f"v{i}") for i in range(max(floats, 1))])

    return (f.size("wanted") == f.size("got")) & f.forall(f.arrays_zip("wanted", "got"), close)


def _close(pair: Column, field: str) -> Column:
    one, other = pair["wanted"][field], pair["got"][field]
    near = f.abs(one - other) <= TOLERANCE * f.greatest(f.abs(one), f.abs(other))
    return f.coalesce(one.eqNullSafe(other) | near, f.lit(False))


def _line(row: dict[str, object], names: list[str], floats: list[str]) -> str:
    keys = ", ".join(f"{n} = {row[f'k{i}']}" for i, n in enumerate(names)) or "the row"
    return f"{keys}: expected {_shown(row['wanted'], floats)}, saved {_shown(row['got'], floats)}"


def _shown(values: object, floats: list[str]) -> str:
    if not values:
        return "no such row"
    assert isinstance(values, list)
    if not floats:
        return f"{len(values)} row" + ("s" if len(values) > 1 else "")
    rows = [", ".join(f"{n} = {value[f'v{i}']}" for i, n in enumerate(floats)) for value in values[:3]]
    return " | ".join(rows)
