"""Every story, told four ways; the oracle is the story's own text and Spark batch on the rows it hands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.story import parse, rewrite
from tests.stories.telling import WAYS, Teller

HERE = Path(__file__).parent
STORIES = sorted(HERE.rglob("*.story"))


@pytest.mark.parametrize("path", STORIES, ids=[str(p.relative_to(HERE).with_suffix("")) for p in STORIES])
def test_a_story_ends_the_same_however_it_is_told(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    blocks = parse(path)
    assert blocks, "an empty story tells nothing"
    ends = {}
    is_update = bool(request.config.getoption("--update"))
    for way in WAYS:
        teller = Teller(way, tmp_path / way.replace(" ", "-"), is_update=is_update and way == "as written")
        ends[way] = teller.tell(blocks)
        if teller.answers:
            rewrite(path, teller.answers, blocks)
            pytest.fail(f"{path.name} was rewritten; read it and run again")
        print(f"{path.stem}, {way}: {teller.moved} rows moved")
    first = ends[WAYS[0]]
    assert all(end == first for end in ends.values())
