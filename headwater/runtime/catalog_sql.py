"""Plain SQL in the database of a declared catalog: split, run one by one, refusals with their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import sqlglot
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from headwater.errors import SqlError, placed
from headwater.runtime.catalogs import worded
from headwater.runtime.declared import read_declared
from headwater.runtime.hidden import Hidden
from headwater.runtime.scope import Registered
from headwater.sources.base import Client, Outcome, Refusal
from headwater.sources.registry import CATALOG_TYPES
from headwater.sql import statements as sql
from headwater.sql.places import SourceText

_RUNS = re.compile(r"--[^\n]*|#[^\n]*|(?P<run>/\*M?!.*?\*/)|/\*.*?\*/", re.DOTALL)
"""Comments, and those that MySQL and MariaDB run: `/*!40101 SET NAMES utf8 */`."""

_MISSING = re.compile(r"^Missing (?P<sign>.+) from \d+:(?P<start>\d+)$", re.DOTALL)
"""What the tokenizer says of a quote that is not closed; the last number counts from the begin of the text."""


@dataclass(frozen=True)
class Piece:
    """One statement of a text."""

    text: str
    start: int


def run_in_catalog(catalog: sql.CreateCatalog, text: str, *, file: str, limit: int) -> Iterator[Outcome]:
    """Run every statement of a text in a catalog's default database; the outcome of each, as it is done."""
    kind, hidden, source = CATALOG_TYPES[catalog.options["type"]], Hidden(), SourceText(file, text)
    with hidden.watching():
        options = read_declared(catalog, kind.options, hidden)
        if kind.client is None:
            raise SqlError(f'catalog "{catalog.name}" takes no SQL of its own', place=catalog.place)
        with placed(catalog.place), worded(Registered(catalog, kind, options)):
            opened = kind.client(options)
        with closing(opened) as client:
            for piece in split(source, client.dialect):
                yield _run(client, piece, source, limit=limit)
            if client.in_transaction():
                raise SqlError(
                    "the transaction was not committed",
                    detail="It was begun here, and is undone.",
                    hint="End it with COMMIT; without BEGIN each statement is committed by itself.",
                )


def split(source: SourceText, dialect: str) -> list[Piece]:
    """The statements of a text, as the server's own SQL separates them.

    >>> [piece.text for piece in split(SourceText("a", "SELECT ';'; SELECT 2"), "postgres")]
    ["SELECT ';'", 'SELECT 2']
    """
    try:
        tokens = sqlglot.tokenize(source.text, read=dialect)
    except TokenError as problem:
        raise _unclosed(source, problem) from problem
    pieces: list[Piece] = []
    begin: int | None = None
    end = before = 0
    spans = [(t.start, t.end + 1, t.token_type is TokenType.SEMICOLON) for t in tokens]
    for start, after, is_end in [*spans, (len(source.text), len(source.text), True)]:
        # Between tokens are comments, and what MySQL runs although it looks like one.
        runs = list(_RUNS.finditer(source.text, before, start)) if dialect == "mysql" else []
        for run in (run for run in runs if run["run"] is not None):
            begin, end = run.start() if begin is None else begin, run.end()
        before = after
        if not is_end:
            begin, end = start if begin is None else begin, after
        elif begin is not None:
            pieces.append(Piece(source.text[begin:end], begin))
            begin = None
    return pieces


def _run(client: Client, piece: Piece, source: SourceText, *, limit: int) -> Outcome:
    try:
        return client.run(piece.text, limit)
    except Refusal as refused:
        begin = piece.start + (refused.at or 0)
        word = sqlglot.tokenize(piece.text, read=client.dialect)
        at = next((t for t in word if t.start == (refused.at or 0)), None)
        width = at.end - at.start + 1 if at is not None else 1
        raise SqlError(
            refused.said,
            detail=refused.detail,
            hint=refused.hint,
            place=source.place(begin, begin + width),
        ) from refused


def _unclosed(source: SourceText, problem: TokenError) -> SqlError:
    """What is wrong with a text that ends within a quote or a comment."""
    missing = _MISSING.search(str(problem.__cause__))
    start = int(missing["start"]) if missing is not None else source.text.rfind("/*")
    sign = missing["sign"] if missing is not None else "/*"
    if start < 0:
        return SqlError("the SQL cannot be split into statements", detail=f"{problem}.")
    return SqlError(
        f"{sign} is not closed",
        detail="It goes on to the end of the cell.",
        hint=f"Close it with {'*/' if sign == '/*' else sign}.",
        place=source.place(start, start + len(sign)),
    )
