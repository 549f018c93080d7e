"""`headwater demo star`: a shop on MySQL or MariaDB, and its star schema in Postgres, which is whole at any moment."""

from __future__ import annotations

import argparse

from headwater.cli.demo_board import Scene
from headwater.cli.demo_lines import say_waiting
from headwater.cli.demo_play import Play, perform
from headwater.cli.demo_sheet import Rows
from headwater.cli.stop import Stop
from headwater.demo import star as demo
from headwater.demo.classicmodels import TARGET_SCHEMA
from headwater.demo.session import DemoFolder, Generator, demo_folder
from headwater.demo.stage import Database, Ports, begin_variant, connect_part, kafka_part
from headwater.demo.together import Part

TOPICS = "shop.classicmodels.*"


def without_key(rows: Rows) -> Rows:
    """The rows without the columns that stand before them anyway."""
    return {key: {name: row[name] for name in row if name not in demo.KEY} for key, row in rows.items()}


def star_command(given: argparse.Namespace) -> int:
    """Start everything, follow the star, stop everything."""
    folder = demo_folder(demo.NAME, given.state)
    way = demo.Way("mariadb" if given.mariadb else "mysql", through_kafka=not given.no_kafka)
    with Stop() as stop:
        with folder.alone(fresh=given.fresh, waits=say_waiting):
            ports = begin_variant(folder, way.variant).ports
            play = _play(folder, ports, way)
            perform(play, folder, ports, plain=given.plain, stop=stop, seconds=given.seconds)
        stop.end()
    return 0


def _play(folder: DemoFolder, ports: Ports, way: demo.Way) -> Play:
    files = demo.write_files(folder, ports, way=way)
    database = Database(folder.database, ports.postgres, make_tables=demo.make_star)
    shop = demo.Shop(folder, ports, server=way.server)
    parts = [Part(way.server, shop), Part("postgres", database)]
    if way.through_kafka:
        plugins = (f"debezium-{way.server}",)
        parts += [
            kafka_part(folder, ports),
            connect_part(folder, ports, database=way.server, plugins=plugins),
        ]
    return Play(
        scene=Scene(
            demo.NAME,
            (TOPICS,) if way.through_kafka else (),
            f"schema {TARGET_SCHEMA}",
            "fact_orders",
            without_key,
            newest_first=True,
            newest_only=True,
        ),
        sets=way.sets,
        parts=parts,
        pipeline=files.pipeline,
        connector=files.connector,
        topics=demo.TOPICS,
        late_topics=(demo.TRANSACTIONS_TOPIC,),
        target=database.uri,
        look=demo.Watcher().look,
        generator=Generator(
            shop.place, every=demo.EVERY_SECONDS, worker=demo.Shopkeeper, connect=demo.connected_shop
        ),
        commands=demo.commands(folder, ports, way=way),
    )
