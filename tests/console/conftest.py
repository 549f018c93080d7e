"""The browser, and a server with its console that the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.console.stand import Stand, chromium, looking, standing


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a file: as long as it is there, nothing else in the process can run a loop."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A server that asks for no token."""
    with standing(tmp_path_factory.mktemp("console") / "server") as made:
        yield made


@pytest.fixture
def page(browser: Browser, stand: Stand) -> Iterator[Page]:
    """A page of a visitor who was never here."""
    with looking(browser, stand.address) as made:
        yield made
