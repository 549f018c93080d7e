"""Rows as COPY writes them become typed columns, whichever way a value takes.

Oracle: the values by hand, and the way the stream's texts take.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from headwater.errors import SourceError
from headwater.log.text_values import typed
from headwater.schema import Column, Schema, arrow_type
from headwater.sources.postgres import copy_text
from headwater.sources.postgres.copy_text import CopiedTable, columns_of, pieces, plain
from headwater.sources.postgres.types import ServerType, family

NUMERIC = ServerType("numeric", ((10 << 16) | 2) + 4)


def table(*columns: tuple[str, ServerType]) -> CopiedTable:
    """A table of columns c0, c1, ... of declared and server's types."""
    names = tuple(f"c{i}" for i in range(len(columns)))
    schema = Schema(tuple(Column(n, kind) for n, (kind, _) in zip(names, columns, strict=True)))
    return CopiedTable("t", schema, names, tuple(server for _, server in columns))


# Declared type, server's type, text as COPY writes it, value; all of these Arrow reads as their type at once.
CERTAIN: list[tuple[str, ServerType, str, Any]] = [
    ("tinyint", ServerType("int2"), "-128", -128),
    ("int", ServerType("int4"), "-2147483648", -(2**31)),
    ("bigint", ServerType("int8"), "9223372036854775807", 2**63 - 1),
    ("bigint", ServerType("oid"), "4294967295", 2**32 - 1),
    ("double", ServerType("float8"), "1e-300", 1e-300),
    ("double", ServerType("float8"), "-Infinity", -math.inf),
    ("double", ServerType("float8"), "-0", -0.0),
    ("double", ServerType("int8"), "9007199254740993", 9007199254740992.0),
    ("float", ServerType("float4"), "3.4028235e+38", 3.4028234663852886e38),
    ("boolean", ServerType("bool"), "t", True),
    ("boolean", ServerType("bool"), "f", False),
    ("date", ServerType("date"), "0001-01-01", dt.date(1, 1, 1)),
    ("timestamp_ntz", ServerType("timestamp"), "1900-01-01 00:00:00.1", dt.datetime(1900, 1, 1, 0, 0, 0, 100_000)),
    ("timestamp", ServerType("timestamptz"), "2024-07-01 04:30:00.5+00",
     dt.datetime(2024, 7, 1, 4, 30, 0, 500_000, dt.UTC)),
    ("decimal(10,2)", NUMERIC, "-99999999.99", Decimal("-99999999.99")),
    ("decimal(10,2)", NUMERIC, "0.10", Decimal("0.10")),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "server", "text", "value"), CERTAIN)
def test_a_value_read_at_once_is_the_one_the_stream_reads(
    declared: str, server: ServerType, text: str, value: object
) -> None:
    one = table((declared, server))
    assert one.parsed == (arrow_type(declared),), "it is read as its type at once"
    (found,) = columns_of(f"{text}\n\\N\n".encode(), one)
    assert found.to_pylist() == [value, None]
    assert found.equals(typed(pa.array([text, None]), declared, family(server)))


def test_nan_is_read_at_once_too() -> None:
    (found,) = columns_of(b"NaN\n", table(("double", ServerType("float8"))))
    assert math.isnan(found[0].as_py())


@pytest.mark.parametrize(
    ("declared", "server"),
    [
        ("float", ServerType("float8")),
        ("decimal(12,2)", NUMERIC),
        ("decimal(38,18)", ServerType("numeric")),
        ("bigint", ServerType("text")),
        ("boolean", ServerType("text")),
        ("timestamp", ServerType("timestamp")),
        ("array<int>", ServerType("int4", is_array=True)),
        ("string", ServerType("int4")),
    ],
)
def test_what_is_not_certain_is_read_as_text_first(declared: str, server: ServerType) -> None:
    assert table((declared, server)).parsed == (pa.string(),)


@pytest.mark.parametrize(
    ("declared", "server", "text"),
    [
        ("smallint", ServerType("int4"), "32768"),
        ("decimal(10,2)", NUMERIC, "NaN"),
        ("date", ServerType("date"), "infinity"),
        ("timestamp_ntz", ServerType("timestamp"), "0044-03-15 00:00:00 BC"),
        ("float", ServerType("float8"), "1e+300"),
    ],
)
def test_a_value_that_does_not_fit_is_named(declared: str, server: ServerType, text: str) -> None:
    with pytest.raises(SourceError, match=r"a value of column 'c1' of table 't' does not fit") as raised:
        columns_of(f"1\t\\N\n2\t{text}\n".encode(), table(("int", ServerType("int4")), (declared, server)))
    assert f"'{text}'" in raised.value.detail


TEXT = ServerType("text")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\\", "\\"),
        (r"\\N", r"\N"),
        (r"a\tb\nc\rd\be\ff\vg", "a\tb\nc\rd\be\ff\vg"),
        (r"\\n", r"\n"),
        (r"\\\n", "\\\n"),
        (r"\\\\n\\", r"\\n" + "\\"),
        (r"\\.", r"\."),
        ("", ""),
        ('"quoted", ', '"quoted", '),
        ("\ufeffmarked", "\ufeffmarked"),
    ],
)
def test_texts_lose_the_escapes_of_copy_and_nothing_else(written: str, meant: str) -> None:
    piece = f"{written}\t1\n\\N\t2\n".encode()
    texts, numbers = columns_of(piece, table(("string", TEXT), ("int", ServerType("int4"))))
    assert texts.to_pylist() == [meant, None] and numbers.to_pylist() == [1, 2]
    (alone,) = columns_of(f"{written}\n".encode(), table(("string", TEXT)))
    assert alone.to_pylist() == [meant]


def test_texts_without_escapes_are_left_alone() -> None:
    texts = pa.array(["a", None, ""])
    assert plain(texts) is texts


def test_rows_come_in_pieces_of_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_text, "PIECE_BYTES", 10)
    taken: list[bytes] = []
    rows = [b"one\n", b"two\n", b"three\n", b"a row that is longer than a piece\n", b"four\n"]
    with pieces(taken.append) as file:
        for row in rows:
            file.write(row)
    assert b"".join(taken) == b"".join(rows)
    assert len(taken) > 2 and all(piece.endswith(b"\n") for piece in taken)


def test_a_row_that_arrives_in_parts_is_put_together() -> None:
    taken: list[bytes] = []
    cutter = copy_text._Pieces(taken.append)
    for part in (b"on", b"e\ntw", b"o", b"\n"):
        cutter.write(part)
    assert taken == [b"one\n", b"two\n"]


def test_after_an_error_nothing_more_is_taken() -> None:
    taken: list[bytes] = []

    def refuse(piece: bytes) -> None:
        taken.append(piece)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), pieces(refuse) as file:
        file.write(b"one\n")
    assert taken == [b"one\n"]
