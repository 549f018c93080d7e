"""The words of a script, with their offsets: enough to split it, to read DDL, and to point at things.

Expressions and queries are read by the dialect; both agree on what a string, a name and a comment is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "name", "string", "number", "symbol", "hint", "open"]

_TOKEN = re.compile(
    r"""
      (?P<hint>/\*\+.*?\*/)
    | (?P<skip>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<string>'(?:[^']+|'')*+'|"(?:[^"]+|"")*+")
    | (?P<name>`(?:[^`]+|``)*+`)
    | (?P<open>/\*|['"`])
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """One word, quoted name, string, number or sign, and where it stands (`end` is one past it).

    Kind `open` is a quote or comment that nothing closes; it reaches to the end of the text.
    """

    kind: Kind
    raw: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """What it means: the text of a string or name without its quotes."""
        if self.kind in ("string", "name"):
            quote = self.raw[0]
            return self.raw[1:-1].replace(quote * 2, quote)
        return self.raw

    @property
    def upper(self) -> str:
        """The word in upper case; empty for everything that is no bare word."""
        return self.raw.upper() if self.kind == "word" else ""


def lex(text: str) -> Iterator[Token]:
    """The tokens of a text, without blanks and comments.

    >>> [token.raw for token in lex("SELECT 'a;b' -- why")]
    ['SELECT', "'a;b'"]
    """
    offset = 0
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        assert found is not None  # the last branch takes any character
        match found.lastgroup:
            case "open":
                yield Token("open", found.group(), offset, len(text))
                return
            case "hint" | "string" | "name" | "number" | "word" | "symbol" as kind:
                yield Token(kind, found.group(), offset, found.end())
        offset = found.end()
