"""Charts as SVG: bars with their names beside them, or a line over numbers, dates or names."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import Any

from headwater.cli.cells import cell_text
from headwater.errors import UsageError
from headwater.nearest import nearest_hint
from headwater.notebook.shown import Sheet, is_number
from headwater.schema import Schema

WIDTH = 720
BAR, GAP = 20, 6
LABEL, VALUE = 190, 90
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 260, 70, 20, 14, 30
TICKS = 4
APART = 220
"""Names of points that are nearer than this could meet."""


@dataclass(frozen=True)
class Axes:
    """Which columns a chart is drawn of."""

    kind: str
    x: str
    y: str


def axes_of(schema: Schema, kind: str, x: str | None, y: str | None) -> Axes:
    """The columns that were asked for; else the first one, and the first other one that is a number."""
    names = list(schema.names)
    for wanted in (x, y):
        if wanted is not None and wanted not in names:
            raise UsageError(
                f'the answer has no column "{wanted}"', hint=nearest_hint(wanted, names, "columns")
            )
    numbers = [column.name for column in schema if is_number(column.type)]
    along = x or next((name for name in names if name != y), names[0])
    measured = y or next((name for name in numbers if name != along), None)
    if measured is None or measured not in numbers:
        raise UsageError(
            f'"{measured}" is no number' if measured else "the answer has no number to be drawn",
            detail=f"Its columns are {', '.join(f'{c.name} {c.type}' for c in schema)}.",
            hint="Name a column of numbers with --y.",
        )
    return Axes(kind, along, measured)


def chart(sheet: Sheet, axes: Axes) -> str:
    """The SVG of a sheet; rows without a number are left out."""
    names = list(sheet.schema.names)
    x, y = names.index(axes.x), names.index(axes.y)
    points = [
        (row[x], float(row[y]), any(news))
        for row, news in zip(sheet.rows, sheet.news, strict=True)
        if _is_finite(row[y])
    ]
    return _bars(points, axes) if axes.kind == "bar" else _line(points, axes)


Points = Sequence[tuple[Any, float, bool]]


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and math.isfinite(value)


def _bars(points: Points, axes: Axes) -> str:
    low, high = min([0.0, *(p[1] for p in points)]), max([0.0, *(p[1] for p in points)])
    room = WIDTH - LABEL - VALUE
    scale = room / ((high - low) or 1.0)
    zero = LABEL - low * scale
    drawn = []
    for number, (name, value, is_new) in enumerate(points):
        top, length = number * (BAR + GAP), abs(value) * scale
        left = zero if value >= 0 else zero - length
        middle = top + BAR / 2
        flash = " hw-new" if is_new else ""
        drawn.append(
            f"<g><title>{escape(cell_text(name))}: {escape(short(value))}</title>"
            f'<text x="{LABEL - 8}" y="{middle:.1f}" class="hw-label" text-anchor="end">'
            f"{escape(_clipped(cell_text(name), 28))}</text>"
            f'<rect x="{left:.1f}" y="{top}" width="{max(length, 0.5):.1f}" height="{BAR}" rx="2"'
            f' class="hw-bar{flash}"/>'
            f'<text x="{max(left + length, zero) + 6:.1f}" y="{middle:.1f}" class="hw-value">'
            f"{escape(short(value))}</text></g>"
        )
    height = max(1, len(points)) * (BAR + GAP)
    return _svg("".join(drawn), height, f"{axes.y} by {axes.x}")


def _line(points: Points, axes: Axes) -> str:
    values = [value for _, value, _ in points] or [0.0]
    ticks = nice_ticks(min(values), max(values), TICKS)
    places = _along([x for x, _, _ in points])
    low, high = ticks[0], ticks[-1]
    tall = HEIGHT - TOP - BOTTOM

    def down(value: float) -> float:
        return TOP + tall - (value - low) / ((high - low) or 1.0) * tall

    drawn = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(t):.1f}" y2="{down(t):.1f}" class="hw-grid"/>'
        f'<text x="{LEFT - 8}" y="{down(t):.1f}" class="hw-label" text-anchor="end">{t:,.10g}</text>'
        for t in ticks
    ]
    at = [(place, down(value)) for place, (_, value, _) in zip(places, points, strict=True)]
    drawn.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" class="hw-line"/>')
    for (x, y), (name, value, is_new) in zip(at, points, strict=True):
        flash = " hw-new" if is_new else ""
        title = f"{escape(cell_text(name))}: {escape(short(value))}"
        drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="hw-dot{flash}"><title>{title}</title></circle>'
        )
    for index in _labelled(places):
        anchor = "start" if index == 0 else "end" if index == len(points) - 1 else "middle"
        drawn.append(
            f'<text x="{places[index]:.1f}" y="{HEIGHT - 12}" class="hw-label" text-anchor="{anchor}">'
            f"{escape(_clipped(cell_text(points[index][0]), 24))}</text>"
        )
    return _svg("".join(drawn), HEIGHT, f"{axes.y} over {axes.x}")


def _labelled(places: Sequence[float]) -> list[int]:
    """The points that are named: both ends, and the middle one if it stands apart from them."""
    if len(places) < 2:
        return list(range(len(places)))
    middle = len(places) // 2
    is_apart = LEFT + APART < places[middle] < WIDTH - RIGHT - APART
    return [0, middle, len(places) - 1] if is_apart else [0, len(places) - 1]


def _along(values: Sequence[Any]) -> list[float]:
    """Where each value stands from left to right: by its size if it has one, else one after the other."""
    sizes = [_size(value) for value in values]
    known = [size for size in sizes if size is not None]
    if len(known) < len(values) or not known or max(known) == min(known):
        known = [float(index) for index in range(len(values))]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return [LEFT + (size - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT) for size in known]


def _size(value: Any) -> float | None:
    match value:
        case bool() | None:
            return None
        case int() | float() | Decimal() if math.isfinite(value):
            return float(value)
        case datetime.datetime():
            return value.replace(tzinfo=value.tzinfo or datetime.UTC).timestamp()
        case datetime.date():
            return float(value.toordinal())
        case _:
            return None


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers from below `low` to above `high`.

    >>> nice_ticks(3, 97, 4)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    if high <= low:
        low, high = low - 1, high + 1
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [index * step for index in range(first, last + 1)]


def short(value: float) -> str:
    """A number with commas and as many digits as can be read: `1,234.5`."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if 0.01 <= abs(value) < 1e15 else f"{value:.4g}"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(inside: str, height: int, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' aria-label="{escape(label)}">{inside}</svg>'
    )
