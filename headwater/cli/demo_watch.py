"""`headwater demo claims`: a database that changes, a view that follows it, and a console to look at both."""

from __future__ import annotations

import argparse
import threading
from contextlib import closing
from time import monotonic as now

from headwater.cli.demo_console import DemoServer, Screen, check, console
from headwater.cli.render import choose_view
from headwater.cli.stop import Stop
from headwater.cli.view import View
from headwater.demo.claims import EVERY_SECONDS, claims_dashboard, claims_sql
from headwater.demo.session import DemoFolder, Generator, demo_database, demo_folder
from headwater.server.deployed import Deployed
from headwater.sources.base import Report

NAME = "claims"
FOOTNOTE = "Ctrl-C stops. Change rows by hand in another terminal: headwater demo psql claims"
LISTEN_SECONDS = 0.1
"""A signal is heard so often."""


def watch_command(given: argparse.Namespace) -> int:
    """Start everything, follow the claims, stop everything."""
    folder = demo_folder(NAME, given.state)
    view = choose_view(None, plain=given.plain, title=NAME, footnote=FOOTNOTE)
    with Stop() as stop:
        with closing(view):
            view.report(Report("postgres", "starting Postgres"))
            with demo_database(folder, port=given.port, fresh=given.fresh) as uri:
                _watch(folder, uri, view, stop=stop, seconds=given.seconds)
        stop.end()
    return 0


def _watch(folder: DemoFolder, uri: str, view: View, *, stop: Stop, seconds: float | None) -> None:
    screen = Screen(view)
    server = DemoServer(folder.path / "server", folder.state, screen)
    with console(server, stop) as address:
        server.keep_dashboard(NAME, claims_dashboard())
        view.say(f"console: {address}/ with the dashboard {address}/console/dashboards/{NAME}")
        deployed = server.begin(NAME, claims_sql(uri, "claims_views.sql"))
        while not deployed.turning.opened.wait(LISTEN_SECONDS):
            check(deployed)
        with Generator(uri, every=EVERY_SECONDS) as generator:
            stop.gently()
            _follow(deployed, screen, generator, stop=stop, seconds=seconds)


def _follow(
    deployed: Deployed, screen: Screen, generator: Generator, *, stop: Stop, seconds: float | None
) -> None:
    """Wait for a signal, or for so long after the first result; what fails meanwhile is raised."""
    never = threading.Event()
    until: float | None = None
    while stop.asked is None and (until is None or now() < until):
        never.wait(LISTEN_SECONDS)
        check(deployed)
        screen.check()
        generator.check()
        if until is None and seconds is not None and screen.shown:
            until = now() + seconds
