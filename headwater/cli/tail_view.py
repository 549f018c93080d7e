"""A message of a topic as one line: the op in its colour, what changed marked."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from rich.text import Text as Line

from headwater.cli.envelope import Bytes, Event, Json, Seen, Text, Tombstone

STYLES = {"c": "green", "u": "yellow", "d": "red", "r": "dim", "t": "bold red", "m": "cyan"}
CHANGED = "bold reverse"
NO_KEY = "(no key)"
HEX_BYTES = 64
"""Of what is no text so many bytes are shown."""


def line_of(seen: Seen, key: Seen | None = None) -> Line:
    """A message, with its key before it if that is wanted."""
    line = Line()
    if key is not None:
        line.append(_key(key), style="blue").append("  ")
    if isinstance(seen, Event):
        _add_event(line, seen)
    else:
        line.append(_plain(seen), style="red" if isinstance(seen, Tombstone) else "")
    return line


def _add_event(line: Line, event: Event) -> None:
    style = STYLES[event.op]
    line.append(event.op, style=f"bold {style}").append(f" {shown_text(event.subject)}", style=style)
    match event.op:
        case "m":
            line.append(f"  {shown_text(event.content)}")
        case "u" if event.after is not None and event.before is not None:
            _add_update(line, event.before, event.after)
        case _:
            row = event.after if event.after is not None else event.before
            fields = ", ".join(f"{shown_text(name)}={shown(value)}" for name, value in (row or {}).items())
            line.append(f"  {fields}" if fields else "", style=style if event.op == "r" else "")


def _add_update(line: Line, before: dict[str, Any], after: dict[str, Any]) -> None:
    """All fields; those that changed with what they were and what they are."""
    line.append("  ")
    for number, (name, value) in enumerate(after.items()):
        line.append(", " if number else "").append(f"{shown_text(name)}=")
        if name in before and before[name] != value:
            line.append(f"{shown(before[name])} → {shown(value)}", style=CHANGED)
        else:
            line.append(shown(value))


def _key(seen: Seen) -> str:
    # Of what has no value one says tombstone; a message without a key is an ordinary one.
    return NO_KEY if isinstance(seen, Tombstone) else _plain(seen)


def _plain(seen: Seen) -> str:
    match seen:
        case Json(value):
            return shown(value)
        case Text(text):
            return shown_text(text)
        case Bytes(data):
            more = f"... ({len(data):,} bytes)" if len(data) > HEX_BYTES else ""
            return f"0x{data[:HEX_BYTES].hex()}{more}"
        case Tombstone():
            return "tombstone"
        case Event():
            return shown(seen.after)


def shown(value: Any) -> str:
    """A value as JSON has it, in one line, every digit kept and nothing in it that moves the cursor."""
    match value:
        case Decimal():
            return format(value, "f") if value.is_finite() and abs(value.adjusted()) < 40 else str(value)
        case str():
            quoted = json.dumps(value, ensure_ascii=False)
            return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in quoted)
        case dict():
            return "{" + ", ".join(f"{shown(str(name))}: {shown(item)}" for name, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(shown(item) for item in value) + "]"
        case _:
            return json.dumps(value)


def shown_text(text: str) -> str:
    """Text in one line: what cannot be printed is written as Python writes it."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
