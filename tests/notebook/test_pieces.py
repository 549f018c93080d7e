"""The pieces of what a cell shows: tables, charts, errors, variables.

Oracle: literal texts; for charts, XML that parses, and heights that follow the numbers.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headwater.errors import Place, SqlError, UsageError
from headwater.notebook.chart import Axes, axes_of, chart, nice_ticks, short
from headwater.notebook.complaint import CellError
from headwater.notebook.outcomes import outcome_html, outcome_text
from headwater.notebook.page import bundle, error_html, note_html, state_html, table_html
from headwater.notebook.plain import table_text
from headwater.notebook.shown import Sheet
from headwater.notebook.variables import filled
from headwater.schema import Column, Schema
from headwater.sources.base import Outcome

NASTY = "<script>alert('x')</script>&\""
SCHEMA = Schema((Column("animal", "string"), Column("cost", "decimal(10,2)")), ())


def sheet(*rows: tuple[object, ...], news: bool = False) -> Sheet:
    return Sheet("query_1", SCHEMA, rows, tuple((news,) * len(row) for row in rows), len(rows))


def test_no_value_and_no_name_is_taken_for_html() -> None:
    drawn = [
        table_html([NASTY], [[NASTY]], [False]),
        note_html(NASTY),
        error_html(NASTY),
        state_html("running", [(NASTY, NASTY)]),
        chart(sheet((NASTY, Decimal(1))), Axes("bar", "animal", "cost")),
        chart(sheet((NASTY, Decimal(1))), Axes("line", "animal", "cost")),
        outcome_html(Outcome(NASTY, (NASTY,), ((NASTY,),), 1)),
    ]
    for html in drawn:
        assert "<script" not in html and "alert(&#x27;x&#x27;)" in html


def test_numbers_stand_right_news_are_marked_and_null_is_no_word() -> None:
    html = table_html(["a", "n"], [["NULL", 1], [None, 2]], [False, True], [[False, True], [False, False]])
    assert "<td>NULL</td>" in html
    assert '<td class="hw-null">NULL</td>' in html
    assert '<td class="hw-right hw-new">1</td>' in html and '<td class="hw-right">2</td>' in html


def test_a_table_as_text() -> None:
    text = table_text(["animal", "n"], [["Cassowary", 7], [None, 1200]], [False, True])
    assert text.splitlines() == [
        "animal        n",
        "---------  ----",
        "Cassowary     7",
        "NULL       1200",
    ]


def test_an_area_has_both_forms() -> None:
    made = bundle(["<p>a</p>", ""], ["a", ""])
    assert made["text/plain"] == "a"
    assert made["text/html"].endswith('<div class="hw"><p>a</p></div>')


def test_bars_are_as_long_as_their_numbers() -> None:
    drawn = chart(sheet(("a", Decimal(10)), ("b", Decimal(5)), ("c", None)), Axes("bar", "animal", "cost"))
    bars = list(ElementTree.fromstring(drawn).iter("rect"))
    assert [float(bar.attrib["width"]) for bar in bars] == [440.0, 220.0]


def test_bars_below_zero_stand_left_of_it() -> None:
    drawn = chart(sheet(("a", Decimal(-10)), ("b", Decimal(10))), Axes("bar", "animal", "cost"))
    below, above = ElementTree.fromstring(drawn).iter("rect")
    assert float(below.attrib["x"]) + float(below.attrib["width"]) == float(above.attrib["x"])


def test_a_line_goes_by_dates_and_not_by_rows() -> None:
    schema = Schema((Column("day", "date"), Column("n", "int")), ())
    rows = tuple((datetime.date(2024, 1, day), day) for day in (1, 2, 11))
    drawn = chart(Sheet("q", schema, rows, ((False, False),) * 3, 3), Axes("line", "day", "n"))
    dots = [float(dot.attrib["cx"]) for dot in ElementTree.fromstring(drawn).iter("circle")]
    assert dots == [70.0, 133.0, 700.0]
    named = [text.text for text in ElementTree.fromstring(drawn).iter("text")]
    assert named == ["0", "2.5", "5", "7.5", "10", "12.5", "2024-01-01", "2024-01-11"], (
        "the middle one has no room"
    )


def test_a_chart_of_nothing_is_empty() -> None:
    for kind in ("bar", "line"):
        assert not list(ElementTree.fromstring(chart(sheet(), Axes(kind, "animal", "cost"))).iter("rect"))


def test_bars_that_changed_light_up() -> None:
    assert 'class="hw-bar hw-new"' in chart(
        sheet(("a", Decimal(1)), news=True), Axes("bar", "animal", "cost")
    )


def test_the_columns_of_a_chart_are_found_or_asked_for() -> None:
    assert axes_of(SCHEMA, "bar", None, None) == Axes("bar", "animal", "cost")
    assert axes_of(SCHEMA, "line", "cost", "cost") == Axes("line", "cost", "cost")
    with pytest.raises(UsageError, match='no column "animl"') as wrong:
        axes_of(SCHEMA, "bar", "animl", None)
    assert wrong.value.hint == "Did you mean 'animal'?"
    with pytest.raises(UsageError, match='"animal" is no number'):
        axes_of(SCHEMA, "bar", "cost", "animal")
    with pytest.raises(UsageError, match="no number to be drawn"):
        axes_of(Schema((Column("a", "string"),), ()), "bar", None, None)


def test_ticks_are_round_and_go_around() -> None:
    assert nice_ticks(3, 97, 4) == [0.0, 25.0, 50.0, 75.0, 100.0]
    assert nice_ticks(5, 5, 4) == [4.0, 4.5, 5.0, 5.5, 6.0]


def test_numbers_are_short() -> None:
    assert [short(n) for n in (1234567.0, 0.5, 1234.567, 0.00012)] == [
        "1,234,567",
        "0.50",
        "1,234.57",
        "0.00012",
    ]


def test_an_error_is_told_with_its_place_and_without_a_trace() -> None:
    place = Place("In [3]", 2, 8, "SELECT nope FROM t", 4)
    lines = CellError(SqlError("no such column", detail="D.", hint="H.", place=place))._render_traceback_()
    assert [line.replace("\x1b[0m", "") for line in lines] == [
        "\x1b[1m\x1b[31merror: no such column",
        "   --> In [3]:2:8",
        "    |",
        "  2 | SELECT nope FROM t",
        "\x1b[31m    |        ^^^^",
        "\x1b[1mdetail: D.",
        "\x1b[1mhint: H.",
    ]


def test_outcomes_say_how_many_rows_there_are() -> None:
    shown = Outcome("SELECT 7", ("n", "t"), ((1, "a"), (None, "b")), 7)
    assert outcome_text(shown).splitlines()[-1] == "2 of 7 rows"
    assert '<td class="hw-right">1</td><td>a</td>' in outcome_html(shown)
    assert outcome_text(Outcome("UPDATE 3", count=3)) == "UPDATE 3"


def test_variables_are_put_in_their_places() -> None:
    known = {"shop": {"port": 3306}, "here": Path("a/b"), "day": datetime.date(2024, 1, 31)}
    assert filled("'${py:shop.port}' ${py:here} ${env:X}", known, file="c") == "'3306' a/b ${env:X}"
    assert filled("${py:day.year}", known, file="c") == "2024"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("${py:shp.port}", "there is no variable 'shp'"),
        ("${py:shop.prt}", "'shop' has no 'prt'"),
        ("${py:shop}", "'shop' is a dict"),
        ("${py:}", "there is no variable ''"),
    ],
)
def test_variables_that_cannot_be_are_refused_with_their_place(text: str, said: str) -> None:
    with pytest.raises(UsageError) as wrong:
        filled(f"one\n  {text}", {"shop": {"port": 1}}, file="In [1]")
    assert wrong.value.message == said
    place = wrong.value.place
    assert place is not None and (str(place), place.width) == ("In [1]:2:3", len(text))
