"""Every option of every format stands on the page of formats.

Oracle: the options themselves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.formats.kinds import FORMATS
from headwater.options import options_of

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


@pytest.mark.parametrize("name", FORMATS)
def test_every_option_is_explained(name: str) -> None:
    page = PAGE.read_text()
    assert f"\n## {name}\n" in page
    missing = [o.name for o, _ in options_of(FORMATS[name]) if f"`{name}.{o.name}`" not in page]
    assert missing == []
