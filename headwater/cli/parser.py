"""What can be typed: every subcommand and flag, checked against docs/cli.md."""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater import __version__
from headwater.cli.parser_demo import add_demo
from headwater.cli.parser_kafka import add_connect, add_tail, add_topics
from headwater.cli.parser_server import add_app, add_integration, add_serve
from headwater.cli.parser_services import add_services
from headwater.errors import UsageError

FORMATS = ("table", "csv", "json")


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
    add_demo(commands)
    add_connect(commands)
    add_topics(commands)
    add_tail(commands)
    add_services(commands)
    add_serve(commands)
    add_app(commands)
    add_integration(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser("run", help="run a SQL file: keep its views and sinks true")
    run.add_argument("file", type=Path, metavar="FILE", help="the SQL file")
    _add_once(run)
    _add_state(run)
    text = "the master of a Spark cluster that runs the executors (spark://HOST:PORT, yarn, k8s://...)"
    run.add_argument("--master", metavar="URL", help=text)
    text = "a setting of Spark's own, with --master; may be given several times"
    run.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help=text)


def _add_sql(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sql = commands.add_parser("sql", help="the SQL client; or run SQL and watch the answers of its SELECTs")
    text = "a SQL file; without: what is typed on a terminal, else standard input"
    sql.add_argument("file", type=Path, nargs="?", metavar="FILE", help=text)
    sql.add_argument("-e", dest="sql", metavar="SQL", help="SQL text, run after FILE if both are given")
    _add_once(sql)
    _add_state(sql)
    sql.add_argument("--format", choices=FORMATS, help="how answers are written (default: table)")
    sql.add_argument("--server", metavar="URL", help="have a server carry it out, statement by statement")
    sql.add_argument("--token", metavar="TOKEN", help="the server's token (default: $HEADWATER_TOKEN)")


def _add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explain = commands.add_parser("explain", help="print the plans and the SQL that maintain the views")
    explain.add_argument("file", type=Path, nargs="?", metavar="FILE", help="the SQL file")
    explain.add_argument("-e", dest="sql", metavar="SQL", help="SQL text instead of a file")
    text = "of a pipeline instead: also what is stored and what the last step of each view cost"
    explain.add_argument("--state", type=folder_of, metavar="DIR", help=text)


def _add_verify_and_drop(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verify = commands.add_parser("verify", help="recompute every view and compare: exit 0 equal, 1 different")
    verify.add_argument("--state", type=folder_of, required=True, metavar="DIR", help="the pipeline's state")
    text = "let all rows of a table be read again at the next start of its pipeline"
    again = commands.add_parser("resnapshot", help=text)
    again.add_argument("table", metavar="TABLE", help="the table, as the script names it")
    text = "the pipeline's state; the pipeline must not be running"
    again.add_argument("--state", type=folder_of, required=True, metavar="DIR", help=text)
    drop = commands.add_parser("drop", help="remove a pipeline: its slot, its publication, its state")
    drop.add_argument("--state", type=folder_of, required=True, metavar="DIR", help="the pipeline's state")


def _add_once(parser: argparse.ArgumentParser) -> None:
    text = "process what is committed now, write the sinks, exit"
    parser.add_argument("--once", action="store_true", help=text)


def _add_state(parser: argparse.ArgumentParser) -> None:
    text = "where state lives (default: .headwater/NAME); with --master a folder that all machines share"
    parser.add_argument("--state", type=folder_of, metavar="DIR", help=text)


def folder_of(said: str) -> Path:
    """The folder of a path, or of a url of one."""
    scheme, colon, _ = said.partition("://")
    if not colon:
        return Path(said)
    parts = urlsplit(said)
    if scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise UsageError(
            f"state cannot be kept at {said}",
            detail="It is kept in a folder: on this machine, or on storage that is mounted on all machines of a cluster.",
            hint="Mount the storage, and give its path: --state /mnt/shop, or --state file:///mnt/shop.",
        )
    return Path(unquote(parts.path))
