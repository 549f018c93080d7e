"""Events that many wait for are made once. Oracle: how often somebody was asked to make one."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from headwater.runtime.feed import Feed
from headwater.server.shared_events import MOST_KEPT, SharedEvents, Small


class Maker:
    """Makes an event when it may."""

    def __init__(self) -> None:
        self.asked = 0
        self.may = threading.Event()

    def __call__(self) -> Small:
        self.asked += 1
        assert self.may.wait(120.0)
        return Small(8, "8@x", b"event")


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed(tmp_path / "feed", 0)


def test_fifty_who_wait_for_a_batch_have_it_made_once(feed: Feed) -> None:
    maker, shared = Maker(), SharedEvents()

    async def all_ask() -> list[Small | None]:
        asking = [asyncio.create_task(shared.after(7, feed, "v", making=maker)) for _ in range(50)]
        await asyncio.sleep(0)
        maker.may.set()
        found = await asyncio.gather(*asking)
        return [*found, await shared.after(7, feed, "v", making=maker)]

    assert asyncio.run(all_ask()) == [Small(8, "8@x", b"event")] * 51
    assert maker.asked == 1


def test_one_who_goes_does_not_take_it_from_the_others(feed: Feed) -> None:
    maker, shared = Maker(), SharedEvents()

    async def one_goes() -> Small | None:
        first, second = (asyncio.create_task(shared.after(7, feed, "v", making=maker)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        maker.may.set()
        return await second

    assert asyncio.run(one_goes()) == Small(8, "8@x", b"event")
    assert maker.asked == 1


def test_another_view_or_batch_is_another_event_and_few_are_kept(feed: Feed) -> None:
    maker, shared = Maker(), SharedEvents()
    maker.may.set()

    async def many() -> None:
        for number in range(MOST_KEPT + 1):
            await shared.after(number, feed, "v", making=maker)
        await shared.after(0, feed, "v", making=maker)
        await shared.after(MOST_KEPT, feed, "v", making=maker)
        await shared.after(MOST_KEPT, feed, "w", making=maker)

    asyncio.run(many())
    assert maker.asked == MOST_KEPT + 3, "the oldest was made again, and that of the other view"


def test_what_failed_is_tried_again_by_who_asks_next(feed: Feed) -> None:
    maker, shared = Maker(), SharedEvents()
    maker.may.set()

    def failing() -> Small:
        raise OSError("too many open files")

    async def two_then_one() -> Small | None:
        asking = [asyncio.create_task(shared.after(7, feed, "v", making=failing)) for _ in range(2)]
        failed = await asyncio.gather(*asking, return_exceptions=True)
        assert [type(one) for one in failed] == [OSError, OSError]
        return await shared.after(7, feed, "v", making=maker)

    assert asyncio.run(two_then_one()) == Small(8, "8@x", b"event")
