"""The tables of a run: figures side by side, ratios beside their goals, failures with their reasons, settings."""

from __future__ import annotations

from collections.abc import Sequence

from bench.goals import OURS, judged
from bench.results import Run

FAILED = "failed"


def told(run: Run) -> str:
    """All that the page says of a run."""
    pieces = [figures(run), goals(run), failures(run), settings(run)]
    return "\n\n".join(piece for piece in pieces if piece)


def figures(run: Run) -> str:
    """One line for each thing that was measured, one column for each who took part."""
    who = ordered([f.who for f in run.figures] + [f.who for f in run.failures])
    units = {(f.workload, f.what): f.unit for f in run.figures}
    rows = [
        [workload, f"{what}, {unit}", *(cell(run, workload, what, each) for each in who)]
        for (workload, what), unit in units.items()
    ]
    return table(["", "", *who], rows)


def cell(run: Run, workload: str, what: str, who: str) -> str:
    """A figure, or that there is none because it failed, at this or before it came to it."""
    value = run.value(workload, what, who)
    if value is not None:
        return number(value)
    broke = [f for f in run.failures if (f.workload, f.who) == (workload, who)]
    # Some figures, as those of a recompute, are of nobody who runs the legs.
    is_leg = run.value(workload, what, OURS) is not None
    return FAILED if broke and (is_leg or any(f.what == what for f in broke)) else ""


def goals(run: Run) -> str:
    """Each goal, the ratio it is about, and whether it is met."""
    rows = [
        [
            each.goal.workload,
            each.goal.what,
            f"of {each.goal.against}'s {each.goal.other or ''}".strip() if each.goal.against else "itself",
            "" if each.ratio is None else f"{each.ratio:.2f}",
            each.goal.told(),
            each.verdict,
        ]
        for each in judged(run)
    ]
    return table(["", "ours", "", "ratio", "target", ""], rows) if rows else ""


def failures(run: Run) -> str:
    """Who failed at what, and why."""
    return "\n".join(f"- {f.who} failed at {f.what} ({f.workload}): {f.reason}" for f in run.failures)


def settings(run: Run) -> str:
    """How everyone was set up."""
    return "\n".join(
        f"- **{each.who}**: " + "; ".join(f"{name} `{value}`" for name, value in each.given.items())
        for each in run.settings
    )


def number(value: float) -> str:
    """As many digits as mean something.

    >>> number(118.23), number(0.1714), number(20412.7), number(0.0)
    ('118', '0.17', '20,413', '0')
    """
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown knows it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ordered(names: Sequence[str]) -> list[str]:
    """Each name once, in the order in which they first come."""
    return list(dict.fromkeys(names))
