"""What can be typed: every subcommand and flag, checked against docs/cli.md."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from headwater import __version__
from headwater.cli.parser_kafka import add_connect, add_tail, add_topics
from headwater.cli.parser_services import add_services

FORMATS = ("table", "csv", "json")
DEMOS = ("claims",)

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="headwater", description="Keeps SQL results true while the database underneath them changes."
    )
    parser.add_argument("--version", action="version", version=f"headwater {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_sql(commands)
    _add_explain(commands)
    _add_verify_and_drop(commands)
    _add_demo(commands)
    add_connect(commands)
    add_topics(commands)
    add_tail(commands)
    add_services(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser("run", help="run a SQL file: keep its views and sinks true")
    run.add_argument("file", type=Path, metavar="FILE", help="the SQL file")
    _add_once(run)
    _add_state(run)


def _add_sql(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sql = commands.add_parser("sql", help="run SQL and watch the answers of its SELECTs")
    sql.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a SQL file; without: standard input")
    sql.add_argument("-e", dest="sql", metavar="SQL", help="SQL text, run after FILE if both are given")
    _add_once(sql)
    _add_state(sql)
    sql.add_argument("--format", choices=FORMATS, help="how answers are written (default: table)")


def _add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explain = commands.add_parser("explain", help="print the plans and the SQL that maintain the views")
    explain.add_argument("file", type=Path, nargs="?", metavar="FILE", help="the SQL file")
    explain.add_argument("-e", dest="sql", metavar="SQL", help="SQL text instead of a file")


def _add_verify_and_drop(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verify = commands.add_parser("verify", help="recompute every view and compare: exit 0 equal, 1 different")
    verify.add_argument("--state", type=Path, required=True, metavar="DIR", help="the pipeline's state")
    drop = commands.add_parser("drop", help="remove a pipeline: its slot, its publication, its state")
    drop.add_argument("--state", type=Path, required=True, metavar="DIR", help="the pipeline's state")


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser("demo", help="a live view over a changing database, nothing to install")
    which = demo.add_subparsers(dest="demo", required=True, metavar="WHAT")
    claims = which.add_parser(
        "claims", help="insurance claims: watch the costs of each animal follow Postgres"
    )
    claims.add_argument("--for", dest="seconds", type=duration, metavar="TIME", help="stop after, as in 60s")
    claims.add_argument("--plain", action="store_true", help="one line per change instead of a live table")
    claims.add_argument("--fresh", action="store_true", help="forget the database and state of earlier runs")
    claims.add_argument("--port", type=int, metavar="N", help="the port of the demo's Postgres")
    _add_state(claims)
    psql = which.add_parser("psql", help="a client on the running demo's database")
    psql.add_argument("name", choices=DEMOS, help="which demo")
    psql.add_argument("-c", dest="sql", metavar="SQL", help="run this and exit; without: a prompt, or stdin")
    _add_state(psql)
    generate = which.add_parser("generate", help="make the demo's tables and change them, without a view")
    generate.add_argument("name", choices=DEMOS, help="which demo")
    generate.add_argument("--uri", metavar="URI", help="your own Postgres (default: the running demo's)")
    generate.add_argument("--rows", type=int, metavar="N", help="stop after so many changed rows")
    generate.add_argument("--every", type=duration, default=0.5, metavar="TIME", help="pause (default: 0.5s)")
    _add_state(generate)


def _add_once(parser: argparse.ArgumentParser) -> None:
    text = "process what is committed now, write the sinks, exit"
    parser.add_argument("--once", action="store_true", help=text)


def _add_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where state lives (default: .headwater/NAME)"
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
