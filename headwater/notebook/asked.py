"""What stands behind `%%headwater` and `%headwater`, read and checked."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path
from typing import NoReturn

from headwater.errors import UsageError
from headwater.services.cast import CAST, Ports

ROWS = 20
EVERY_SECONDS = 0.5
WAIT_SECONDS = 120.0

CHARTS = ("bar", "line")


class _Parser(argparse.ArgumentParser):
    """A parser that raises where others would end the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=" ".join(self.format_usage().split()).replace("usage:", "Write"))


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][\w.-]{0,39}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no name: letters, digits, _ and - are")
    return text


def _rows(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 1000")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds, 0.1 at least")
    return seconds


def cell_parser() -> argparse.ArgumentParser:
    """The options of a cell."""
    parser = _Parser(prog="%%headwater", add_help=False, allow_abbrev=False)
    parser.add_argument(
        "--on", metavar="CATALOG", help="run the cell as plain SQL in this catalog's database"
    )
    parser.add_argument("--name", type=_name, metavar="NAME", help="the name of the pipeline")
    parser.add_argument("--once", action="store_true", help="process what is committed now, and finish")
    parser.add_argument("--chart", choices=CHARTS, help="draw the answers as a chart")
    parser.add_argument("--x", metavar="COLUMN", help="the column along the chart")
    parser.add_argument("--y", metavar="COLUMN", help="the column that is measured")
    parser.add_argument("--rows", type=_rows, default=ROWS, metavar="N", help="show at most so many rows")
    parser.add_argument(
        "--every", type=_seconds, default=EVERY_SECONDS, metavar="SECONDS", help="draw at most so often"
    )
    return parser


def line_parser() -> argparse.ArgumentParser:
    """The words behind `%headwater`."""
    parser = _Parser(prog="%headwater", add_help=False, allow_abbrev=False)
    words = parser.add_subparsers(dest="word", metavar="status|stop|wait|drop|services", required=True)
    words.add_parser("status", add_help=False, help="which cell runs what, on how many cores")
    stop = words.add_parser("stop", add_help=False, help="stop pipelines, or all")
    stop.add_argument("names", nargs="*", metavar="NAME")
    wait = words.add_parser("wait", add_help=False, help="wait until pipelines know what is committed now")
    wait.add_argument("names", nargs="*", metavar="NAME")
    wait.add_argument("--seconds", type=_seconds, default=WAIT_SECONDS, metavar="SECONDS")
    drop = words.add_parser("drop", add_help=False, help="stop a pipeline and remove what it made")
    drop.add_argument("names", nargs="+", metavar="NAME")
    services = words.add_parser("services", add_help=False, help="services on this machine")
    services.add_argument("what", choices=("up", "down", "status"))
    services.add_argument("names", nargs="*", choices=[[], *CAST], metavar="NAME")
    services.add_argument("--ports", choices=[p.value for p in Ports], default=Ports.KEPT.value)
    services.add_argument("--folder", type=Path, default=Path(".headwater/services"))
    return parser


def read_words(parser: argparse.ArgumentParser, line: str) -> argparse.Namespace:
    """The words of a line as the parser understands them; what is wrong is an error of ours."""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise UsageError("a quote in the line does not end", detail=f"{problem}.") from problem
    return parser.parse_args(words)


def read_cell(line: str) -> argparse.Namespace:
    """The options of a cell, as far as they go together."""
    given = read_words(cell_parser(), line)
    if given.on is not None:
        others = [
            f"--{option}"
            for option in ("name", "once", "chart", "x", "y")
            if getattr(given, option) not in (None, False)
        ]
        if others:
            raise UsageError(
                f"{others[0]} does not go together with --on",
                detail="With --on the database runs the cell, once, as it is.",
                hint=f"Leave {others[0]} out.",
            )
    if given.chart is None and (given.x or given.y):
        raise UsageError("--x and --y are for charts", hint="Add --chart bar or --chart line.")
    return given
