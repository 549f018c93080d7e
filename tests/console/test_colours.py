"""Letters of the console stand out from what is behind them.

Oracle: the contrast of two colours as the guidelines for accessible pages (WCAG 2.2, level AA) define it.
"""

from __future__ import annotations

import re

import pytest

from headwater.console.pages import ASSETS

PALETTES = {
    scheme: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for scheme, block in re.findall(
        r"color-scheme: (light|dark);(.*?)\}", (ASSETS / "base.css").read_text(), re.DOTALL
    )
}

PAPERS = ("panel", "bg", "raised")
LETTERS = [
    *((ink, paper) for ink in ("text", "soft", "faint", "accent") for paper in PAPERS),
    *((ink, f"{ink}-soft") for ink in ("accent", "ok", "warn", "bad")),
    *((ink, "panel") for ink in ("ok", "warn", "bad")),
    *((ink, paper) for ink in ("word", "quoted", "digits", "named") for paper in ("panel", "bad-soft")),
    *(("text", paper) for paper in ("flash", "ok-soft", "warn-soft", "bad-soft", "accent-soft", "pressed")),
    *(("faint", paper) for paper in ("accent-soft", "bad-soft")),
    ("soft", "bad-soft"),
    ("on-accent", "accent"),
]


def brightness(colour: str) -> float:
    """How bright a colour is to the eye: 0 is black, 1 is white."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((brightness(one), brightness(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read(scheme: str) -> None:
    palette = PALETTES[scheme]
    weak = {pair: contrast(palette[pair[0]], palette[pair[1]]) for pair in LETTERS}
    assert {pair: round(found, 2) for pair, found in weak.items() if found < 4.5} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drawings_can_be_told_from_the_paper(scheme: str) -> None:
    palette = PALETTES[scheme]
    weak = [at for at in range(1, 9) if contrast(palette[f"c{at}"], palette["panel"]) < 3]
    assert weak == []


def test_dark_is_the_same_whether_the_system_or_a_visitor_chose_it() -> None:
    css = (ASSETS / "base.css").read_text()
    dark = re.findall(r"color-scheme: dark;(.*?)\}", css, re.DOTALL)
    assert len(dark) == 2 and len({" ".join(one.split()) for one in dark}) == 1
