"""Maps with NULLs among their numbers.

Rows are stored, cancelled and compared by grouping, and to group by a map Spark brings its entries into order. The
code it generates for that forgets which values are NULL where they have a fixed size: {a: NULL, b: 2} becomes
{a: 0, b: 2}. Without generated code the order is right, so pipelines with such maps run without it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from headwater.schema import sql_type

_SIZED = {"string", "binary", "array", "struct", "map", "variant"}
"""Values of these types have a size of their own, and keep their NULLs."""


def have_fixed_values(types: Iterable[str]) -> bool:
    """True if one of the types is, or has inside, a map whose values have a fixed size."""
    return any(_has_fixed_values(kind) for kind in set(types) if "map<" in kind)


def _has_fixed_values(kind: str) -> bool:
    whole = exp.DataType.build(sql_type(kind), dialect="spark")
    maps = [part for part in whole.find_all(exp.DataType) if part.this == exp.DataType.Type.MAP]
    # The type of MAP() names neither; it cannot be kept, which is said elsewhere.
    values = [part.expressions[1].sql(dialect="spark").lower() for part in maps if part.expressions]
    return any(value.partition("<")[0] not in _SIZED for value in values)
