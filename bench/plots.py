"""Plots of a run as SVG: for each thing that was measured, one bar for each who took part."""

from __future__ import annotations

from xml.etree import ElementTree

from bench.goals import OURS
from bench.report import number
from bench.results import Figure, Run

WIDTH, BAR, GAP, HEAD, LEFT, RIGHT = 760, 18, 6, 34, 150, 110
COLORS = {True: "#1f6feb", False: "#8c959f"}
"""Ours and the others': both are seen on a light and on a dark page."""


def plotted(run: Run, workload: str) -> str:
    """All bars of a workload, one block below the other."""
    blocks: dict[str, list[Figure]] = {}
    for figure in run.figures:
        if figure.workload == workload:
            blocks.setdefault(f"{figure.what}, {figure.unit}", []).append(figure)
    height = sum(HEAD + len(block) * (BAR + GAP) for block in blocks.values()) + GAP
    root = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", width=str(WIDTH)
    )
    root.set("font-family", "sans-serif")
    root.set("font-size", "13")
    top = 0
    for title, block in blocks.items():
        text(root, GAP, top + HEAD - 10, title, weight="bold")
        top += HEAD
        longest = max(figure.value for figure in block) or 1.0
        for figure in block:
            bar(root, top, figure, figure.value / longest)
            top += BAR + GAP
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def bar(root: ElementTree.Element, top: int, figure: Figure, share: float) -> None:
    """One bar with its name and its number."""
    length = share * (WIDTH - LEFT - RIGHT)
    text(root, GAP, top + BAR - 5, figure.who)
    place = {"x": str(LEFT), "y": str(top), "width": f"{max(length, 1.0):.1f}", "height": str(BAR)}
    ElementTree.SubElement(root, "rect", place, fill=COLORS[figure.who == OURS])
    text(root, LEFT + length + GAP, top + BAR - 5, number(figure.value))


def text(root: ElementTree.Element, x: float, y: float, words: str, weight: str = "normal") -> None:
    """Words at a place, in a grey that is read on any ground."""
    given = {"x": f"{x:.1f}", "y": f"{y:.1f}", "fill": "#6e7781", "font-weight": weight}
    ElementTree.SubElement(root, "text", given).text = words
