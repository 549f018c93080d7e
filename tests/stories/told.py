"""Tells a story four ways, and all of them have to end the same.

Stories take most of the time of all tests, so they stand in several test files: a file runs on one worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.stories.story import parse, rewrite
from tests.stories.telling import WAYS, Teller

HERE = Path(__file__).parent


def stories(*, are_of_operators: bool) -> list[Path]:
    """All stories of operators, or all others."""
    return [p for p in sorted(HERE.rglob("*.story")) if (p.parent.name == "operators") == are_of_operators]


def names(paths: Sequence[Path]) -> list[str]:
    """What stories are called: `operators/join`."""
    return [str(path.relative_to(HERE).with_suffix("")) for path in paths]


def tell_four_ways(path: Path, folder: Path, *, is_update: bool) -> None:
    """Tell a story; with `is_update` what came out is written into it."""
    blocks = parse(path)
    assert blocks, "an empty story tells nothing"
    ends = {}
    for way in WAYS:
        teller = Teller(way, folder / way.replace(" ", "-"), is_update=is_update and way == "as written")
        ends[way] = teller.tell(blocks)
        if teller.answers:
            rewrite(path, teller.answers, blocks)
            pytest.fail(f"{path.name} was rewritten; read it and run again")
        print(f"{path.stem}, {way}: {teller.moved} rows moved")
    first = ends[WAYS[0]]
    assert all(end == first for end in ends.values())
