"""From offsets in a text, and from nodes of a query, to the places that errors show."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from headwater.errors import Place
from headwater.sql.secrets import MaskedText
from headwater.sql.statements import Statement


@dataclass(frozen=True)
class SourceText:
    """The text of one script and the file it came from."""

    file: str
    text: str

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(offset + 1 for offset, sign in enumerate(self.text) if sign == "\n")]

    @cached_property
    def _shown(self) -> MaskedText:
        return MaskedText(self.text)

    def place(self, start: int, end: int) -> Place:
        """The place of `text[start:end]`; the width ends with the line."""
        line = bisect_right(self._line_starts, start)
        begin = self._line_starts[line - 1]
        close = self.text.find("\n", begin)
        close = close if close >= 0 else len(self.text)
        shown = self._shown.part(begin, close).rstrip("\r")
        column, mark = start - begin + 1, len(self._shown.part(begin, start)) + 1
        until = min(len(self._shown.part(begin, min(end, close))), len(shown))
        width = max(1, until - mark + 1)
        return Place(self.file, line, column, shown, width, mark=0 if mark == column else mark)


def place_of(node: exp.Expr | None, statement: Statement) -> Place:
    """The place in the user's file of a node of a statement's query; without one, the statement's own.

    A node that was not written as such (an added alias, a whole clause) is placed by the parts that were.
    """
    spans = [] if node is None else _spans(node)
    if not spans:
        return statement.place
    return _within(statement, min(start for start, _ in spans), max(end for _, end in spans) + 1)


def _spans(node: exp.Expr) -> list[tuple[int, int]]:
    own = _span(node)
    if own is not None:
        return [own]
    return [span for part in node.walk() if (span := _span(part)) is not None]


def _span(node: exp.Expr) -> tuple[int, int] | None:
    start, end = node.meta.get("start"), node.meta.get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else None


def _within(statement: Statement, start: int, end: int) -> Place:
    first = statement.place
    # The line on which the statement begins may hold something before it.
    before = " " * (first.column - 1)
    inside = SourceText(first.file, before + statement.text).place(start + len(before), end + len(before))
    if inside.line > 1:
        return replace(inside, line=first.line + inside.line - 1)
    mark = (inside.mark or inside.column) + (first.mark or first.column) - first.column
    return replace(inside, line=first.line, text=first.text, mark=0 if mark == inside.column else mark)
