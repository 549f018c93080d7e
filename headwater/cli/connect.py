"""`headwater connect`: connectors of a Kafka Connect cluster, registered, looked at, stopped and started."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headwater.cli.connect_view import failure_lines, print_statuses
from headwater.connect.client import ConnectClient
from headwater.connect.files import Connector, read_connector, secrets_of
from headwater.connect.status import RUNNING, Status
from headwater.connect.troubles import hint_for, reason_of
from headwater.errors import ConnectError


def connect_command(given: argparse.Namespace) -> int:
    """Run the command that was typed and return its exit code."""
    if given.connect == "translate":
        return translate_file(given.file)
    client = ConnectClient(given.url)
    match given.connect:
        case "register":
            return register(client, given.file)
        case "status":
            return show_status(client, given.name)
        case "list":
            print("\n".join(client.names()) or f"there are no connectors at {client.url}")
        case "pause":
            client.pause(given.name)
            print(f"paused connector '{given.name}'")
        case "resume":
            client.resume(given.name)
            print(f"resumed connector '{given.name}'")
        case "restart":
            client.restart(given.name, tasks="all" if given.tasks else "none")
            print(f"restarted connector '{given.name}'{' and its tasks' if given.tasks else ''}")
        case _:
            client.delete(given.name)
            print(f"deleted connector '{given.name}'; slot, publication and topics stay")
    return 0


def translate_file(file: Path) -> int:
    """Print a connector's file as today's Debezium wants it: JSON and nothing else."""
    connector = _read(file)
    print(connector.to_json())
    return 0


def register(client: ConnectClient, file: Path) -> int:
    """Create a connector, or give it the options of the file, and wait until it runs or has failed."""
    connector = _read(file)
    name = connector.name
    before = client.find(name)
    client.put(connector)
    print(
        f"created connector '{name}'"
        if before is None
        else f"connector '{name}' was there: it has new options"
    )
    if before is not None and before.failed:
        client.restart(name, tasks="failed")
    found = client.wait(name, config=None if before is None else connector.config, before=before)
    if found.failed:
        raise _failure(found, connector.hidden)
    if found.parts[0].state != RUNNING:
        print(f"connector '{name}' is {found.parts[0].state}: headwater connect resume {name}")
        return 0
    print(f"connector '{name}' is RUNNING with {found.tasks} {'task' if found.tasks == 1 else 'tasks'}")
    return 0


def show_status(client: ConnectClient, name: str | None) -> int:
    """A table of connectors and tasks; 1 if one has failed."""
    found = [client.status(each) for each in ([name] if name is not None else client.names())]
    if not found:
        print(f"there are no connectors at {client.url}")
        return 0
    print_statuses(found, sys.stdout)
    failed = [status for status in found if status.failed]
    for status in failed:
        print("\n".join(failure_lines(status, secrets_of(client.config(status.name)))))
    return 1 if failed else 0


def _read(file: Path) -> Connector:
    connector = read_connector(file)
    for note in connector.notes:
        print(f"note: {note}", file=sys.stderr)
    return connector


def _failure(found: Status, hidden: tuple[str, ...]) -> ConnectError:
    part = found.failed[0]
    what = (
        f"connector '{found.name}'" if part.task is None else f"task {part.task} of connector '{found.name}'"
    )
    return ConnectError(
        f"{what} has failed", detail=reason_of(part.trace, hidden), hint=hint_for(part.trace, found.name)
    )
