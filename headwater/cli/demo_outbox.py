"""`headwater demo outbox`: orders told in messages of the log, over Debezium and Kafka or straight from the log."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console

from headwater.cli.answer import Row, rows_of
from headwater.cli.demo_board import Board, Scene
from headwater.cli.demo_lines import DemoView, choose_demo_view, say_waiting
from headwater.cli.demo_sheet import Rows
from headwater.cli.lines import signed_rows
from headwater.cli.render import choose_view
from headwater.cli.run import follow, opened
from headwater.cli.stop import Stop
from headwater.cli.view import ALL_ROWS, Answers, View
from headwater.connect.files import read_connector
from headwater.demo import outbox as demo
from headwater.demo.connector import run_connector, wait_for_topics
from headwater.demo.feeds import Feed, Said, follow_topics
from headwater.demo.session import DemoFolder, Generator, demo_folder
from headwater.demo.stage import Database, Ports, begin_notes, connect_part, kafka_part
from headwater.demo.together import Part, fetch_all, run_together
from headwater.runtime.facts import BatchDone
from headwater.sources.base import Report

SETS = (
    # part, and a set of packages that it needs
    ("kafka", "kafka"),
    ("connect", "debezium-postgres"),
    ("headwater", "spark-kafka"),
)

EVENTS_BEFORE = 5
"""So many messages that are there already are shown at first."""


def without_key(rows: Rows) -> Rows:
    """The rows without the column that stands before them anyway."""
    return {key: {name: row[name] for name in row if name != KEY} for key, row in rows.items()}


KEY = "order_id"

SCENE = Scene(
    demo.NAME, (demo.MESSAGES_TOPIC,), f"topic {demo.OUTPUT_TOPIC}", KEY, without_key, newest_first=True
)

FROM_LOG = Scene(demo.NAME, (), "live query", KEY, without_key, newest_first=True)


def outbox_command(given: argparse.Namespace) -> int:
    """Start everything, follow the orders, stop everything."""
    folder = demo_folder(demo.NAME, given.state)
    with Stop() as stop:
        with folder.alone(fresh=given.fresh, waits=say_waiting):
            ports = begin_notes(folder).ports
            demo.write_files(folder, ports)
            if given.no_kafka:
                _play_from_log(folder, ports, given=given, stop=stop)
            else:
                view = choose_demo_view(SCENE, sys.stdout, sys.stderr, plain=given.plain)
                with closing(view):
                    _play(folder, ports, view, stop=stop, seconds=given.seconds)
        stop.end()
    return 0


def _play(folder: DemoFolder, ports: Ports, view: DemoView, *, stop: Stop, seconds: float | None) -> None:
    database = Database(folder.database, ports.postgres, make_tables=demo.make_tables)
    parts = [Part("postgres", database), kafka_part(folder, ports), connect_part(folder, ports)]

    def ending() -> None:
        stop.closing()
        view.ending()

    fetch_all(SETS, view.news)
    with run_together(parts, view.news, closing=ending):
        run_connector(ports.worker, read_connector(folder.path / "orders-cdc.json"), tell=view.news)
        # Its topic is there after the slot: what is said from now on is heard.
        wait_for_topics(ports.broker, [demo.ORDERS_TOPIC], tell=view.news)
        with Generator(database.uri, every=demo.EVERY_SECONDS, worker=demo.Waiter) as generator:
            wait_for_topics(ports.broker, [demo.MESSAGES_TOPIC], tell=view.news)
            view.commands(demo.commands(folder, ports))
            file = folder.path / "outbox.sql"
            with (
                opened(_text(file), str(file), state=folder.state, view=view, stop=stop) as pipeline,
                Feed(follow_topics(ports.broker, SCENE.topics, view.heard, last=EVENTS_BEFORE)) as messages,
                Feed(follow_topics(ports.broker, [demo.OUTPUT_TOPIC], LastValues(view).heard)) as output,
            ):

                def watch() -> None:
                    for one in (messages, output, generator):
                        one.check()

                follow(pipeline, view, stop=stop, seconds=seconds, watch=watch)


class LastValues:
    """The rows that a topic's messages leave by key: the last value counts, a key without one is gone."""

    def __init__(self, view: DemoView) -> None:
        self._view = view
        self._rows: dict[int, dict[str, Any]] = {}

    def heard(self, said: Sequence[Said]) -> None:
        """Take more messages."""
        for one in said:
            key = json.loads(one.key or b"{}")[KEY]
            if one.value is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = json.loads(one.value)
        self._view.rows(dict(self._rows))


def _play_from_log(folder: DemoFolder, ports: Ports, *, given: argparse.Namespace, stop: Stop) -> None:
    """The same without Kafka: the messages are a table, and what it says is a live query."""
    database = Database(folder.database, ports.postgres, make_tables=demo.make_tables)
    view = _order_view(plain=given.plain, hint=demo.order_command(folder))
    with closing(view):
        view.report(Report("postgres", "starting Postgres"))
        file = folder.path / "outbox-wal.sql"
        with (
            run_together([Part("postgres", database)], lambda news: None, closing=stop.closing),
            opened(_text(file), str(file), state=folder.path / "state-wal", view=view, stop=stop) as pipeline,
            Generator(database.uri, every=demo.EVERY_SECONDS, worker=demo.Waiter) as generator,
        ):
            follow(pipeline, view, stop=stop, seconds=given.seconds, watch=generator.check)


def _order_view(*, plain: bool, hint: str) -> View:
    """The newest orders first on a terminal, a line for each elsewhere."""
    if plain or not sys.stdout.isatty():
        return choose_view(None, plain=True, title=demo.NAME)
    board = OrderBoard(Console(), FROM_LOG)
    board.commands([hint])
    return board


class OrderBoard(Board):
    """A board whose rows come from the live query itself and not from a topic."""

    def open(self, answers: Answers) -> None:
        """Begin with what is true already."""
        (self._query,) = answers.queries
        self._names = answers.schema(self._query).names
        found = rows_of(answers.rows(self._query, ALL_ROWS), answers.schema(self._query))
        self._orders = {row[0]: self._named(row) for row in found}
        super().open(answers)
        self.rows(dict(self._orders))

    def batch(self, done: BatchDone) -> None:
        """Take the orders of the batch: a message is never taken back, so they only come."""
        super().batch(done)
        if self._query in done.changes:
            self._orders |= {row[0]: self._named(row) for _, row in signed_rows(done.changes[self._query])}
            self.rows(dict(self._orders))

    def _named(self, row: Row) -> dict[str, Any]:
        return dict(zip(self._names, row, strict=True))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
