"""What a server says when its Spark has ended. Oracle: the words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from pyspark import SparkContext

from headwater.errors import HeadwaterError
from headwater.log.positions import Cut
from headwater.runtime.facts import Silent
from headwater.runtime.hosting import Host
from headwater.runtime.resources import Held, held_by
from headwater.runtime.snapshot import Snapshot


class Ended:
    """A session whose Java is gone."""

    @property
    def sparkContext(self) -> Any:  # its name there
        raise ConnectionRefusedError("nobody listens")


class Gone:
    """What is known of a Spark whose Java was killed: whatever it is asked, nobody answers."""

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError("nobody listens")


@pytest.mark.parametrize("page", ["/metrics", "/resources", "/ready", "/pipelines"])
def test_who_watches_over_the_server_is_answered_all_the_same(
    page: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", Gone())
    answer = client.get(page)
    assert answer.status_code == (503 if page == "/ready" else 200), answer.text
    if page == "/resources":
        assert answer.json()["cores"]["total"] == answer.json()["memory_bytes"]["total"] == 0


def test_a_pipeline_whose_spark_has_ended_has_no_cores() -> None:
    @contextmanager
    def snapshot() -> Iterator[Snapshot]:
        yield Snapshot(Cut(), 1, {})

    engine = SimpleNamespace(spark=Ended(), is_at_work=False)
    pipeline: Any = SimpleNamespace(name="shop", engine=engine, snapshot=snapshot)
    assert held_by(pipeline) == Held(0, {}, {})


def test_nothing_is_opened_on_a_spark_that_has_ended(tmp_path: Path) -> None:
    host = Host(tmp_path, spark=cast(Any, Ended()))
    assert not host.is_ready
    with pytest.raises(HeadwaterError, match="Spark has ended"):
        host.start(Silent())
    with pytest.raises(HeadwaterError, match="Spark has ended"):
        host.open("SELECT 1;", "shop", file="shop.sql", state=tmp_path / "shop", listener=Silent())
