"""What the sink of a table of a lake is called."""

from __future__ import annotations

import hashlib


def group_name(connector: str, where: str, *, hidden: bool) -> str:
    """One sink for each table: no transaction spans two of them."""
    return f"{connector}-{hashlib.sha256(where.encode()).hexdigest()[:12]}" if hidden else where
