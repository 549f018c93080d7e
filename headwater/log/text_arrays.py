"""Arrays as Postgres writes them: `{1,NULL,"a b"}`."""

from __future__ import annotations

import re
from collections.abc import Sequence

# One element: quoted (with backslash escapes), nested in braces, or bare.
_ITEM = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^,{}"]+)', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def split_arrays(texts: Sequence[str | None], *, nested: bool) -> tuple[list[int | None], list[str | None]]:
    """Offsets and elements of a column of arrays, in Arrow's form: a NULL array has a NULL offset.

    >>> split_arrays(["{1,NULL}", None, "{}"], nested=False)
    ([0, None, 2, 2], ['1', None])
    """
    offsets: list[int | None] = []
    items: list[str | None] = []
    for text in texts:
        offsets.append(None if text is None else len(items))
        if text is not None:
            items += inner_arrays(text) if nested else elements(text)
    offsets.append(len(items))
    return offsets, items


def elements(text: str) -> list[str | None]:
    """The elements of an array of one dimension."""
    body = _body(text)
    if not body:
        return []
    if '"' not in body and "{" not in body:
        return [None if item == "NULL" else item for item in body.split(",")]
    found: list[str | None] = []
    at = 0
    while at < len(body):
        item = _ITEM.match(body, at)
        if item is None:
            raise ValueError("it is an array of more than one dimension")
        found.append(_value(item))
        at = item.end() + 1
    return found


def inner_arrays(text: str) -> list[str | None]:
    """The arrays within an array: `{{1,2},{3}}` gives `{1,2}` and `{3}`."""
    body = _body(text)
    found: list[str | None] = []
    depth, start, quoted, at = 0, 0, False, 0
    while at < len(body):
        match body[at]:
            case "\\":
                at += 1
            case '"':
                quoted = not quoted
            case "{" if not quoted:
                start = at if depth == 0 else start
                depth += 1
            case "}" if not quoted:
                depth -= 1
                if depth == 0:
                    found.append(body[start : at + 1])
        at += 1
    if body and not found:
        raise ValueError("it is an array of one dimension only")
    return found


def _value(item: re.Match[str]) -> str | None:
    quoted = item["quoted"]
    if quoted is not None:
        return _ESCAPE.sub(r"\1", quoted) if "\\" in quoted else quoted
    bare = item["bare"]
    return None if bare == "NULL" else bare


def _body(text: str) -> str:
    """What stands between the outer braces; bounds (`[0:1]={...}`) are not kept."""
    if text.startswith("["):
        text = text.partition("=")[2]
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("it is not an array")
    return text[1:-1]
