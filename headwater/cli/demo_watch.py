"""`headwater demo claims`: a database that changes, and a view that follows it."""

from __future__ import annotations

import argparse
from contextlib import closing

from headwater.cli.render import choose_view
from headwater.cli.run import follow, opened
from headwater.cli.stop import Stop
from headwater.demo.claims import EVERY_SECONDS, claims_sql
from headwater.demo.session import Generator, demo_database, demo_folder
from headwater.sources.base import Report

FOOTNOTE = "Ctrl-C stops. Change rows by hand in another terminal: headwater demo psql claims"


def watch_command(given: argparse.Namespace) -> int:
    """Start everything, follow the claims, stop everything."""
    folder = demo_folder("claims", given.state)
    view = choose_view(None, plain=given.plain, title="claims", footnote=FOOTNOTE)
    with Stop() as stop:
        with closing(view):
            view.report(Report("postgres", "starting Postgres"))
            with (
                demo_database(folder, port=given.port, fresh=given.fresh) as uri,
                opened(claims_sql(uri), "claims.sql", state=folder.state, view=view, stop=stop) as pipeline,
                Generator(uri, every=EVERY_SECONDS) as generator,
            ):
                follow(pipeline, view, stop=stop, seconds=given.seconds, watch=generator.check)
        stop.end()
    return 0
