"""A demo that writes into a database: its services come up, its pipeline runs, and what anyone would see is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.cli.demo_board import Scene
from headwater.cli.demo_lines import DemoView, choose_demo_view
from headwater.cli.run import follow, opened
from headwater.cli.stop import Stop
from headwater.connect.files import read_connector
from headwater.demo.background import Background
from headwater.demo.connector import run_connector, wait_for_topics
from headwater.demo.feeds import Feed, follow_topics
from headwater.demo.looks import Look, follow_database
from headwater.demo.session import DemoFolder, Generator
from headwater.demo.stage import Ports
from headwater.demo.together import Part, fetch_all, run_together

EVENTS_BEFORE = 3
"""So many events that are there already are shown at first."""


@dataclass(frozen=True)
class Play:
    """What one demo starts and shows."""

    scene: Scene
    sets: Sequence[tuple[str, str]]
    """Packages that have to be there, each after the part that needs them."""
    parts: Sequence[Part]
    pipeline: Path
    connector: Path | None
    """Registered before the pipeline runs; None without Kafka."""
    topics: Sequence[str]
    late_topics: Sequence[str]
    """Topics that are there once something has changed."""
    target: str
    """The database that is looked at."""
    look: Callable[[Any], Look]
    generator: Generator
    commands: Sequence[str]


def perform(
    play: Play, folder: DemoFolder, ports: Ports, *, plain: bool, stop: Stop, seconds: float | None
) -> None:
    """Start everything, follow the target, stop everything."""
    view = choose_demo_view(play.scene, sys.stdout, sys.stderr, plain=plain)

    def ending() -> None:
        stop.closing()
        view.ending()

    with closing(view):
        fetch_all(play.sets, view.news)
        with run_together(play.parts, view.news, closing=ending):
            if play.connector is not None:
                run_connector(ports.worker, read_connector(play.connector), tell=view.news)
                wait_for_topics(ports.broker, play.topics, tell=view.news)
            _run(play, folder, ports, view=view, stop=stop, seconds=seconds)


def _run(
    play: Play, folder: DemoFolder, ports: Ports, *, view: DemoView, stop: Stop, seconds: float | None
) -> None:
    text = play.pipeline.read_text(encoding="utf-8")
    with ExitStack() as closing_all:
        enter = closing_all.enter_context
        works: list[Background] = [enter(play.generator)]
        if play.connector is not None:
            wait_for_topics(ports.broker, play.late_topics, tell=view.news)
        view.commands(play.commands)
        pipeline = enter(opened(text, str(play.pipeline), state=folder.state, view=view, stop=stop))
        works.append(enter(Feed(follow_database(play.target, play.look, view.look))))
        if play.connector is not None:
            works.append(
                enter(Feed(follow_topics(ports.broker, play.topics, view.heard, last=EVENTS_BEFORE)))
            )

        def watch() -> None:
            for one in works:
                one.check()

        follow(pipeline, view, stop=stop, seconds=seconds, watch=watch)
