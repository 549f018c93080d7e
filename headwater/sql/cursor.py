"""A place in the tokens of one statement, and the questions a parser asks there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwater.errors import Place, SqlError
from headwater.schema import RESERVED_PREFIX
from headwater.sql.lexer import Token
from headwater.sql.names import Name
from headwater.sql.places import SourceText

RESERVED_ENDINGS = (
    "__old",
    "__new",
    "__now",
    "__change",
    "__sums",
    "__added",
    "__touched",
    "__touched_at_all",
    "__held",
    "__was",
    "__is",
    "__both",
    "__near",
    "__part",
    "__weighted",
    "__shown",
)
"""Table names that end so, perhaps with a number behind it, belong to Headwater."""

_RESERVED = re.compile(rf"(?:{'|'.join(RESERVED_ENDINGS)})\d*\Z", re.IGNORECASE)


def said(token: Token | None) -> str:
    """A token as an error names it; strings may hold secrets and are never repeated."""
    match token:
        case None:
            return "the end of the statement"
        case Token(kind="string"):
            return "a string"
        case _:
            return token.raw


class Cursor:
    """Walks over the tokens of one statement, which is never empty."""

    def __init__(self, source: SourceText, tokens: Sequence[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> Token | None:
        """The token ahead, None at the end."""
        return self.ahead(0)

    def ahead(self, count: int) -> Token | None:
        """The token `count` further on."""
        index = self.index + count
        return self.tokens[index] if index < len(self.tokens) else None

    @property
    def text(self) -> str:
        """The text of the whole statement."""
        return self.source.text[self.tokens[0].start : self.tokens[-1].end]

    @property
    def start(self) -> int:
        """Where the statement begins in the whole text."""
        return self.tokens[0].start

    def place(self, token: Token | None = None) -> Place:
        """Where a token stands; None asks for the first one."""
        shown = token or self.tokens[0]
        return self.source.place(shown.start, shown.end)

    def error(
        self, message: str, *, detail: str = "", hint: str = "", token: Token | None = None
    ) -> SqlError:
        """An error at a token, or at the one ahead."""
        at = token or self.token
        if at is not None:
            place = self.place(at)
        else:
            end = self.tokens[-1].end
            place = self.source.place(end, end)
        return SqlError(message, detail=detail, hint=hint, place=place)

    def expected(self, what: str, hint: str = "") -> SqlError:
        """The error that something else stands here."""
        return self.error(f"expected {what}", detail=f"Here is {said(self.token)}.", hint=hint)

    def sees(self, *words: str) -> bool:
        """True if these words or signs come next."""
        for count, word in enumerate(words):
            token = self.ahead(count)
            if token is None or word not in (token.upper, token.raw if token.kind == "symbol" else None):
                return False
        return True

    def takes(self, *words: str) -> bool:
        """Step over these words if they come next."""
        if not self.sees(*words):
            return False
        self.index += len(words)
        return True

    def expect(self, *words: str, hint: str = "") -> None:
        """Step over these words or raise."""
        for word in words:
            if not self.takes(word):
                raise self.expected(word, hint)

    def expect_end(self, hint: str = "") -> None:
        """Raise unless the statement ends here."""
        if self.token is not None:
            raise self.error(
                f"unexpected {said(self.token)}", hint=hint or "The statement should end before it."
            )

    def take(self) -> Token:
        """The token ahead, stepped over."""
        token = self.token
        if token is None:
            raise self.expected("more")
        self.index += 1
        return token

    def string(self, what: str) -> str:
        """The value of a string in single quotes."""
        token = self.token
        if token is None or token.kind != "string":
            raise self.expected(what, "Write it in single quotes.")
        self.index += 1
        return token.value

    def identifier(self, what: str) -> str:
        """One name, bare or in backquotes."""
        token = self.token
        if token is None or token.kind not in ("word", "name"):
            hint = "Names stand bare or in `backquotes`." if token and token.kind == "string" else ""
            raise self.expected(what, hint)
        if not token.value.strip():
            raise self.error(f"expected {what}", detail="The name is empty.")
        self.index += 1
        return token.value

    def column(self, what: str = "a column name") -> str:
        """One column name; those that belong to Headwater are refused."""
        token = self.token
        name = self.identifier(what)
        if name.lower().startswith(RESERVED_PREFIX):
            raise reserved_column(name, self.place(token))
        return name

    def relation(self, what: str = "a table name") -> Name:
        """A table or view name, with its parts joined by points: `a.b`."""
        first = self.token
        name = self.name(what)
        if is_reserved(name):
            raise reserved_table(name, self.place(first))
        return name

    def name(self, what: str) -> Name:
        """A name of any number of parts."""
        parts = [self.identifier(what)]
        while self.takes("."):
            parts.append(self.identifier("a name after the point"))
        return Name(*parts)

    def names(self, what: str = "a column name") -> list[tuple[str, Token]]:
        """Column names in parentheses, each with its token, none twice."""
        self.expect("(")
        found: list[tuple[str, Token]] = []
        while True:
            token = self.token
            name = self.column(what)
            assert token is not None
            if any(name.lower() == known.lower() for known, _ in found):
                raise self.error(
                    f'column "{name}" is named twice', hint="Remove one of the two.", token=token
                )
            found.append((name, token))
            if not self.takes(","):
                self.expect(")")
                return found


def is_reserved(name: str) -> bool:
    """True if a table's name belongs to Headwater."""
    return _RESERVED.search(name) is not None


def reserved_table(name: str, place: Place) -> SqlError:
    """The error for a table name that belongs to Headwater."""
    return SqlError(
        f'table name "{name}" is reserved',
        detail=f"Names that end in {', '.join(RESERVED_ENDINGS)} are used for maintaining views.",
        hint=f'Call it "{_RESERVED.sub("", name) or "t"}" or something else.',
        place=place,
    )


def reserved_column(name: str, place: Place) -> SqlError:
    """The error for a column name that belongs to Headwater."""
    return SqlError(
        f'column name "{name}" is reserved',
        detail=f"Names that start with {RESERVED_PREFIX} are used for maintaining views.",
        hint=f'Call it "{name[len(RESERVED_PREFIX) :] or "c"}" or something else.',
        place=place,
    )
