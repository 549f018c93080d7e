"""What can be typed about the demos."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers gives

DEMOS = ("claims", "claims-kafka", "outbox", "star", "audit")

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def add_demo(commands: Commands[argparse.ArgumentParser]) -> None:
    """`headwater demo ...`."""
    demo = commands.add_parser("demo", help="a live view over a changing database, nothing to install")
    which = demo.add_subparsers(dest="demo", required=True, metavar="WHAT")
    _add_claims(which)
    _add_claims_kafka(which)
    _add_outbox(which)
    _add_star(which)
    _add_audit(which)
    _add_clients(which)
    generate = which.add_parser("generate", help="make the demo's tables and change them, without a view")
    generate.add_argument("name", choices=("claims",), help="which demo")
    generate.add_argument("--uri", metavar="URI", help="your own Postgres (default: the running demo's)")
    generate.add_argument("--rows", type=int, metavar="N", help="stop after so many changed rows")
    generate.add_argument("--every", type=duration, default=0.5, metavar="TIME", help="pause (default: 0.5s)")
    _add_state(generate)


def _add_clients(which: Commands[argparse.ArgumentParser]) -> None:
    psql = which.add_parser("psql", help="a client on the running demo's database")
    psql.add_argument("name", choices=DEMOS, help="which demo")
    mysql = which.add_parser("mysql", help="a client on the running demo's MySQL or MariaDB")
    mysql.add_argument("name", choices=("star",), help="which demo")
    for client in (psql, mysql):
        client.add_argument(
            "-c", dest="sql", metavar="SQL", help="run this and exit; without: a prompt, or stdin"
        )
        _add_state(client)


def _add_claims(which: Commands[argparse.ArgumentParser]) -> None:
    claims = which.add_parser(
        "claims", help="insurance claims: watch the costs of each animal follow Postgres"
    )
    _add_play(claims)
    claims.add_argument("--port", type=int, metavar="N", help="the port of the demo's Postgres")


def _add_claims_kafka(which: Commands[argparse.ArgumentParser]) -> None:
    claims = which.add_parser(
        "claims-kafka", help="the same over Debezium and Kafka into the documents of an index"
    )
    _add_play(claims)
    claims.add_argument(
        "--members", choices=("jdbc", "cdc"), help="read members once (jdbc, default) or as they change (cdc)"
    )


def _add_outbox(which: Commands[argparse.ArgumentParser]) -> None:
    outbox = which.add_parser("outbox", help="orders told in messages of the log, over Debezium and Kafka")
    _add_play(outbox)
    outbox.add_argument("--no-kafka", action="store_true", help="straight from the log, Postgres alone")


def _add_star(which: Commands[argparse.ArgumentParser]) -> None:
    star = which.add_parser(
        "star", help="a shop on MySQL and its star schema in Postgres, whole at any moment"
    )
    _add_play(star)
    star.add_argument("--no-kafka", action="store_true", help="straight from the server's log, without Kafka")
    star.add_argument("--mariadb", action="store_true", help="the shop is on MariaDB")


def _add_audit(which: Commands[argparse.ArgumentParser]) -> None:
    audit = which.add_parser(
        "audit", help="each changed field of each change at a bank as a row, for questions"
    )
    _add_play(audit)
    audit.add_argument("--no-kafka", action="store_true", help="straight from the log, Postgres alone")


def _add_play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--for", dest="seconds", type=duration, metavar="TIME", help="stop after, as in 60s")
    parser.add_argument("--plain", action="store_true", help="one line per change instead of a live table")
    parser.add_argument("--fresh", action="store_true", help="forget the database and state of earlier runs")
    _add_state(parser)


def _add_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where the demo lives (default: .headwater/demo-NAME)"
    )


def duration(text: str) -> float:
    """Seconds of a length of time.

    >>> duration("2m"), duration("500ms"), duration("3")
    (120.0, 0.5, 3.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a length of time such as 60s, 500ms or 2m")
    return float(found[1]) * UNITS[found[2] or "s"]
