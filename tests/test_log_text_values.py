"""Texts of Postgres become typed values, or an error, never NULL.

Oracle: Python's own reading of the same text, and values by hand.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import SourceError
from headwater.log.text_arrays import elements, inner_arrays, split_arrays
from headwater.log.text_values import Unfit, can_read, fitting, typed, typed_column
from headwater.schema import Column


def values(texts: list[str | None], kind: str, family: str) -> list[Any]:
    found: list[Any] = typed(pa.array(texts, pa.string()), kind, family).to_pylist()
    return found


@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)))
def test_numbers_are_read_as_python_reads_them(numbers: list[int | None]) -> None:
    texts = [None if n is None else str(n) for n in numbers]
    assert values(texts, "int", "number") == numbers
    assert values(texts, "string", "number") == texts
    assert values(texts, "decimal(12,2)", "number") == [None if n is None else Decimal(n) for n in numbers]


NUMBERS = st.from_regex(r"-?[0-9]{1,45}(\.[0-9]{1,20}0{0,40})?([eE]-?[0-9]{1,2})?", fullmatch=True)


@given(st.lists(st.none() | NUMBERS), st.integers(1, 38), st.data())
def test_a_decimal_is_what_its_text_says_or_refused(
    texts: list[str | None], precision: int, data: st.DataObject
) -> None:
    """Arrow alone makes 46509284486016680345.8... of 123456789012345678901234567890 as a decimal(38,18)."""
    scale = data.draw(st.integers(0, precision))
    with localcontext(prec=400):
        known = [None if text is None else Decimal(text) for text in texts]
        shifted = [0 if number is None else abs(number).scaleb(scale) for number in known]
        fits = all(one == int(one) and one < 10**precision for one in shifted)
    kind = f"decimal({precision},{scale})"
    if fits:
        assert values(texts, kind, "number") == known
    else:
        with pytest.raises(Unfit):
            values(texts, kind, "number")


@pytest.mark.parametrize("scale", [0, 1, 10, 37, 38])
def test_a_decimal_may_use_all_of_its_digits(scale: int) -> None:
    whole = "9" * (38 - scale) + ("." + "9" * scale if scale else "")
    texts: list[str | None] = ["-" + whole, whole, "0." + "0" * 50, None]
    known = [None if text is None else Decimal(text) for text in texts]
    assert values(texts, f"decimal(38,{scale})", "number") == known


@pytest.mark.parametrize(
    "text", ["", "-", ".", "1.2.3", "1e", "e5", "NaN", "Infinity", "1e999999999", " 1", "1_0"]
)
def test_what_is_no_number_is_no_decimal(text: str) -> None:
    for beside in ("1", "1." + "0" * 60):
        with pytest.raises(Unfit):
            values([beside, text], "decimal(38,18)", "text")


def written(items: list[str | None]) -> str:
    """An array as Postgres writes it, everything in quotes."""
    quoted = [
        "NULL" if item is None else '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for item in items
    ]
    return "{" + ",".join(quoted) + "}"


@given(st.lists(st.none() | st.lists(st.none() | st.text())))
def test_arrays_of_text_come_back(arrays: list[list[str | None] | None]) -> None:
    texts = [None if items is None else written(items) for items in arrays]
    assert values(texts, "array<string>", "array of text") == arrays


@given(st.lists(st.lists(st.none() | st.text(), min_size=1), min_size=1))
def test_arrays_in_arrays_are_taken_apart(arrays: list[list[str | None]]) -> None:
    text = "{" + ",".join(written(items) for items in arrays) + "}"
    assert [elements(inner) for inner in inner_arrays(text) if inner is not None] == arrays


def test_offsets_are_those_of_arrow() -> None:
    assert split_arrays(["{1,NULL}", None, "{}"], nested=False) == ([0, None, 2, 2], ["1", None])


def test_texts_that_are_no_arrays_are_refused() -> None:
    for text in ("1,2", "{1", "[0:1]"):
        with pytest.raises(ValueError, match="it is not an array"):
            elements(text)
    with pytest.raises(ValueError, match="one dimension only"):
        inner_arrays("{1,2}")


@pytest.mark.parametrize(
    ("text", "kind", "family"),
    [
        ("", "int", "text"),
        ("12.00", "int", "number"),
        ("128", "tinyint", "number"),
        ("1e39", "float", "number"),
        ("Infinity", "decimal(10,2)", "number"),
        ("0.001", "decimal(10,2)", "number"),
        ("123456789", "decimal(10,2)", "number"),
        ("yes", "boolean", "text"),
        ("infinity", "timestamp", "timestamptz"),
        ("10000-01-01", "date", "date"),
        ("2024-01-01 00:00:00", "timestamp", "text"),
        ("abc", "binary", "bytea"),
        ("{1,x}", "array<int>", "array of number"),
    ],
)
def test_the_first_value_that_does_not_fit_is_named(text: str, kind: str, family: str) -> None:
    with pytest.raises(Unfit) as raised:
        values([None] * 100 + [text] + [None] * 50, kind, family)
    assert raised.value.value == text


def test_the_error_names_table_column_and_a_value_of_bearable_length() -> None:
    with pytest.raises(SourceError) as raised:
        typed_column(pa.array(["x" * 5000]), Column("n", "int"), family="text", table="t")
    assert raised.value.message == "a value of column 'n' of table 't' does not fit its type int"
    assert len(raised.value.detail) < 500
    assert "n STRING" in raised.value.hint


@pytest.mark.parametrize(
    ("family", "kind", "can"),
    [
        ("number", "decimal(10,2)", True),
        ("number", "date", False),
        ("date", "timestamp", False),
        ("timestamp", "timestamp", True),
        ("bool", "int", False),
        ("bool", "string", True),
        ("other", "string", True),
        ("other", "int", False),
        ("array of number", "array<array<bigint>>", True),
        ("array of number", "array<date>", False),
        ("number", "array<int>", False),
        ("text", "binary", False),
    ],
)
def test_what_can_be_read_as_what(family: str, kind: str, can: bool) -> None:
    assert can_read(family, kind) is can


def test_values_that_do_not_fit_are_told_one_by_one_and_the_others_stay() -> None:
    texts = ["1", "x", None, "300", "x", "-7", ""] * 100
    values, reasons = fitting(pa.array(texts), "tinyint", "text")
    assert values.to_pylist() == [1, None, None, None, None, -7, None] * 100
    assert reasons is not None
    assert [one is None for one in reasons.to_pylist()] == [text in ("1", None, "-7") for text in texts]
    assert fitting(pa.array(["1", None]), "int", "number")[1] is None
    arrays, why = fitting(pa.array(["{1}", "{{1}}", None]), "array<int>", "array of number")
    assert why is not None
    assert (arrays.to_pylist()[0], [one is None for one in why.to_pylist()]) == ([1], [True, False, True])
