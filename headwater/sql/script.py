"""A script: its statements one after the other, each read, the first error raised with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headwater.errors import SqlError
from headwater.sql.create import parse_create
from headwater.sql.cursor import Cursor
from headwater.sql.lexer import Token, lex
from headwater.sql.places import SourceText
from headwater.sql.queries import parse_query
from headwater.sql.refusals import refusal, unknown
from headwater.sql.secrets import kept
from headwater.sql.session import parse_describe, parse_drop, parse_show, parse_stop, parse_use
from headwater.sql.statements import (
    Analyze,
    CreateView,
    Explain,
    InsertInto,
    Reset,
    Select,
    Set,
    Statement,
    StatementSet,
    Subscribe,
    Verify,
)

Pieces = Iterator[list[Token]]


def parse_script(text: str, file: str = "<sql>") -> list[Statement]:
    """All statements of a script.

    >>> parse_script("SHOW TABLES; DESCRIBE orders")
    [Show(what='tables', name=None, within=None, pattern=None, is_negated=False), Describe(name='orders')]
    """
    source = SourceText(file, text)
    pieces = _split(source)
    return [_statement(Cursor(source, tokens), pieces) for tokens in pieces]


def _split(source: SourceText) -> Pieces:
    """The tokens of each statement, found one at a time, so that errors come in the order of the text."""
    tokens: list[Token] = []
    for token in lex(source.text):
        match token:
            case Token(kind="symbol", raw=";"):
                if tokens:
                    yield tokens
                tokens = []
            case Token(kind="open"):
                raise _unclosed(source, token)
            case Token(kind="hint"):
                raise SqlError(
                    "hints are not supported yet",
                    hint="Put options into the WITH clause of the table; leave out how to compute.",
                    place=source.place(token.start, token.end),
                )
            case _:
                tokens.append(token)
    if tokens:
        yield tokens


def _unclosed(source: SourceText, token: Token) -> SqlError:
    what = {"/*": "comment", "`": "name"}.get(token.raw, "string")
    closing = {"/*": "*/"}.get(token.raw, token.raw)
    again = f", or look for one that is missing before it; inside a {what} write it twice"
    return SqlError(
        f"the {what} that begins here does not end",
        hint=f"Close it with {closing}{again if what != 'comment' else ''}.",
        place=source.place(token.start, token.start + len(token.raw)),
    )


def _statement(cursor: Cursor, pieces: Pieces) -> Statement:
    token = cursor.token
    if cursor.sees("("):
        return _select(cursor, pieces)
    parse = PARSERS.get(token.upper) if token is not None else None
    refused = None if cursor.sees("BEGIN", "STATEMENT") else refusal(cursor)
    if refused is not None:
        raise refused
    if parse is None:
        raise unknown(cursor, tuple(PARSERS))
    return parse(cursor, pieces)


def _select(cursor: Cursor, pieces: Pieces) -> Select:
    return Select(parse_query(cursor), place=cursor.place(), text=cursor.text)


def _insert(cursor: Cursor, pieces: Pieces) -> InsertInto:
    cursor.expect("INSERT")
    cursor.expect("INTO", hint="Write INSERT INTO name SELECT ...")
    cursor.takes("TABLE")
    target = cursor.relation()
    if cursor.sees("PARTITION"):
        raise cursor.error("PARTITION is not supported yet", hint="Select the value as a column.")
    is_query = any(cursor.sees("(", word) for word in ("SELECT", "WITH", "VALUES", "("))
    columns = [name for name, _ in cursor.names()] if cursor.sees("(") and not is_query else []
    query = parse_query(cursor)
    return InsertInto(target, query, tuple(columns), place=cursor.place(), text=cursor.text)


def _explain(cursor: Cursor, pieces: Pieces) -> Explain | Analyze:
    cursor.expect("EXPLAIN")
    if cursor.takes("ANALYZE"):
        name = cursor.relation("a view name")
        cursor.expect_end("EXPLAIN ANALYZE takes the name of a view.")
        return Analyze(name, place=cursor.place(), text=cursor.text)
    cursor.takes("PLAN", "FOR")
    if cursor.token is None:
        raise cursor.expected("a statement to explain", "Write EXPLAIN SELECT ...")
    if cursor.sees("STATEMENT", "SET"):
        inner: Statement = _statement_set(cursor, pieces)
    else:
        inner = _statement(Cursor(cursor.source, cursor.tokens[cursor.index :]), pieces)
    if not isinstance(inner, Select | InsertInto | CreateView | StatementSet):
        raise cursor.error(
            f"{cursor.token.raw.upper() if cursor.token else 'this'} cannot be explained",
            hint="EXPLAIN takes a SELECT, an INSERT INTO, a CREATE VIEW or a STATEMENT SET.",
        )
    return Explain(inner, place=cursor.place(), text=cursor.text)


def _execute(cursor: Cursor, pieces: Pieces) -> Statement:
    cursor.expect("EXECUTE")
    if cursor.sees("STATEMENT"):
        return _statement_set(cursor, pieces)
    if not (cursor.sees("INSERT") or cursor.sees("SELECT")):
        raise cursor.expected("STATEMENT SET", "Write EXECUTE STATEMENT SET BEGIN INSERT INTO ...; END;")
    return _statement(Cursor(cursor.source, cursor.tokens[cursor.index :]), pieces)


def _begin(cursor: Cursor, pieces: Pieces) -> StatementSet:
    cursor.expect("BEGIN", "STATEMENT", "SET")
    cursor.expect_end("Put a semicolon after BEGIN STATEMENT SET.")
    return _inserts(cursor, pieces)


def _statement_set(cursor: Cursor, pieces: Pieces) -> StatementSet:
    cursor.expect("STATEMENT", "SET", "BEGIN", hint="Write STATEMENT SET BEGIN INSERT INTO ...; END;")
    return _inserts(cursor, pieces)


def _inserts(cursor: Cursor, pieces: Pieces) -> StatementSet:
    """The INSERT INTO statements up to END; the first may follow BEGIN in the same piece."""
    rest = list(cursor.tokens[cursor.index :])
    found: list[InsertInto] = []
    while [token.upper for token in rest] != ["END"]:
        if rest:
            inner = Cursor(cursor.source, rest)
            if not inner.sees("INSERT"):
                raise inner.expected("INSERT INTO or END", "A statement set holds nothing but INSERT INTO.")
            insert = _statement(inner, pieces)
            assert isinstance(insert, InsertInto)
            found.append(insert)
        following = next(pieces, None)
        if following is None:
            raise cursor.error(
                "the statement set that begins here does not end", hint="Add END;", token=cursor.tokens[0]
            )
        rest = following
    if not found:
        raise cursor.error(
            "the statement set is empty", hint="Put INSERT INTO statements into it.", token=cursor.tokens[0]
        )
    whole = cursor.source.text[cursor.start : rest[-1].end]
    return StatementSet(tuple(found), place=cursor.place(), text=whole)


def _verify(cursor: Cursor, pieces: Pieces) -> Verify:
    cursor.expect("VERIFY")
    name = cursor.relation("a view name")
    cursor.expect_end()
    return Verify(name, place=cursor.place(), text=cursor.text)


def _subscribe(cursor: Cursor, pieces: Pieces) -> Subscribe:
    cursor.expect("SUBSCRIBE")
    cursor.takes("TO")
    name = cursor.relation("a view name")
    after = cursor.string("a cut") if cursor.takes("AFTER") else None
    cursor.expect_end("Write SUBSCRIBE TO view, or SUBSCRIBE TO view AFTER 'cut'.")
    return Subscribe(name, after, place=cursor.place(), text=cursor.text)


def _set(cursor: Cursor, pieces: Pieces) -> Set:
    cursor.expect("SET")
    key = _setting(cursor)
    if key is None or cursor.token is None:
        return Set(key, place=cursor.place(), text=cursor.text)
    cursor.expect("=", hint=f"Write SET '{key}' = '...'.")
    token = cursor.token
    if token is None:
        raise cursor.expected("a value", f"Write SET '{key}' = '...', or RESET '{key}' to take it back.")
    if token.kind == "string":
        value = cursor.string("a value")
        cursor.expect_end("Write the whole value in one pair of quotes.")
    else:
        value = cursor.source.text[token.start : cursor.tokens[-1].end]
    return Set(key, kept(key, value), place=cursor.place(), text=cursor.text)


def _reset(cursor: Cursor, pieces: Pieces) -> Reset:
    cursor.expect("RESET")
    key = _setting(cursor)
    cursor.expect_end()
    return Reset(key, place=cursor.place(), text=cursor.text)


def _setting(cursor: Cursor) -> str | None:
    """The name of a setting: a string, or bare words joined by points and dashes."""
    token = cursor.token
    if token is None:
        return None
    if token.kind in ("string", "name"):
        return cursor.take().value
    begin = token.start
    end = begin
    while (token := cursor.token) is not None and token.start in (begin, end) and token.raw != "=":
        end = cursor.take().end
    if begin == end:
        raise cursor.expected("the name of a setting", "Write SET 'name' = 'value'.")
    return cursor.source.text[begin:end]


def _without_pieces(parse: Callable[[Cursor], Statement]) -> Callable[[Cursor, Pieces], Statement]:
    """A parser of statements that never go on behind a semicolon."""
    return lambda cursor, pieces: parse(cursor)


PARSERS: dict[str, Callable[[Cursor, Pieces], Statement]] = {
    "CREATE": _without_pieces(parse_create),
    "SELECT": _select,
    "WITH": _select,
    "VALUES": _select,
    "INSERT": _insert,
    "EXPLAIN": _explain,
    "EXECUTE": _execute,
    "BEGIN": _begin,
    "VERIFY": _verify,
    "SUBSCRIBE": _subscribe,
    "SHOW": _without_pieces(parse_show),
    "DESCRIBE": _without_pieces(parse_describe),
    "DESC": _without_pieces(parse_describe),
    "USE": _without_pieces(parse_use),
    "DROP": _without_pieces(parse_drop),
    "STOP": _without_pieces(parse_stop),
    "SET": _set,
    "RESET": _reset,
}
"""The first word of each statement that has a body."""
