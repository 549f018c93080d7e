"""`headwater services up | fetch | down | status | logs`: real services on this machine, without containers."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.box import ASCII, ROUNDED
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table

from headwater.cli.parser_services import FOLDER, NAMES
from headwater.cli.stop import Stop
from headwater.errors import ServiceError, UsageError
from headwater.services.artifacts import fetch
from headwater.services.cast import CAST, Ports, Seen, bring_up, log_of, look, packages_of, take_down

IN_USE = re.compile(r"port \d+ is in use")

FOLLOW_SECONDS = 0.2
STYLES = {"up": "green", "crashed": "red", "does not answer": "yellow"}


def services_command(given: argparse.Namespace) -> int:
    """Run the part that was typed."""
    match given.services:
        case "up":
            return up(given.names, given.folder, ports=Ports(given.ports))
        case "fetch":
            return fetch_all(given.names)
        case "down":
            return down(given.names, given.folder)
        case "status":
            return status(given.folder)
        case _:
            return logs(given.name, given.folder, follow=given.follow)


def up(names: list[str], folder: Path, *, ports: Ports) -> int:
    """Start services and say how to reach them."""
    try:
        with Stop(), _showing() as show:
            wanted = bring_up(names, folder, ports=ports, report=show.fetched, starting=show.starting)
    except ServiceError as problem:
        if IN_USE.fullmatch(problem.message):
            problem.hint = "Stop what listens there, or let free ports be taken: --ports auto."
        raise
    seen = {service.name: service for service in look(folder)}
    _print(connections([seen[name] for name in wanted]))
    return 0


def fetch_all(names: list[str]) -> int:
    """Fetch packages into the cache, and say where each one is."""
    _check_known(names)
    with Stop(), _showing() as show:
        places = {package: fetch(package, show.fetched) for package in packages_of(names)}
    for package, place in places.items():
        print(f"{package} is in {place}")
    return 0


def down(names: list[str], folder: Path) -> int:
    """Stop services."""
    _check_known(names)
    _check_there(folder)
    with Stop() as stop:
        stop.gently()
        stopped = take_down(names, folder, stopping=lambda name: _say(f"stopping {name} ..."))
        stop.end()
    for name in names:
        if name not in stopped:
            _say(f"{name} is not up in {folder}")
    if not stopped and not names:
        _say(f"nothing runs in {folder}")
    return 0


def status(folder: Path) -> int:
    """Show what is up; 1 if something that should be is not."""
    _check_there(folder)
    seen = look(folder)
    if not seen:
        _say(f"nothing runs in {folder}")
        return 0
    _print(states(seen))
    return 0 if all(service.state == "up" for service in seen) else 1


def logs(name: str, folder: Path, *, follow: bool) -> int:
    """Print a service's log, and what is added to it."""
    log = log_of(name, folder)
    with log.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
        while follow:
            sys.stdout.flush()
            time.sleep(FOLLOW_SECONDS)
            if file.tell() > log.stat().st_size:
                # A service that was started again writes from the beginning.
                file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
    return 0


def _check_known(names: list[str]) -> None:
    if unknown := [name for name in names if name not in NAMES]:
        raise UsageError(f"there is no service '{unknown[0]}'", hint=f"The services are {', '.join(NAMES)}.")


def connections(seen: list[Seen]) -> Table:
    """How to reach each service."""
    table = _table("service", "address", "user", "password", "database")
    for service in seen:
        login = CAST[service.name].login
        table.add_row(
            service.name, service.address, *(login.get(key, "") for key in ("user", "password", "database"))
        )
    return table


def states(seen: list[Seen]) -> Table:
    """How each service is."""
    table = _table("service", "state", "address", "pid", "memory")
    for service in seen:
        style = STYLES[service.state]
        memory = "" if service.memory is None else f"{service.memory / 1024**2:,.0f} MB"
        pid = "" if service.pid is None else str(service.pid)
        table.add_row(service.name, f"[{style}]{service.state}[/]", service.address, pid, memory)
    return table


class Bars:
    """Bars for what is fetched, a spinner for what starts."""

    def __init__(self, console: Console) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True)
        self._tasks: dict[str, TaskID] = {}

    def fetched(self, name: str, done: int, total: int) -> None:
        """Show how far a set has come."""
        self._show(f"fetching {name}", done, total)

    def starting(self, name: str) -> None:
        """Show that a service starts; the one before has started."""
        for text, task in self._tasks.items():
            if text.startswith("starting"):
                self._progress.update(task, completed=1, total=1)
        self._show(f"starting {name}", 0, None)

    def close(self) -> None:
        """Take the bars away."""
        self._progress.stop()

    def _show(self, text: str, done: int, total: int | None) -> None:
        self._progress.start()
        if text not in self._tasks:
            self._tasks[text] = self._progress.add_task(text, total=total)
        self._progress.update(self._tasks[text], completed=done, total=total)


class Lines:
    """A line when something begins."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._said: set[str] = set()

    def fetched(self, name: str, done: int, total: int) -> None:
        """Say once that a set is fetched."""
        self._say(f"fetching {name} ...")

    def starting(self, name: str) -> None:
        """Say that a service starts."""
        self._say(f"starting {name} ...")

    def close(self) -> None:
        """Nothing to take away."""

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            print(text, file=self._out, flush=True)


@contextmanager
def _showing() -> Iterator[Bars | Lines]:
    show = Bars(Console(stderr=True)) if sys.stderr.isatty() else Lines(sys.stderr)
    try:
        yield show
    finally:
        show.close()


def _table(*columns: str) -> Table:
    table = Table(box=ROUNDED if sys.stdout.isatty() else ASCII)
    for column in columns:
        table.add_column(column, no_wrap=True, justify="right" if column in ("pid", "memory") else "left")
    return table


def _print(table: Table) -> None:
    # Elsewhere than on a terminal nothing is cut off.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _check_there(folder: Path) -> None:
    """A folder that somebody typed has to be there; the usual one comes with the first service."""
    if folder != FOLDER and not folder.is_dir():
        raise ServiceError(
            f"there is no folder {folder}",
            detail="Services keep their data there from their first start on.",
            hint="Give --folder the folder that was given to headwater services up.",
        )


def _say(text: str) -> None:
    print(text, flush=True)
