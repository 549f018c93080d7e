"""`headwater app` and `headwater integration`: what a server is told, from the command line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from headwater.cli.app_view import (
    application_lines,
    comparison_lines,
    deployment_lines,
    integration_lines,
    log_lines,
)
from headwater.cli.server_client import Refused, ServerClient, path_of
from headwater.errors import UsageError


def app_command(given: argparse.Namespace) -> int:
    """Run the command that was typed and return its exit code."""
    client = ServerClient(given.server, given.token)
    match given.app:
        case "create":
            said = client.ask("POST", "/applications", {"name": given.name})
            return _print(given, said, [f"created application '{said['name']}'"])
        case "version":
            said = client.ask("POST", _path(given, "versions"), _version_of(given.file, given.integration))
            return _print(given, said, [f"application '{given.name}' has version {said['version']}"])
        case "deploy":
            return _deploy(client, given)
        case "rollback":
            body = {"version_id": given.version}
            said = _confirmed(client, given, _path(given, "deployments", "rollback"), body)
            return _print(given, said, deployment_lines(given.name, said))
        case "list":
            said = client.ask("GET", "/applications")
            return _print(given, said, application_lines(said["applications"]))
        case "logs":
            said = client.ask("GET", f"{_path(given, 'logs')}?limit={given.limit}")
            return _print(given, said, log_lines(said["logs"]))
        case "status":
            said = client.ask("GET", _path(given, "deployments", "latest"))
            _print(given, said, deployment_lines(given.name, said))
            return int(said["status"] == "FAILED")
        case deed:
            said = client.ask("POST", _path(given, "deployments", "latest", deed))
            return _print(given, said, deployment_lines(given.name, said))


def integration_command(given: argparse.Namespace) -> int:
    """Run the command that was typed and return its exit code."""
    client = ServerClient(given.server, given.token)
    if given.integration == "list":
        said = client.ask("GET", "/integrations")
        return _print(given, said, integration_lines(said["integrations"]))
    if given.integration == "delete":
        said = client.ask("DELETE", path_of("integrations", given.name))
        return _print(given, said, [f"deleted integration '{given.name}'; what runs with it goes on"])
    secret = None if given.secret_file is None else _read(given.secret_file).rstrip("\r\n")
    if secret == "":
        raise UsageError(f"there is no secret in {given.secret_file}", hint="Its text is the secret.")
    pairs = [pair.partition("=") for pair in given.option]
    wrong = [name for name, sign, _ in pairs if not (sign and name)]
    if wrong:
        raise UsageError(f"'{wrong[0]}' is not NAME=VALUE", hint="Write --option 'properties.acks=all'.")
    body = {"name": given.name, "host": given.host, "user": given.user, "secret": secret}
    body["options"] = {name: value for name, _, value in pairs}
    said = client.ask("POST", "/integrations", body)
    return _print(given, said, [f"created integration '{said['name']}'"])


def _deploy(client: ServerClient, given: argparse.Namespace) -> int:
    version = _latest(client, given) if given.version is None else given.version
    body = {
        "version_id": version,
        "parallelism": given.parallelism,
        "restart_enabled": not given.no_restart,
        "mode": "once" if given.once else "schedule" if given.every or given.cron else "continuous",
        "every": given.every,
        "cron": given.cron,
    }
    said = _confirmed(client, given, _path(given, "deployments"), body)
    return _print(given, said, deployment_lines(given.name, said))


def _latest(client: ServerClient, given: argparse.Namespace) -> str:
    versions = client.ask("GET", _path(given, "versions"))["application_versions"]
    if not versions:
        raise UsageError(
            f"application '{given.name}' has no version yet",
            hint=f"Give it one: headwater app version {given.name} FILE.",
        )
    return str(versions[-1]["id"])


def _confirmed(client: ServerClient, given: argparse.Namespace, path: str, body: dict[str, Any]) -> Any:
    """The answer; where what is saved would not be kept, only after yes."""
    if given.yes:
        return client.ask("POST", path, body | {"confirmed": True})
    try:
        return client.ask("POST", path, body)
    except Refused as problem:
        if "comparison" not in problem.said or not sys.stdin.isatty():
            raise
        lines = comparison_lines(problem.said["comparison"])
        print("\n".join([f"{problem.message}:", *lines]), file=sys.stderr)
        print("Deploy it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise
        return client.ask("POST", path, body | {"confirmed": True})


def _version_of(file: str, integration: str | None) -> dict[str, Any]:
    """What is sent for a file: JSON as it stands, SQL as the statement."""
    text = _read(file)
    if not file.endswith(".json"):
        return {"statement": text, "integration_id": integration}
    try:
        said = json.loads(text)
    except ValueError as problem:
        raise UsageError(f"{file} is not JSON", detail=f"{problem}.") from None
    if not isinstance(said, dict):
        raise UsageError(
            f"{file} is no version", hint='Write {"sources": [..], "sinks": [..], "statement": ".."}.'
        )
    return said if integration is None else said | {"integration_id": integration}


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read {file}", detail=f"{reason}.") from None


def _path(given: argparse.Namespace, *parts: str) -> str:
    return path_of("applications", given.name, *parts)


def _print(given: argparse.Namespace, said: object, lines: list[str]) -> int:
    print(json.dumps(said, indent=2, ensure_ascii=False) if given.json else "\n".join(lines))
    return 0
