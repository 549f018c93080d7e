"""Follow a live query on a terminal until it ends, or somebody presses a key for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from prompt_toolkit.input import create_input
from prompt_toolkit.keys import Keys
from rich.console import Console

from headwater.cli.client.changelog import CHANGELOG, TABLEAU, ChangelogView
from headwater.cli.live import LiveView
from headwater.errors import HeadwaterError
from headwater.runtime import conversation
from headwater.runtime.conversation import LiveAnswers, Onlooker, Query
from headwater.runtime.facts import BatchDone
from headwater.sources.base import Report

POLL_SECONDS = 0.05
FOOTNOTE = "q ends the query"

ENDING = ("q", "Q", Keys.ControlC, Keys.ControlD, Keys.Escape)


class Keyboard(Protocol):
    """Where keys come from while a query is shown."""

    def listening(self) -> AbstractContextManager[None]:
        """From here on keys come one by one, and Ctrl-C is a key."""

    def pressed(self) -> bool:
        """True if a key was pressed that ends a query."""


class TerminalKeyboard:
    """The keys of the terminal that standard input is."""

    def __init__(self) -> None:
        self._input = create_input()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take keys one by one, and give the terminal back at the end."""
        with self._input.raw_mode():
            yield

    def pressed(self) -> bool:
        """True if a key was pressed that ends a query."""
        keys = [*self._input.read_keys(), *self._input.flush_keys()]
        return any(press.key in ENDING for press in keys) or self._input.closed


class Shown(Onlooker, Protocol):
    """An onlooker that shows what it hears."""

    def close(self) -> None:
        """Leave the terminal as it should stay."""


class Gate:
    """Passes on what it hears until it is shut: a pipeline that ends late draws nothing into what comes next."""

    def __init__(self, view: Shown) -> None:
        self.gone: BrokenPipeError | None = None
        """Why nobody reads any more what is shown; who tells it runs in another thread, and goes on."""
        self._view = view
        self._lock = threading.Lock()
        self._is_open = True

    def report(self, report: Report) -> None:
        """Pass it on."""
        self._pass(lambda: self._view.report(report))

    def batch(self, done: BatchDone) -> None:
        """Pass it on."""
        self._pass(lambda: self._view.batch(done))

    def open(self, answers: LiveAnswers) -> None:
        """Pass it on."""
        self._pass(lambda: self._view.open(answers))

    def say(self, text: str) -> None:
        """Pass it on."""
        self._pass(lambda: self._view.say(text))

    def shut(self) -> None:
        """Leave the terminal as it should stay."""
        with self._lock:
            self._is_open = False
            self._view.close()

    def _pass(self, tell: Callable[[], None]) -> None:
        with self._lock:
            if self._is_open:
                try:
                    tell()
                except BrokenPipeError as gone:
                    self._is_open, self.gone = False, gone


def view_for(mode: str, console: Console, title: str) -> Shown:
    """The view that the session's setting asks for."""
    match mode:
        case "changelog" | conversation.SUBSCRIBED:
            return ChangelogView(console, CHANGELOG)
        case "tableau":
            return ChangelogView(console, TABLEAU)
        case _:
            return LiveView(console, title=title, footnote=FOOTNOTE, screen=True)


def watch(query: Query, view: Shown, keyboard: Keyboard) -> HeadwaterError | None:
    """Show a query until it ends; a first key lets its step end, a second one does not wait. Why it failed."""
    gate = Gate(view)
    presses = 0
    with keyboard.listening():
        query.start(gate)
        try:
            while not query.ended.wait(POLL_SECONDS) and presses < 2:
                if keyboard.pressed():
                    presses += 1
                    query.stop()
        finally:
            query.stop()
            gate.shut()
    return query.problem
