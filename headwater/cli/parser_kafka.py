"""What can be typed about Kafka and its connectors."""

from __future__ import annotations

import argparse
from pathlib import Path

Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers gives

URL = "http://localhost:8083"
BOOTSTRAP = "localhost:9092"

NAMED = {
    "pause": "let a connector rest; its place is kept",
    "resume": "let a connector that rests go on",
    "restart": "restart a connector",
    "delete": "remove a connector; slot, publication and topics stay",
}


def add_connect(commands: Commands[argparse.ArgumentParser]) -> None:
    """`headwater connect ...`."""
    connect = commands.add_parser("connect", help="connectors of a Kafka Connect cluster")
    what = connect.add_subparsers(dest="connect", required=True, metavar="WHAT")
    register = what.add_parser("register", help="create a connector or change it, and wait until it runs")
    _add_file(register)
    _add_url(register)
    status = what.add_parser("status", help="how connectors and their tasks are: exit 1 if one has failed")
    status.add_argument("name", nargs="?", metavar="NAME", help="one connector (default: all)")
    _add_url(status)
    _add_url(what.add_parser("list", help="the names of all connectors"))
    for word, text in NAMED.items():
        named = what.add_parser(word, help=text)
        named.add_argument("name", metavar="NAME", help="the connector")
        if word == "restart":
            named.add_argument("--tasks", action="store_true", help="its tasks too")
        _add_url(named)
    _add_file(what.add_parser("translate", help="print the file as today's Debezium wants it, as JSON"))


def add_topics(commands: Commands[argparse.ArgumentParser]) -> None:
    """`headwater topics`."""
    topics = commands.add_parser("topics", help="the topics of a Kafka cluster")
    topics.add_argument("--internal", action="store_true", help="also those whose names begin with _")
    _add_cluster(topics)


def add_tail(commands: Commands[argparse.ArgumentParser]) -> None:
    """`headwater tail`."""
    tail = commands.add_parser("tail", help="show the events of a topic as they come, decoded")
    tail.add_argument("topic", metavar="TOPIC", help="the topic")
    tail.add_argument("--from-beginning", action="store_true", help="also what is there already")
    tail.add_argument("--max", type=positive, metavar="N", help="stop after so many events")
    tail.add_argument("--keys", action="store_true", help="the key of each event too")
    tail.add_argument("--raw", action="store_true", help="values as they are, undecoded")
    _add_cluster(tail)


def positive(text: str) -> int:
    """A number of at least one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


def property_pair(text: str) -> tuple[str, str]:
    """A property as it is typed: `security.protocol=SSL`."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"'{name}' is not a property; write NAME=VALUE")
    return name.strip(), value.strip()


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the connector's JSON file")


def _add_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", default=URL, metavar="URL", help=f"a worker of Connect (default: {URL})")


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help=f"a broker (default: {BOOTSTRAP})")
    parser.add_argument(
        "--property",
        dest="properties",
        type=property_pair,
        action="append",
        default=[],
        metavar="K=V",
        help="a property of the client, in Java's or librdkafka's words; as often as needed",
    )
