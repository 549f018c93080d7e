"""What can be typed about services."""

from __future__ import annotations

import argparse
from pathlib import Path

Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers gives

NAMES = ("kafka", "connect", "opensearch", "postgres", "mysql", "mariadb")
FOLDER = Path(".headwater", "services")


def add_services(commands: Commands[argparse.ArgumentParser]) -> None:
    """`headwater services ...`."""
    services = commands.add_parser("services", help="real Kafka, databases and search on this machine")
    what = services.add_subparsers(dest="services", required=True, metavar="WHAT")
    up = what.add_parser("up", help="fetch what is missing and start services")
    up.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    ports = "kept: those they had, at first the usual ones (default); usual: the ones everybody knows; auto: any free"
    up.add_argument("--ports", choices=("kept", "usual", "auto"), default="kept", help=ports)
    _add_folder(up)
    fetch = what.add_parser("fetch", help="fetch what services need, and start nothing")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="for which (default: everything there is)")
    down = what.add_parser("down", help="stop services; their data stays")
    # No choices here: argparse would check the empty list against them.
    down.add_argument("names", nargs="*", metavar="NAME", help="which (default: all)")
    _add_folder(down)
    _add_folder(what.add_parser("status", help="which services are up: exit 1 if one has crashed"))
    logs = what.add_parser("logs", help="print what a service says")
    logs.add_argument("name", choices=NAMES, metavar="NAME", help="which service")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as more comes, until Ctrl-C")
    _add_folder(logs)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, metavar="DIR", help=f"where they live (default: {FOLDER})"
    )
