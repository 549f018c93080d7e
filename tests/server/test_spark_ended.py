"""What a server says when its Spark has ended. Oracle: the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from headwater.errors import HeadwaterError
from headwater.runtime.facts import Silent
from headwater.runtime.hosting import Host


class Ended:
    """A session whose Java is gone."""

    @property
    def sparkContext(self) -> Any:  # its name there
        raise ConnectionRefusedError("nobody listens")


def test_nothing_is_opened_on_a_spark_that_has_ended(tmp_path: Path) -> None:
    host = Host(tmp_path, spark=cast(Any, Ended()))
    assert not host.is_ready
    with pytest.raises(HeadwaterError, match="Spark has ended"):
        host.start(Silent())
    with pytest.raises(HeadwaterError, match="Spark has ended"):
        host.open("SELECT 1;", "shop", file="shop.sql", state=tmp_path / "shop", listener=Silent())
