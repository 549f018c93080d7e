"""What can be typed to start a server, and to tell it what to do."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from headwater.cli.parser_kafka import URL as CONNECT_URL

PORT = 8090
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_APPLICATION = "the application's name or id"
_VERSION = "number or id of the version"


def add_serve(commands: Commands) -> None:
    """`headwater serve`."""
    serve = commands.add_parser("serve", help="run many pipelines in one process, told over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="the address it listens at (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, default=PORT, help=f"the port (default: {PORT}; 0: any free one)")
    text = "where applications and their State live (default: .headwater/server)"
    serve.add_argument("--state", type=Path, default=Path(".headwater/server"), metavar="DIR", help=text)
    text = "a file of tokens that may do everything, one in a line; needed if others can reach it"
    serve.add_argument("--token-file", type=Path, metavar="FILE", help=text)
    text = "a file of tokens that may only read"
    serve.add_argument("--read-token-file", type=Path, metavar="FILE", help=text)
    serve.add_argument("--certificate", type=Path, metavar="FILE", help="serve HTTPS with this certificate")
    serve.add_argument("--key", type=Path, metavar="FILE", help="the certificate's private key")
    text = f"the Kafka Connect whose connectors the console shows (default: {CONNECT_URL})"
    serve.add_argument("--connect", default=CONNECT_URL, metavar="URL", help=text)
    text = "let clients of Postgres, psql for example, read views at this port (0: any free one)"
    serve.add_argument("--pg-port", type=int, metavar="PORT", help=text)


def add_app(commands: Commands) -> None:
    """`headwater app ...`."""
    app = commands.add_parser("app", help="applications of a server: versions, deployments, status")
    deeds = app.add_subparsers(dest="app", required=True, metavar="COMMAND")
    _add_making(deeds)
    _add_deploying(deeds)
    for name, text in (
        ("status", "what the last deployment of an application does"),
        ("stop", "end what runs of an application; its state stays"),
        ("resume", "let an application that was stopped, or has failed, go on"),
    ):
        deed = deeds.add_parser(name, help=text)
        deed.add_argument("name", metavar="APP", help=_APPLICATION)
        _add_server(deed)
    _add_server(deeds.add_parser("list", help="list applications"))
    logs = deeds.add_parser("logs", help="print what happened to an application")
    logs.add_argument("name", metavar="APP", help=_APPLICATION)
    logs.add_argument("--limit", type=int, default=100, metavar="N", help="how many lines (default: 100)")
    _add_server(logs)


def add_integration(commands: Commands) -> None:
    """`headwater integration ...`."""
    integration = commands.add_parser(
        "integration", help="named connections that fill what a table leaves empty"
    )
    deeds = integration.add_subparsers(dest="integration", required=True, metavar="COMMAND")
    create = deeds.add_parser("create", help="create an integration")
    create.add_argument("name", metavar="NAME", help="its name")
    create.add_argument("--host", help="fills 'properties.bootstrap.servers', 'hostname', 'hosts', 'url'")
    create.add_argument("--user", help="fills 'username'")
    text = "a file whose text fills 'password' and its like; - is standard input"
    create.add_argument("--secret-file", metavar="FILE", help=text)
    text = "another option by its name in SQL; may be given several times"
    create.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)
    _add_server(create)
    _add_server(deeds.add_parser("list", help="list integrations, without their secrets"))
    text = "delete an integration; what runs with it goes on, but does not start again"
    delete = deeds.add_parser("delete", help=text)
    delete.add_argument("name", metavar="NAME", help="its name or id")
    _add_server(delete)


def _add_making(deeds: Commands) -> None:
    create = deeds.add_parser("create", help="create an application")
    create.add_argument("name", metavar="APP", help="its name")
    _add_server(create)
    version = deeds.add_parser("version", help="give an application a new version")
    version.add_argument("name", metavar="APP", help=_APPLICATION)
    text = "a SQL file, or a .json file with sources, sinks and statement; - is standard input"
    version.add_argument("file", metavar="FILE", help=text)
    version.add_argument(
        "--integration", metavar="NAME", help="what fills empty options of a SQL file's tables"
    )
    _add_server(version)


def _add_deploying(deeds: Commands) -> None:
    deploy = deeds.add_parser("deploy", help="let a version run")
    deploy.add_argument("name", metavar="APP", help=_APPLICATION)
    deploy.add_argument("--version", metavar="N", help=f"{_VERSION} (default: the latest)")
    how = deploy.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="process what is committed now, then end")
    how.add_argument("--every", metavar="TIME", help="so again and again: 30s, 10min, 1h")
    how.add_argument("--cron", metavar="TIMES", help="so at these times, in UTC: '0 * * * *'")
    deploy.add_argument("--parallelism", type=int, default=1, metavar="N", help="kept and shown (default: 1)")
    deploy.add_argument("--no-restart", action="store_true", help="do not start it again when it fails")
    _add_yes(deploy)
    _add_server(deploy)
    back = deeds.add_parser("rollback", help="let an earlier version run again")
    back.add_argument("name", metavar="APP", help=_APPLICATION)
    back.add_argument("--version", metavar="N", help=f"{_VERSION} (default: the one that ran before)")
    _add_yes(back)
    _add_server(back)


def _add_yes(deed: argparse.ArgumentParser) -> None:
    text = "do not ask before what is saved is computed anew or let go"
    deed.add_argument("--yes", action="store_true", help=text)


def _add_server(deed: argparse.ArgumentParser) -> None:
    deed.add_argument("--json", action="store_true", help="print the server's answer as JSON")
    text = "the server (default: $HEADWATER_SERVER, else http://127.0.0.1:8090)"
    deed.add_argument("--server", metavar="URL", help=text)
    deed.add_argument("--token", metavar="TOKEN", help="the token (default: $HEADWATER_TOKEN)")
