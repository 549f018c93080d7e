"""SQL in colours: which token of a text is what, for pygments."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
    _TokenType,
)

from headwater.cli.client.words import FUNCTIONS, KEYWORDS, TYPES
from headwater.sql.lexer import Token, lex

STYLE = {
    "pygments.keyword": "ansibrightblue bold",
    "pygments.keyword.type": "ansicyan",
    "pygments.keyword.pseudo": "ansimagenta bold",
    "pygments.name.function": "ansibrightcyan",
    "pygments.name.variable": "",
    "pygments.literal.string": "ansigreen",
    "pygments.literal.number": "ansimagenta",
    "pygments.comment": "ansibrightblack italic",
    "pygments.punctuation": "ansibrightblack",
    "pygments.operator": "",
}

_FUNCTIONS, _TYPES = frozenset(FUNCTIONS), frozenset(TYPES)
_BRACKETS = frozenset("()[],;.")


class SqlLexer(Lexer):  # type: ignore[misc]  # pygments carries no type information
    """Says of each part of a text what it is; the same lexer as the one that reads statements finds the parts."""

    name = "Headwater SQL"
    # A text is typed letter by letter: what it begins and ends with stays as it is.
    stripnl = False
    ensurenl = False

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Where each part begins, what it is, its text; together they are the whole text."""
        if text.lstrip().startswith("\\"):
            yield from _short_form(text)
            return
        end = 0
        for token in lex(text):
            yield from _between(text, end, token.start)
            following = text[token.end : token.end + 1]
            yield token.start, _kind(token, following), text[token.start : token.end]
            end = token.end
        yield from _between(text, end, len(text))


def _short_form(text: str) -> Iterator[tuple[int, _TokenType, str]]:
    words = text.lstrip()
    begin, word = len(text) - len(words), words.split(maxsplit=1)[0]
    yield 0, Whitespace, text[:begin]
    yield begin, Keyword.Pseudo, word
    yield begin + len(word), Text, words[len(word) :]


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, _TokenType, str]]:
    """Blanks, and comments."""
    gap = text[start:end]
    if gap:
        yield start, Whitespace if gap.isspace() else Comment, gap


def _kind(token: Token, following: str) -> _TokenType:
    match token.kind:
        case "word":
            return _word(token.upper, following)
        case "string":
            return String
        case "name":
            return Name.Variable
        case "number":
            return Number
        case "hint":
            return Comment
        case "open":
            return Comment if token.raw == "/*" else Name.Variable if token.raw == "`" else String
        case _:
            return Punctuation if token.raw in _BRACKETS else Operator


def _word(word: str, following: str) -> _TokenType:
    if following == "(" and (word in _FUNCTIONS or word not in KEYWORDS | _TYPES):
        return Name.Function
    if word in _TYPES:
        return Keyword.Type
    return Keyword if word in KEYWORDS else Name
