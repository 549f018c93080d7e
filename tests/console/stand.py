"""A server with its console, listening at a port of this process, and a browser that looks at it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright

from headwater.server.access import Access
from headwater.server.http import make_app
from headwater.server.server import Server
from headwater.services.artifacts import fetch
from headwater.services.debian import library_folders
from headwater.services.ports import free_port
from headwater.sources.values import STORES, ValuesStore
from tests.server.serving import Served

PATIENCE = 120.0
"""So many seconds something may take on a busy machine."""

NOWHERE = "http://127.0.0.1:1"
"""Where no Kafka Connect answers."""

PROGRAMS = ("chromium-headless-shell", "chromium")

_WATCH = """place => {
  const seen = ((globalThis.glimpsed ??= {})[place] = []);
  const look = () => document.querySelectorAll(place).forEach((one) => seen.push(one.textContent));
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


class Running:
    """A server in this process, which ends and begins again at the same port."""

    def __init__(self, folder: Path, access: Access, connect_url: str) -> None:
        self._folder, self._access, self._connect_url = folder, access, connect_url
        # While nobody listens there no client must be given it.
        self.port, self._was_there = free_port(), False

    def start(self) -> None:
        """Begin, the second time with what ran when it ended."""
        listening = socket.create_server(("127.0.0.1", self.port))  # who comes too early waits
        self.server = Server(self._folder, connect_url=self._connect_url)
        if self._was_there:
            self.server.start()
        self._was_there = True
        config = uvicorn.Config(make_app(self.server, self._access), log_config=None, lifespan="off")
        config.timeout_graceful_shutdown = 1
        self._answering = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: self._answering.run(sockets=[listening]))
        self._thread.start()

    def stop(self) -> None:
        """End: nobody answers any more."""
        self._answering.should_exit = True
        self._thread.join()
        self.server.close()


@dataclass(frozen=True)
class Stand:
    """A server that answers, and how to tell it what to run."""

    folder: Path
    """What it keeps is there."""
    address: str
    running: Running | None = None
    """The server itself, if it is in this process."""

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Ask the server to do something."""
        answer = httpx.post(self.address + path, json=dict(body), timeout=PATIENCE)
        assert answer.is_success, answer.text
        return answer.json()

    def deploy(self, name: str, script: str, integration: str | None = None, **how: object) -> ValuesStore:
        """Let a script run as a new application; the store of its tables."""
        STORES[name] = ValuesStore()
        self.post("/applications", {"name": name})
        text = {"statement": script, "integration_id": integration}
        version = self.post(f"/applications/{name}/versions", text)
        self.post(f"/applications/{name}/deployments", {"version_id": version["id"], **how})
        return STORES[name]

    def get(self, path: str) -> Any:
        """What the server says."""
        return httpx.get(self.address + path, timeout=PATIENCE).json()

    def status(self, name: str) -> str:
        """How the deployment of an application is."""
        found: str = self.get(f"/pipelines/{name}")["status"]
        return found

    def until_running(self, name: str) -> None:
        """Wait until a pipeline stands."""
        until(lambda: self.status(name) == "RUNNING", f"{name} runs")


def until(holds: Callable[[], object], what: str) -> None:
    """Wait for something that will come."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE:g} s: {what}"
        time.sleep(0.05)


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Stand]:
    """A server in a process of its own, whose Spark starts with the packages that its scripts need."""
    server = Served(folder, *words)
    server.start()
    try:
        yield Stand(folder, server.url.replace("127.0.0.1", "localhost"))
    finally:
        server.stop()


@contextmanager
def standing(folder: Path, access: Access | None = None, *, connect_url: str = NOWHERE) -> Iterator[Stand]:
    """A server at a free port; the stores that its pipelines read are gone with it."""
    before = dict(STORES)
    running = Running(folder, access or Access(), connect_url)
    running.start()
    try:
        yield Stand(folder, f"http://localhost:{running.port}", running)
    finally:
        running.stop()
        STORES.clear()
        STORES.update(before)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A real Chromium from Debian's package, fetched if it is not here yet."""
    tree = fetch("chromium")
    programs = [tree / "usr" / "lib" / "chromium" / name for name in PROGRAMS]
    libraries = ":".join(map(str, library_folders(tree)))
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(path for path in programs if path.exists()),
            args=["--no-sandbox"],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            timeout=PATIENCE * 1000,
        )
        yield browser
        browser.close()


@contextmanager
def looking(browser: Browser, address: str, **how: Any) -> Iterator[Page]:
    """A page of a fresh visitor; a script that fails, or is refused by the browser, fails the test."""
    context = browser.new_context(base_url=address, **how)
    context.set_default_timeout(PATIENCE * 1000)
    page, troubles = context.new_page(), list[str]()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if "Policy" in said.text else None)
    page.on("dialog", lambda dialog: troubles.append(f"a script ran: {dialog.message}"))
    yield page
    context.close()
    assert troubles == []


@dataclass(frozen=True)
class Glimpses:
    """What stood at a place of a page, be it for a moment: shorter than the time until a browser is asked again."""

    page: Page
    place: str

    def __post_init__(self) -> None:
        self.page.evaluate(_WATCH, self.place)

    @property
    def texts(self) -> set[str]:
        """The texts that stood there."""
        return set(self.page.evaluate("place => glimpsed[place]", self.place))

    def until_seen(self, text: str) -> None:
        """Wait until a text stood there."""
        until(lambda: text in self.texts, f"{text!r} at {self.place}")
