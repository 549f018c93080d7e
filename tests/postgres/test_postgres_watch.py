"""Whoever looks at the tables beside the stream and fails: what else is looked at does not suffer, and a mistake is told.

Oracle: the texts, by hand.
"""

from __future__ import annotations

from typing import Any

import psycopg2.errors
import pytest

from headwater.sources.base import Report, Retained
from headwater.sources.postgres.config import CaptureConfig, config_of
from headwater.sources.postgres.guard import Guard
from headwater.sources.postgres.watch import Watch
from tests.postgres.world import Database, World, wait_for

pytestmark = pytest.mark.services


@pytest.fixture
def watched(database: Database, world: World, monkeypatch: pytest.MonkeyPatch) -> CaptureConfig:
    """What a watch over slot `s` has to know, which looks often."""
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.05)
    database.run("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
    return config_of([database.table("t", "id int", "id", slot__name="s")], world.context, after=None)


class Troubled(Guard):
    """Looks at no table, and may fail even at that."""

    def __init__(self, trouble: Exception) -> None:
        self.trouble: Exception | None = trouble

    def look(self, cursor: Any) -> None:
        if self.trouble is not None:
            raise self.trouble


def test_who_cannot_look_at_the_tables_still_sees_what_is_kept(watched: CaptureConfig) -> None:
    heard: list[Report] = []
    seen: list[Retained] = []
    watch = Watch(watched, heard.append, seen.append)
    watch.guard = guard = Troubled(psycopg2.errors.QueryCanceled("somebody holds a table"))
    wait_for(lambda: bool(heard))
    before = len(seen)
    wait_for(lambda: len(seen) > before + 1)
    guard.trouble = None
    wait_for(lambda: len(heard) == 2)
    watch.stop()
    what = "what is published of the tables"
    assert [one.subject for one in heard] == [
        f"{what} cannot be seen: somebody holds a table",
        f"{what} can be seen again",
    ]


def test_a_mistake_of_whoever_looks_ends_the_capture(watched: CaptureConfig) -> None:
    watch = Watch(watched, lambda report: None, lambda retained: None)
    watch.guard = Troubled(KeyError("a mistake of ours"))

    def is_told() -> bool:
        try:
            watch.check()
        except KeyError:
            return True
        return False

    wait_for(is_told)
