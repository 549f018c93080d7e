"""The schemas in which bare names are looked for, as a session has them set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from headwater.server.postgres.reading import Relation

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,"]+?))\s*(?:,|$)')


def path_of(text: str) -> list[str]:
    """The schemas that a setting names.

    >>> path_of('shop, "Old Shop"')
    ['shop', 'Old Shop']
    """
    return [quoted.replace('""', '"') if quoted else bare.lower() for quoted, bare in _NAME.findall(text)]


def path_text(schemas: Sequence[str]) -> str:
    """How a setting names schemas."""
    return ", ".join('"' + name.replace('"', '""') + '"' for name in schemas)


def schemas(relations: Iterable[Relation], first: str) -> list[str]:
    """All schemas in order of names, one of them first if it is there; Postgres' own if there are none."""
    return sorted({relation.pipeline for relation in relations}, key=lambda name: (name != first, name)) or [
        "public"
    ]
