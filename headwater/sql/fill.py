"""Options that a table leaves empty, filled from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headwater.sql.lexer import Token, lex


def filled(text: str, value_of: Callable[[str], str | None]) -> str:
    """A text in which options of CREATE statements that are '' have the value that belongs to their name, if any.

    >>> filled("CREATE TABLE t WITH ('hostname' = '')", {"hostname": "db"}.get)
    "CREATE TABLE t WITH ('hostname' = 'db')"
    """
    pieces, done = [], 0
    for name, token in _empty_options(text):
        value = value_of(name)
        if value is not None:
            quoted = "'" + value.replace("'", "''") + "'"
            pieces += [text[done : token.start], quoted]
            done = token.end
    return "".join(pieces) + text[done:]


def _empty_options(text: str) -> Iterator[tuple[str, Token]]:
    """The name of each option that is empty, and the token of its value."""
    statement: list[Token] = []
    for token in lex(text):
        statement = [] if token.raw == ";" else [*statement[:1], *statement[1:][-2:], token]
        if len(statement) != 4 or statement[0].upper != "CREATE":
            continue
        _, name, sign, value = statement
        if (name.kind, sign.raw, value.kind, value.value) == ("string", "=", "string", ""):
            yield name.value, value
