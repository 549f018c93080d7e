"""The other half of the stories of operators, told four ways.

Oracle: the story's own text, and Spark batch on the rows it hands in.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.told import names, stories, tell_four_ways

STORIES = stories(are_of_operators=True)[1::2]


@pytest.mark.parametrize("path", STORIES, ids=names(STORIES))
def test_a_story_ends_the_same_however_it_is_told(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tell_four_ways(path, tmp_path, is_update=bool(request.config.getoption("--update")))
