"""A live query as a changelog. Oracle: operations and lines, written by hand."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from headwater.cli.client.changelog import CHANGELOG, TABLEAU, ChangelogView, Look, operations
from tests.cli.fakes import FakePipeline, Signed, batch, change_set


def ops(*rows: Signed, key: tuple[str, ...] | None = ("animal",)) -> list[str]:
    """`+I dingo 1`."""
    return [f"{op} {row[0]} {row[1]:g}" for op, row in operations(change_set(*rows), key)]


def test_of_one_key_a_row_that_went_and_one_that_came_are_an_update() -> None:
    assert ops(
        ("+", "emu", 3.0), ("+", "cassowary", 12.0), ("-", "dingo", 1.0), ("-", "cassowary", 10.0)
    ) == ["-U cassowary 10", "+U cassowary 12", "-D dingo 1", "+I emu 3"]


def test_another_key_is_another_row() -> None:
    assert ops(("-", "dingo", 1.0), ("+", "emu", 1.0)) == ["-D dingo 1", "+I emu 1"]


def test_without_a_key_rows_come_and_go() -> None:
    assert ops(("-", "dingo", 1.0), ("+", "dingo", 2.0), key=None) == ["-D dingo 1", "+I dingo 2"]


def test_an_answer_with_one_row_is_updated_whatever_stands_in_it() -> None:
    assert ops(("-", "dingo", 1.0), ("+", "emu", 2.0), key=()) == ["-U dingo 1", "+U emu 2"]
    assert ops(("+", "dingo", 1.0), key=()) == ["+I dingo 1"]


def test_null_is_a_key_like_others() -> None:
    assert ops(("-", None, 1.0), ("+", None, 2.0)) == ["-U None 1", "+U None 2"]


class Keyed(FakePipeline):
    def row_key(self, relation: str) -> tuple[str, ...] | None:
        return ("animal",)


def written(look: Look, *, resumed: tuple[Signed, ...] = (), width: int = 60) -> list[str]:
    """What is written for two batches."""
    out = io.StringIO()
    view = ChangelogView(Console(file=out, width=width, color_system=None), look)
    batches = (
        batch(1, ("+", "Emu", 10.0)),
        batch(2, ("-", "Emu", 10.0), ("+", "Emu", 12.5), ("+", "Box Jellyfish", 5.0)),
    )
    pipeline = Keyed(batches, view, resumed=resumed)
    view.open(pipeline)
    pipeline.run_once()
    view.close()
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_changelog_tells_batches_and_its_head_comes_again_when_columns_grow() -> None:
    assert written(CHANGELOG) == [
        " op │ animal │ total",
        "────┼────────┼───────",
        " +I │ Emu    │    10",
        "── batch 1, cut 0/1, lag 0.50 s",
        " op │ animal        │ total",
        "────┼───────────────┼───────",
        " +I │ Box Jellyfish │     5",
        " -U │ Emu           │    10",
        " +U │ Emu           │  12.5",
        "── batch 2, cut 0/2, lag 0.50 s",
        "4 changes",
    ]


def test_a_tableau_is_a_box_of_plain_letters() -> None:
    assert written(TABLEAU, resumed=(("+", "A long name", 1.0),)) == [
        "+----+-------------+-------+",
        "| op | animal      | total |",
        "+----+-------------+-------+",
        "| +I | A long name |     1 |",
        "| +I | Emu         |    10 |",
        "+----+---------------+-------+",
        "| op | animal        | total |",
        "+----+---------------+-------+",
        "| +I | Box Jellyfish |     5 |",
        "| -U | Emu           |    10 |",
        "| +U | Emu           |  12.5 |",
        "+----+---------------+-------+",
        "5 changes",
    ]


@pytest.mark.parametrize("look", [CHANGELOG, TABLEAU])
def test_a_narrow_terminal_cuts_cells_and_not_lines(look: Look) -> None:
    assert max(map(len, written(look, width=31)[:-1])) <= 31
    assert any("Box Jel" in line and "…" in line for line in written(look, width=28))
