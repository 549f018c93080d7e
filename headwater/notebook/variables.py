"""`${py:NAME}` in a cell: what a variable of the notebook says, put in its place before the SQL is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.errors import Place, UsageError
from headwater.nearest import nearest

_REFERENCE = re.compile(r"\$\{py:(?P<name>[^{}\s]*)\}")
_SHOWN = (str, int, float, Path)


def filled(text: str, variables: Mapping[str, Any], *, file: str) -> str:
    """The text with the values of variables.

    >>> filled("'port' = '${py:shop.port}'", {"shop": {"port": 3306}}, file="cell")
    "'port' = '3306'"
    """
    return _REFERENCE.sub(lambda found: _value(found, variables, file), text)


def _value(found: re.Match[str], variables: Mapping[str, Any], file: str) -> str:
    first, *parts = found["name"].split(".")
    if first not in variables:
        near = nearest(first, [name for name in variables if not name.startswith("_")])
        raise UsageError(
            f"there is no variable '{first}'",
            hint=f"Did you mean '{near}'?" if near else f"Set it in a cell before: {first or 'name'} = ...",
            place=_place(found, file),
        )
    value = variables[first]
    for part in parts:
        is_there = part in value if isinstance(value, Mapping) else hasattr(value, part)
        if not is_there:
            raise UsageError(f"'{first}' has no '{part}'", place=_place(found, file))
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    if isinstance(value, bool) or not isinstance(value, _SHOWN):
        raise UsageError(
            f"'{found['name']}' is a {type(value).__name__}",
            detail="Only texts, numbers and paths can stand in SQL.",
            place=_place(found, file),
        )
    return str(value)


def _place(found: re.Match[str], file: str) -> Place:
    text = found.string
    begin = text.rfind("\n", 0, found.start()) + 1
    line = text[begin:].split("\n", 1)[0]
    number = text.count("\n", 0, found.start()) + 1
    return Place(file, number, found.start() - begin + 1, line, found.end() - found.start())
