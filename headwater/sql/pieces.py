"""Text that is typed, in pieces: where each statement begins and ends, and whether the last one is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwater.sql.lexer import Token, lex

_BLOCKS = (("STATEMENT", "SET", "BEGIN"), ("BEGIN", "STATEMENT", "SET"))
"""How statements begin that hold others, up to END."""

_BEFORE = ("EXECUTE", "EXPLAIN", "PLAN", "FOR")


@dataclass(frozen=True)
class Piece:
    """One statement of a text; its semicolon is not part of it."""

    text: str
    start: int
    end: int
    is_whole: bool
    """True if a semicolon ends it."""

    def in_place(self, whole: str) -> str:
        """The statement alone, on the line and in the column where it stands in the whole text.

        >>> pieces("USE a;\\n  USE b;")[1].in_place("USE a;\\n  USE b;")
        '\\n  USE b'
        """
        lines = whole[: self.start].split("\n")
        return "\n" * (len(lines) - 1) + " " * len(lines[-1]) + self.text


def pieces(text: str) -> list[Piece]:
    """The statements of a text; STATEMENT SET BEGIN ... END is one.

    >>> [(piece.text, piece.is_whole) for piece in pieces("USE a; SELECT ';")]
    [('USE a', True), ("SELECT ';", False)]
    """
    return list(_pieces(text))


def is_finished(text: str) -> bool:
    """True if nothing but blanks and comments comes behind the last semicolon."""
    found = pieces(text)
    return bool(found) and found[-1].is_whole


def _pieces(text: str) -> Iterator[Piece]:
    tokens: list[Token] = []
    since = 0
    """From which token on the statement goes that the next semicolon ends."""
    for token in lex(text):
        if token.kind != "symbol" or token.raw != ";":
            tokens.append(token)
            continue
        if tokens and not (_is_block(tokens) and not _ends(tokens[since:])):
            yield _piece(text, tokens, is_whole=True)
            tokens = []
        since = len(tokens)
    if tokens:
        yield _piece(text, tokens, is_whole=False)


def _piece(text: str, tokens: Sequence[Token], *, is_whole: bool) -> Piece:
    start, end = tokens[0].start, tokens[-1].end
    return Piece(text[start:end], start, end, is_whole)


def _is_block(tokens: Sequence[Token]) -> bool:
    words = [token.upper for token in tokens[:6]]
    while words and words[0] in _BEFORE:
        del words[0]
    return tuple(words[:3]) in _BLOCKS


def _ends(tokens: Sequence[Token]) -> bool:
    return [token.upper for token in tokens] == ["END"]
