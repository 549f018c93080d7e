"""A connector as a file describes it: `{"name": ..., "config": {...}}`, or the options alone with a name among them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.connect.translate import Translated, translate
from headwater.errors import ConnectError, Place
from headwater.options import Secret
from headwater.sql.interpolate import resolve
from headwater.sql.secrets import MaskedText, looks_secret, masked

_REFERENCE = re.compile(r"\$\{(?:env|file):[^{}:]*\}")
"""References of ours. What else looks like one, `${topic}` or `${vault:path:key}`, is Connect's business."""


@dataclass(frozen=True)
class Connector:
    """A connector to be registered: every reference resolved, every option in today's words."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    notes: tuple[str, ...] = ()
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are never shown."""

    def to_json(self) -> str:
        """The file that `POST /connectors` takes."""
        return json.dumps({"name": self.name, "config": dict(self.config)}, indent=2, ensure_ascii=False)


def read_connector(path: Path) -> Connector:
    """The connector of a file, or where and why it is not one."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "It is not text"
        raise ConnectError(
            f"the file {path} cannot be read",
            detail=f"{reason}.",
            hint="Give the path of a connector's JSON file.",
        ) from problem
    return connector_of(text, str(path))


def connector_of(text: str, file: str) -> Connector:
    """The connector that a text describes; `file` is where it came from."""
    name, given = _parts(_parsed(text, file), file)
    resolved = {option: _resolved(option, value) for option, value in given.items()}
    plain = {o: v.reveal() if isinstance(v, Secret) else v for o, v in resolved.items()}
    hidden = [plain[o] for o, v in resolved.items() if isinstance(v, Secret) or looks_secret(o)]
    done: Translated = translate(plain)
    return Connector(name, done.config, done.notes, tuple(filter(None, hidden)))


def secrets_of(config: Mapping[str, str]) -> tuple[str, ...]:
    """The values of some options that are never shown."""
    return tuple(value for option, value in config.items() if value and looks_secret(option))


def without(text: str, hidden: tuple[str, ...]) -> str:
    """A text in which no hidden one can be read."""
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***")
    return masked(text)


def _resolved(option: str, value: str) -> str:
    if not _REFERENCE.search(value):
        return value
    meant = [resolve({option: found}, None)[option] for found in _REFERENCE.findall(value)]
    # A function as the replacement: what it gives is taken as it is, backslashes too.
    pieces = iter([text.reveal() if isinstance(text, Secret) else text for text in meant])
    return Secret(_REFERENCE.sub(lambda _: next(pieces), value))


def _parsed(text: str, file: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as wrong:
        line = text.splitlines()[wrong.lineno - 1] if text.strip() else ""
        shown = MaskedText(line)
        mark = len(shown.part(0, wrong.colno - 1)) + 1
        raise ConnectError(
            f"the file {file} is not JSON",
            detail=f"{wrong.msg} at line {wrong.lineno}, column {wrong.colno}.",
            hint="A comma too many or too few, or a missing quote, is the usual reason.",
            place=Place(file, wrong.lineno, wrong.colno, shown.part(0, len(line)), mark=mark),
        ) from None
    except _TwiceError as wrong:
        raise ConnectError(
            f"option '{wrong}' stands twice in {file}", hint="Keep the one that is meant."
        ) from None
    if not isinstance(found, dict):
        raise _not_a_connector(file, "It holds no object.")
    return found


class _TwiceError(Exception):
    """A name stands twice in an object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _TwiceError(name)
        found[name] = value
    return found


def _parts(found: dict[str, Any], file: str) -> tuple[str, dict[str, str]]:
    """The name and the options, whichever way they were written."""
    nested = "config" in found
    given = found["config"] if nested else found
    if not isinstance(given, dict):
        raise _not_a_connector(file, "Its 'config' is no object.")
    extra = sorted(set(found) - {"name", "config", "initial_state", "initial_offsets"}) if nested else []
    if extra:
        raise _not_a_connector(file, f"Beside 'name' and 'config' it has {', '.join(extra)}.")
    name = found.get("name") or given.get("name")
    if not isinstance(name, str) or not name:
        raise _not_a_connector(file, "It has no name.", hint='Add "name": "..." to it.')
    config = {option: _text(option, value, file) for option, value in given.items() if option != "name"}
    if not config.get("connector.class"):
        raise _not_a_connector(
            file,
            "It has no option 'connector.class'.",
            hint='For Postgres: "connector.class": "io.debezium.connector.postgresql.PostgresConnector".',
        )
    return name, config


def _text(option: str, value: Any, file: str) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
    raise _not_a_connector(file, f"Option '{option}' is neither text nor a number, true or false.")


def _not_a_connector(file: str, detail: str, *, hint: str = "") -> ConnectError:
    usual = (
        'It is {"name": "...", "config": {"connector.class": "...", ...}}, or the options alone with a name.'
    )
    return ConnectError(f"the file {file} describes no connector", detail=detail, hint=hint or usual)
