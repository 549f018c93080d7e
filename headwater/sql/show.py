"""What SHOW CREATE prints."""

from __future__ import annotations

from headwater.sql.lexer import Token, lex
from headwater.sql.secrets import masked
from headwater.sql.statements import CreateCatalog, CreateTable, CreateView


def show_create(statement: CreateTable | CreateView | CreateCatalog) -> str:
    """The statement as it was written, without comments, each secret as `***`.

    >>> show_create(parse_script("CREATE TABLE t WITH ('password' = 'x') -- mine")[0])
    "CREATE TABLE t WITH ('password' = '***')"
    """
    tokens = list(lex(statement.text))
    pieces = [_between(statement.text, before, after) + after.raw for before, after in _pairs(tokens)]
    return masked("".join(pieces))


def _pairs(tokens: list[Token]) -> list[tuple[Token | None, Token]]:
    return list(zip([None, *tokens], tokens, strict=False))


def _between(text: str, before: Token | None, after: Token) -> str:
    """The blanks between two tokens; a comment there leaves its line break, or one blank."""
    if before is None:
        return ""
    gap = text[before.end : after.start]
    if not gap or gap.isspace():
        return gap
    last = gap.rpartition("\n")[2]
    return "\n" + last[: len(last) - len(last.lstrip())] if "\n" in gap else " "
