"""The parts of a version: a text, or sources, sinks and a statement that are put together to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater.errors import UsageError
from headwater.server.refusals import TooLarge

LARGEST_SCRIPT = 1_000_000
"""In characters."""


def pieces_of(body: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """The parts of a version's text, each closed, and the integration that fills what is empty in it."""
    tables = [*body.get("sources", ()), *body.get("sinks", ())]
    parts = [(str(table["create_table"]), table.get("integration_id")) for table in tables]
    parts.append((str(body["statement"]), body.get("integration_id")))
    if sum(len(text) for text, _ in parts) > LARGEST_SCRIPT:
        raise TooLarge(
            "the script is too large",
            detail=f"It has more than {LARGEST_SCRIPT:,} characters.",
            hint="Divide it into several applications.",
        )
    closed = [(_closed(text), integration) for text, integration in parts if text.strip()]
    if not closed:
        raise UsageError("the version has no SQL in it", hint='Put a script into "statement".')
    return closed


def _closed(text: str) -> str:
    text = text.strip()
    # A comment may be the last thing in it, and would swallow the semicolon.
    return text if text.endswith(";") else f"{text}\n;"
