"""Every option of every format stands on the page of formats.

Oracle: the options themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.formats.kinds import FORMATS
from headwater.formats.metadata import METADATA, broker_metadata
from headwater.options import options_of

CONNECTOR = Path(__file__).parents[2] / "docs" / "connectors" / "kafka.md"
PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


@pytest.mark.parametrize("name", FORMATS)
def test_every_option_is_explained(name: str) -> None:
    page = PAGE.read_text()
    assert f"\n## {name}\n" in page
    missing = [o.name for o, _ in options_of(FORMATS[name]) if f"`{name}.{o.name}`" not in page]
    assert missing == []


def test_the_page_of_the_connector_tells_which_metadata_a_format_has() -> None:
    table = re.findall(
        r"^\| (`.+`) \| [A-Z_<>, ]+ \| (all|`debezium-json`) \|", CONNECTOR.read_text(), re.MULTILINE
    )
    told = {name: formats == "all" for names, formats in table for name in re.findall("`(.+?)`", names)}
    assert told == {name: name in broker_metadata() for name in METADATA}
