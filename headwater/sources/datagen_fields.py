"""The `fields.<column>.<what>` options of datagen, checked against the declared columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from headwater.errors import OptionError
from headwater.nearest import nearest
from headwater.schema import Column, arrow_type
from headwater.sources.base import SourceTable
from headwater.sources.datagen_columns import Field

RANDOM, SEQUENCE = "random", "sequence"
WHAT = ("kind", "min", "max", "length", "start", "end", "null-rate")
LONGEST = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def fields_of(table: SourceTable) -> tuple[Field, ...]:
    """How each column of a table is made up, or what is wrong with its options."""
    given: dict[str, dict[str, str]] = {}
    for name, text in table.options.fields.items():
        column, dot, what = name.rpartition(".")
        if not dot or what not in WHAT:
            raise _unknown(table, f"fields.{name}", what or name, WHAT)
        if table.schema.find(column) is None:
            raise _unknown(table, f"fields.{name}", column, table.schema.names)
        given.setdefault(column.lower(), {})[what] = text
    fields = tuple(_field(table, column, given.get(column.name.lower(), {})) for column in table.schema)
    _check_key(table, fields)
    return fields


def rows_of(fields: Sequence[Field], wanted: int | None) -> int | None:
    """How many rows there are: as many as asked for, or until the first sequence ends; None for endless."""
    ends = [int(f.high) - int(f.low or 0) + 1 for f in fields if f.kind == SEQUENCE and f.high is not None]
    return min([*ends, wanted] if wanted is not None else ends, default=None)


def _field(table: SourceTable, column: Column, given: Mapping[str, str]) -> Field:
    kind = given.get("kind", RANDOM)
    if kind not in (RANDOM, SEQUENCE):
        raise _wrong(table, column, "kind", kind, "It takes random, sequence.")
    null_rate = _number(table, column, given, what="null-rate") or 0.0
    if not 0 <= null_rate <= 1:
        raise _wrong(table, column, "null-rate", given["null-rate"], "It takes a number from 0 to 1.")
    fitting = ("start", "end") if kind == SEQUENCE else _random_options(arrow_type(column.type))
    if fitting is None or (kind == SEQUENCE and not _countable(arrow_type(column.type))):
        raise OptionError(
            f"datagen cannot make up column '{column.name}' of type {column.type}",
            detail=f"Table '{table.name}' declares it as {kind}.",
            hint="Declare a number, a string, a boolean, a date or a timestamp.",
            place=table.place,
        )
    for what in given:
        if what not in ("kind", "null-rate", *fitting):
            raise OptionError(
                f"option 'fields.{column.name}.{what}' does not fit a {kind} column of type {column.type}",
                detail=f"What fits is {', '.join(('kind', 'null-rate', *fitting))}.",
                hint="Remove it.",
                place=table.place,
            )
    low, high = _range(table, column, given, kind=kind)
    asked = _number(table, column, given, what="length")
    length = 100 if asked is None else int(asked)
    if not 1 <= length <= LONGEST:
        raise _wrong(table, column, "length", given["length"], f"It takes a number from 1 to {LONGEST}.")
    return Field(table.name, column, kind, low, high, length=length, null_rate=null_rate)


def _random_options(kind: pa.DataType) -> tuple[str, ...] | None:
    if pa.types.is_boolean(kind):
        return ()
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return ("length",)
    if _countable(kind) or pa.types.is_timestamp(kind) or pa.types.is_date32(kind):
        return ("min", "max")
    return None


def _countable(kind: pa.DataType) -> bool:
    checks: tuple[Callable[[pa.DataType], bool], ...] = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_string,
    )
    return any(check(kind) for check in checks)


def _range(
    table: SourceTable, column: Column, given: Mapping[str, str], *, kind: str
) -> tuple[int | float | None, int | float | None]:
    arrow = arrow_type(column.type)
    names = ("start", "end") if kind == SEQUENCE else ("min", "max")
    unit = pa.int64() if kind == SEQUENCE else arrow
    widest = _widest_sequence(arrow) if kind == SEQUENCE else _widest(arrow)
    low, high = (_bound(table, column, given, what=what, unit=unit) for what in names)
    if widest is not None:
        low = (1 if kind == SEQUENCE else widest[0]) if low is None else low
        high = widest[1] if high is None else high
        for what, value in zip(names, (low, high), strict=True):
            if not widest[0] <= value <= widest[1]:
                raise _wrong(table, column, what, given[what], f"It does not fit type {column.type}.")
    if (low is None) != (high is None):
        missing = names[0] if low is None else names[1]
        raise OptionError(
            f"column '{column.name}' of datagen needs option 'fields.{column.name}.{missing}' too",
            detail=f"Without both, a {column.type} is the moment at which its row is released.",
            place=table.place,
        )
    if low is not None and high is not None and low > high:
        raise _wrong(table, column, names[1], given.get(names[1], str(high)), f"It is below {names[0]}.")
    return low, high


def _widest(kind: pa.DataType) -> tuple[int | float, int | float] | None:
    """The range of a random column that says nothing; None for types that show the moment of release."""
    if pa.types.is_integer(kind):
        half = 1 << (kind.bit_width - 1)
        return -half, half - 1
    if pa.types.is_decimal(kind):
        most = 10 ** min(kind.precision, 18) - 1
        return -most, most
    return None


def _widest_sequence(kind: pa.DataType) -> tuple[int, int]:
    if pa.types.is_integer(kind):
        half = 1 << (kind.bit_width - 1)
        return -half, half - 1
    if pa.types.is_decimal(kind):
        most = 10 ** min(kind.precision - kind.scale, 18) - 1
        return -most, most
    # A floating number counts exactly up to the width of its mantissa.
    most = {16: 1 << 11, 32: 1 << 24, 64: 1 << 53}[kind.bit_width] if pa.types.is_floating(kind) else 1 << 62
    return -most, most


def _bound(
    table: SourceTable, column: Column, given: Mapping[str, str], *, what: str, unit: pa.DataType
) -> int | float | None:
    text = given.get(what)
    if text is None:
        # Floating numbers have no useful widest range: 0 to 1 is what people mean.
        return {"min": 0.0, "max": 1.0}.get(what) if pa.types.is_floating(unit) else None
    try:
        if pa.types.is_floating(unit):
            return float(text)
        if pa.types.is_decimal(unit):
            return int(Decimal(text).scaleb(unit.scale))
        if pa.types.is_date32(unit):
            return (date.fromisoformat(text) - EPOCH.date()).days
        if pa.types.is_timestamp(unit):
            moment = datetime.fromisoformat(text)
            return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // timedelta(microseconds=1)
        return int(text)
    except (ValueError, ArithmeticError):
        raise _wrong(table, column, what, text, f"It takes a value of type {column.type}.") from None


def _number(table: SourceTable, column: Column, given: Mapping[str, str], *, what: str) -> float | None:
    if what not in given:
        return None
    try:
        return float(given[what])
    except ValueError:
        raise _wrong(table, column, what, given[what], "It takes a number.") from None


def _check_key(table: SourceTable, fields: Sequence[Field]) -> None:
    key = [f for f in fields if f.column.name in table.schema.key]
    if key and not any(f.kind == SEQUENCE and f.null_rate == 0 for f in key):
        name = key[0].column.name
        raise OptionError(
            f"the key of table '{table.name}' would repeat",
            detail=f"None of its columns ({', '.join(table.schema.key)}) is a sequence.",
            hint=f"Add 'fields.{name}.kind' = 'sequence', or remove the PRIMARY KEY.",
            place=table.place,
        )


def _unknown(table: SourceTable, name: str, said: str, known: Sequence[str]) -> OptionError:
    near = nearest(said, known, cutoff=0.5)
    return OptionError(
        f"connector 'datagen' has no option '{name}'",
        detail=f"What '{said}' could be is {', '.join(known)}.",
        hint=f"Did you mean '{near}'?" if near else "Write 'fields.<column>.<what>'.",
        place=table.place,
    )


def _wrong(table: SourceTable, column: Column, what: str, text: str, detail: str) -> OptionError:
    return OptionError(
        f"option 'fields.{column.name}.{what}' does not take the value '{text}'",
        detail=detail,
        place=table.place,
    )
