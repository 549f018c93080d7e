"""`headwater demo audit`: each changed field of each change at a bank as a line of a text and a row for questions."""

from __future__ import annotations

import argparse

from headwater.cli.demo_board import Scene
from headwater.cli.demo_lines import say_waiting
from headwater.cli.demo_play import Play, perform
from headwater.cli.stop import Stop
from headwater.demo import audit as demo
from headwater.demo.session import DemoFolder, Generator, demo_folder
from headwater.demo.stage import Database, Ports, begin_variant, connect_part, kafka_part
from headwater.demo.together import Part

SETS = (
    # part, and a set of packages that it needs
    ("kafka", "kafka"),
    ("connect", "debezium-postgres"),
    ("headwater", "spark-kafka"),
)


def audit_command(given: argparse.Namespace) -> int:
    """Start everything, follow the history, stop everything."""
    folder = demo_folder(demo.NAME, given.state)
    through_kafka = not given.no_kafka
    with Stop() as stop:
        with folder.alone(fresh=given.fresh, waits=say_waiting):
            ports = begin_variant(folder, demo.variant(through_kafka=through_kafka)).ports
            play = _play(folder, ports, through_kafka=through_kafka)
            perform(play, folder, ports, plain=given.plain, stop=stop, seconds=given.seconds)
        stop.end()
    return 0


def _play(folder: DemoFolder, ports: Ports, *, through_kafka: bool) -> Play:
    files = demo.write_files(folder, ports, through_kafka=through_kafka)
    database = Database(folder.database, ports.postgres, make_tables=demo.make_tables)
    parts = [Part("postgres", database)]
    if through_kafka:
        parts += [kafka_part(folder, ports), connect_part(folder, ports)]
    return Play(
        scene=Scene(
            demo.NAME,
            (demo.TOPIC,) if through_kafka else (),
            f"{demo.PIVOT_FILE} and table holding_pivot",
            "row",
            newest_first=True,
            newest_only=True,
        ),
        sets=SETS if through_kafka else (),
        parts=parts,
        pipeline=files.pipeline,
        connector=files.connector,
        topics=(demo.TOPIC,),
        late_topics=(),
        target=database.uri,
        look=demo.looker(),
        generator=Generator(database.uri, every=demo.EVERY_SECONDS, worker=demo.Trader),
        commands=demo.commands(folder, ports, through_kafka=through_kafka),
    )
