"""The notebook of the lab, top to bottom, with the databases it starts.

Oracle: the same question asked of the shop, in the notebook itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.services.cast import look
from tests.notebook.executed import Executed, tables


@pytest.mark.jvm
@pytest.mark.services
@pytest.mark.timeout(1200)
def test_the_star_of_the_lab_knows_what_the_shop_knows(folder: Path) -> None:
    lab = Executed("lab", folder)
    (shop,) = tables(lab.text("FROM orders AS o JOIN orderdetails"))
    new_order, star = tables(lab.text('WHERE f."orderNumber" = 999001'))
    assert len(shop) == 5 and star == shop
    assert [row[2] for row in new_order] == ["Reykjavik"] and new_order[0][-2:] == ["1000", "250.00"]
    # What stands below the live cells was drawn in place, and is of the same moment.
    (chart,) = lab.outputs("--chart bar")
    assert tables(chart["data"]["text/plain"]) == [shop]
    assert chart["data"]["text/html"].count('class="hw-bar') == 5
    assert len(lab.outputs("--rows 8")) == 1
    assert lab.text("--name star").startswith("stopped In [8] star batch")
    status = tables(lab.text("%headwater status"))[0]
    assert [row[3] for row in status[:3]] == ["running"] * 3
    assert [row[3] for row in tables(lab.text("%headwater stop"))[0][:3]] == ["stopped"] * 3
    assert not (folder / ".headwater" / "star").exists() and look(folder / ".headwater" / "services") == []
