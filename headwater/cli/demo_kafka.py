"""`headwater demo claims-kafka`: Postgres, Debezium, Kafka and an index, all real, and the documents that follow."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from functools import partial

from headwater.cli.demo_board import Scene
from headwater.cli.demo_lines import DemoView, choose_demo_view, say_waiting
from headwater.cli.demo_sheet import crosstab
from headwater.cli.run import follow, opened
from headwater.cli.stop import Stop
from headwater.connect.files import read_connector
from headwater.demo import claims_kafka as demo
from headwater.demo.claims import EVERY_SECONDS, Office, make_tables
from headwater.demo.connector import run_connector, wait_for_topics
from headwater.demo.feeds import Feed, follow_index, follow_topics
from headwater.demo.session import DemoFolder, Generator, demo_folder
from headwater.demo.stage import (
    Database,
    Notes,
    begin_notes,
    connect_part,
    kafka_part,
    opensearch_part,
)
from headwater.demo.together import Part, fetch_all, run_together

SETS = (
    # part, and a set of packages that it needs
    ("kafka", "kafka"),
    ("connect", "debezium-postgres"),
    ("opensearch", "opensearch"),
    ("headwater", "spark-kafka"),
)

EVENTS_BEFORE = 3
"""So many events that are there already are shown at first."""


def claims_kafka_command(given: argparse.Namespace) -> int:
    """Start everything, follow the documents, stop everything."""
    folder = demo_folder(demo.NAME, given.state)
    with Stop() as stop:
        with folder.alone(fresh=given.fresh, waits=say_waiting):
            notes = begin_notes(folder, demo.members_of(folder, given.members))
            view = choose_demo_view(_scene(notes), sys.stdout, sys.stderr, plain=given.plain)
            with closing(view):
                _play(folder, notes, view, stop=stop, seconds=given.seconds)
        stop.end()
    return 0


def _scene(notes: Notes) -> Scene:
    laid_out = partial(
        crosstab, down="accident_detail", across="insurance_company", value="accident_agg_cost"
    )
    return Scene(demo.NAME, demo.TOPICS[notes.variant], f"index {demo.INDEX}", "accident_agg_cost", laid_out)


def _play(folder: DemoFolder, notes: Notes, view: DemoView, *, stop: Stop, seconds: float | None) -> None:
    files, ports = demo.write_files(folder, notes), notes.ports
    database = Database(folder.database, ports.postgres, make_tables=make_tables)
    parts = [
        Part("postgres", database),
        kafka_part(folder, ports),
        connect_part(folder, ports),
        opensearch_part(folder, ports),
    ]

    def ending() -> None:
        stop.closing()
        view.ending()

    fetch_all(SETS, view.news)
    with run_together(parts, view.news, closing=ending):
        topics = demo.TOPICS[notes.variant]
        run_connector(ports.worker, read_connector(files.connector), tell=view.news)
        wait_for_topics(ports.broker, topics, tell=view.news)
        view.commands(demo.commands(folder, notes))
        text = files.pipeline.read_text(encoding="utf-8")
        with (
            opened(text, str(files.pipeline), state=folder.state, view=view, stop=stop) as pipeline,
            Feed(follow_topics(ports.broker, topics, view.heard, last=EVENTS_BEFORE)) as events,
            Feed(follow_index(ports.search, demo.INDEX, view.rows)) as documents,
            Generator(
                database.uri,
                every=EVERY_SECONDS,
                worker=partial(Office, moves=demo.MOVES[notes.variant]),
            ) as generator,
        ):

            def watch() -> None:
                for one in (events, documents, generator):
                    one.check()

            follow(pipeline, view, stop=stop, seconds=seconds, watch=watch)
