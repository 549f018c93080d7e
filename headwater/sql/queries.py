"""Queries and expressions, read by the dialect, checked, and placed in the user's text."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot import parser as sqlglot_parser
from sqlglot.errors import ParseError, TokenError

from headwater.errors import SqlError, UsageError
from headwater.nearest import nearest
from headwater.schema import RESERVED_PREFIX
from headwater.sql.cursor import Cursor, is_reserved, reserved_column, reserved_table, said
from headwater.sql.dialect import Headwater, HeadwaterParser, Unreadable, with_flink_types
from headwater.sql.functions.rewrites import with_flink_meaning
from headwater.sql.functions.trees import WrongCall
from headwater.sql.lexer import Token

CLAUSES = frozenset(
    {
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "ORDER",
        "HAVING",
        "JOIN",
        "LEFT",
        "RIGHT",
        "INNER",
        "CROSS",
        "UNION",
    }
    | {
        "DISTINCT",
        "LIMIT",
        "BETWEEN",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "AND",
        "OR",
        "NOT",
        "NULL",
        "LIKE",
    }
    | {"EXISTS", "VALUES", "INTERSECT", "EXCEPT", "PARTITION", "OVER", "USING"}
)
"""Words that people misspell in queries."""

REFUSED: dict[type[exp.Expr], tuple[str, str, tuple[str, ...]]] = {
    exp.Command: ("this statement", "Start with SELECT, WITH or VALUES.", ()),
    exp.Placeholder: ("a parameter", "Write the value itself.", ("?", ":", "{")),
    exp.Parameter: ("a parameter", "Write the value; ${env:NAME} works in WITH options only.", ("$", "@")),
    exp.SessionParameter: ("a session variable", "Write the value itself.", ("@",)),
    exp.Into: ("SELECT INTO", "Use INSERT INTO target SELECT ...", ("INTO",)),
    exp.Lock: ("a locking clause", "Leave it out: a live query locks nothing.", ("FOR",)),
    exp.Hint: ("a hint", "Leave it out; the way a query is computed is chosen for you.", ()),
    exp.DDL: ("a statement inside a query", "Put it before the query as one of its own.", ()),
    exp.DML: ("a statement inside a query", "Put it before the query as one of its own.", ()),
}
"""What the library reads and no live query can hold: its name, what to do, and the words it begins with."""

_HARMLESS = (exp.Query, exp.Values)
# The library meets texts it was not written for in more ways than its own errors.
_FAILURES = (ParseError, TokenError, RecursionError, ValueError, TypeError, LookupError, AttributeError)
_QUERY = "A query starts with SELECT, WITH, VALUES or a parenthesis."
_LIST_ENDS = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING")


def parse_query(cursor: Cursor) -> exp.Query:
    """Read the rest of the statement as a query; VALUES becomes a SELECT from it."""
    first = cursor.token
    if not any(cursor.sees(word) for word in ("SELECT", "WITH", "VALUES", "(")):
        raise cursor.expected("a query", _QUERY)
    tree = _selected(_parse(cursor, exp.Query, cursor.tokens[cursor.index :]), cursor)
    if not isinstance(tree, exp.Query):
        raise cursor.error("expected a query", hint=_QUERY, token=first)
    cursor.index = len(cursor.tokens)
    return tree


def parse_expression(cursor: Cursor, tokens: list[Token]) -> exp.Expression:
    """Read some tokens of the statement as one expression."""
    tree = _parse(cursor, exp.Condition, tokens)
    assert isinstance(tree, exp.Expression)
    return tree


def _parse(cursor: Cursor, into: type[exp.Expr], tokens: Sequence[Token]) -> exp.Expr:
    missing = (
        cursor.expected("a query", _QUERY)
        if into is exp.Query
        else cursor.expected("an expression", "Write what the column is computed from.")
    )
    if not tokens:
        raise missing
    _refuse_trailing_commas(cursor, tokens)
    _check_library()
    # Blanks up to where it begins, so that all offsets count from the statement's first letter.
    begin = tokens[0].start - cursor.start
    sql = " " * begin + cursor.source.text[tokens[0].start : tokens[-1].end]
    try:
        tree = _read(sql, into)
    except Unreadable as problem:
        raise _unreadable(cursor, problem, tokens) from None
    except _FAILURES as problem:
        raise cursor.error(
            f"this {'query' if into is exp.Query else 'expression'} cannot be read",
            hint="Make it simpler until it can be read, and look at the part that made the difference.",
            token=tokens[0],
        ) from problem
    if tree is None:
        raise missing
    _check(cursor, tree, tokens[0])
    _place(cursor, tree)
    try:
        return with_flink_types(with_flink_meaning(tree))
    except WrongCall as problem:
        at = _token_at(cursor, problem.node) if problem.node is not None else None
        raise cursor.error(problem.message, hint=problem.hint, token=at or tokens[0]) from None


def _check_library() -> None:
    if not str(sqlglot_parser.__file__).endswith(".py"):
        raise UsageError(
            "sqlglot is installed in its compiled form, whose parser cannot be extended",
            detail=f"{sqlglot_parser.__file__} comes from the package sqlglotc.",
            hint="Run 'pip uninstall sqlglotc', or use an environment of its own.",
        )


def _read(sql: str, into: type[exp.Expr]) -> exp.Expr | None:
    dialect = Headwater()
    parser = HeadwaterParser(dialect=dialect)
    tokens = dialect.tokenize(sql)
    trees = parser.parse(tokens, sql) if into is exp.Query else parser.parse_expression(tokens, sql)
    return trees[0] if len(trees) == 1 else None


def _refuse_trailing_commas(cursor: Cursor, tokens: Sequence[Token]) -> None:
    # The library steps over a comma that nothing follows; a column that was forgotten should not go unseen.
    for comma, after in zip(tokens, [*tokens[1:], None], strict=True):
        ends = after is None or after.raw == ")" or after.upper in _LIST_ENDS
        if comma.kind == "symbol" and comma.raw == "," and ends:
            raise cursor.error(
                f"nothing stands between , and {said(after)}", hint="Remove the comma.", token=comma
            )


def _unreadable(cursor: Cursor, problem: Unreadable, tokens: Sequence[Token]) -> SqlError:
    start, end = problem.start + cursor.start, problem.end + cursor.start
    index = next((i for i, token in enumerate(tokens) if token.end > start), len(tokens))
    here = tokens[index] if index < len(tokens) else None
    before = tokens[index - 1] if index > 0 else None
    for word in (token for token in (here, before) if token is not None and token.upper and not problem.hint):
        near = nearest(word.raw, CLAUSES, cutoff=0.7)
        if near and near != word.upper:
            return cursor.error(f"unexpected {word.raw}", hint=f"Did you mean {near}?", token=word)
    message = problem.message
    if problem.hint:
        hint = problem.hint
    elif message.startswith("type "):
        hint = "Write TIMESTAMP_LTZ: a moment in time, shown in the session's zone."
    elif message.startswith("Expecting ") and len(message) < 20:
        message = f"expected {message.removeprefix('Expecting ')}"
        hint = "Look for a parenthesis or a comma that is missing or too much."
    else:
        message = f"unexpected {said(here)}"
        hint = "Look at what stands just before it: a comma, an operator or a word may be missing."
    return SqlError(message, hint=hint, place=cursor.source.place(start, end))


def _check(cursor: Cursor, tree: exp.Expr, first: Token) -> None:
    for node in tree.walk():
        problem = _problem(cursor, node, first)
        if problem is not None:
            raise problem


def _problem(cursor: Cursor, node: exp.Expr, first: Token) -> SqlError | None:
    """What is wrong with a node by itself, if anything."""
    for family, (what, hint, words) in REFUSED.items():
        if isinstance(node, family) and not isinstance(node, _HARMLESS):
            token = _first_of(cursor, words) or _token_at(cursor, node) or first
            return cursor.error(f"{what} is not supported here", hint=hint, token=token)
    match node:
        case exp.Identifier() if node.name.lower().startswith(RESERVED_PREFIX):
            return reserved_column(node.name, cursor.place(_token_at(cursor, node) or first))
        case exp.Table() | exp.CTE():
            name = node.alias if isinstance(node, exp.CTE) else node.name
            if is_reserved(name):
                return reserved_table(name, cursor.place(_token_at(cursor, node) or first))
        case exp.Select() if not node.expressions:
            token = _token_at(cursor, node) or first
            return cursor.error("SELECT names no columns", hint="Write SELECT * or the columns.", token=token)
        case exp.DataType(this=exp.DataType.Type.TIME):
            return cursor.error(
                "type TIME is not supported in a query yet",
                hint="Use text: DATE_FORMAT(x, 'HH:mm:ss').",
                token=_first_of(cursor, ("TIME",)) or first,
            )
    return None


def _token_at(cursor: Cursor, node: exp.Expr) -> Token | None:
    starts = [part.meta["start"] for part in node.walk() if isinstance(part.meta.get("start"), int)]
    if not starts:
        return None
    offset = min(starts) + cursor.start
    return next((token for token in cursor.tokens if token.start == offset), None)


def _first_of(cursor: Cursor, words: tuple[str, ...]) -> Token | None:
    signs = ((token, token.upper or token.raw) for token in cursor.tokens if token.kind in ("word", "symbol"))
    return next((token for token, word in signs if word in words), None)


def _place(cursor: Cursor, tree: exp.Expr) -> None:
    """Let line and column of each node count in the whole file; start and end count in the statement."""
    for node in tree.walk():
        start, end = node.meta.get("start"), node.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            place = cursor.source.place(start + cursor.start, end + 1 + cursor.start)
            node.meta["line"], node.meta["col"] = place.line, place.column


def _selected(tree: exp.Expr, cursor: Cursor) -> exp.Expr:
    """The tree with a name for each column of VALUES; VALUES alone becomes `SELECT * FROM VALUES ...`."""
    for values in tree.find_all(exp.Values):
        widths = {len(row.expressions) if isinstance(row, exp.Tuple) else 1 for row in values.expressions}
        if len(widths) != 1:
            raise cursor.error(
                "the rows of VALUES have different lengths",
                hint="Give each row the same columns.",
                token=_first_of(cursor, ("VALUES",)) or cursor.tokens[0],
            )
        alias = values.args.get("alias") or exp.TableAlias(this=exp.to_identifier("v"))
        if not alias.columns:
            alias.set("columns", [exp.to_identifier(f"col{number + 1}") for number in range(widths.pop())])
        values.set("alias", alias)
    if not isinstance(tree, exp.Values):
        return tree
    if any(arg for name, arg in tree.args.items() if name not in ("expressions", "alias")):
        raise cursor.error(
            "this VALUES cannot be read",
            hint="Write SELECT ... FROM (VALUES ...) AS v(a, b).",
            token=cursor.tokens[0],
        )
    return exp.select("*").from_(tree, copy=False)
