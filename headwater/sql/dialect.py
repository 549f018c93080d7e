"""The SQL people write: Flink's texts and types on top of Spark's expressions.

What differs from Spark's own dialect, all of it Flink's:
- in a string a quote is doubled and a backslash is an ordinary character;
- TIMESTAMP has no time zone, TIMESTAMP_LTZ has one;
- BYTES and ROW are read, and functions have Flink's meaning (room `functions`).
What is written out is always Spark's.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.generator import Generator
from sqlglot.parser import SENTINEL_NONE
from sqlglot.tokenizer_core import Token, TokenType

from headwater.sql.functions.syntax import FunctionSyntax
from headwater.sql.functions.trees import WrongCall
from headwater.sql.windowing import FORMS as WINDOWING
from headwater.sql.windowing import Windowing, windowed


class Unreadable(ParseError):
    """What the parser did not expect, and the offsets at which it stands (`end` is one past it)."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        super().__init__(message, [{"description": message}])
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint
        """What to do, where the parser knows it."""


class HeadwaterParser(FunctionSyntax):
    """Spark's parser with Flink's functions, its errors placed."""

    def parse_expression(self, tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """Read one expression; what is left over is an error."""
        return self._parse(HeadwaterParser._parse_disjunction, tokens, sql)

    def raise_error(self, message: str, token: Token = SENTINEL_NONE) -> None:
        """Stop at the first error and remember its offsets."""
        at = token or self._curr
        if at:
            raise Unreadable(message, at.start, at.end + 1)
        end = self._prev.end + 1 if self._prev else 0
        raise Unreadable(message, end, end)

    def _parse_function_call(
        self,
        functions: dict[str, Any] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        name = self._curr
        try:
            found = super()._parse_function_call(functions, anonymous, optional_parens, any_token)
        except WrongCall as problem:
            raise Unreadable(problem.message, name.start, name.end + 1, problem.hint) from None
        if isinstance(found, exp.Func) and "start" not in found.meta:
            found.update_positions(name)
        return found

    def _parse_table(self, *args: Any, **named: Any) -> exp.Expr | None:
        """Also FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '10' MINUTES)) and the like."""
        words = [token.text.upper() for token in self._tokens[self._index : self._index + 3]]
        if words[:2] != ["TABLE", "("] or len(words) < 3 or words[2] not in WINDOWING:
            return super()._parse_table(*args, **named)
        begin = self._tokens[self._index + 2]
        self._advance(2)
        try:
            made = windowed(self._windowing())
        except WrongCall as problem:
            raise Unreadable(problem.message, begin.start, begin.end + 1, problem.hint) from None
        self._match_r_paren()
        alias = self._parse_table_alias() or exp.TableAlias(this=exp.to_identifier("windowed"))
        return exp.Subquery(this=made, alias=alias)

    def _windowing(self) -> Windowing:
        """The call of a windowing function, from its name to its closing parenthesis."""
        form = self._curr.text.upper()
        self._advance()
        self._match_l_paren()
        self._named("DATA")
        if not self._match(TokenType.TABLE):
            raise WrongCall(f"{form} takes a table first", f"Write TABLE({WINDOWING[form]}).")
        source = super()._parse_table(parse_partition=False)
        keys = self._partition_keys()
        self._match(TokenType.COMMA)
        self._named("TIMECOL")
        column = self._parse_id_var() if self._match_text_seq("DESCRIPTOR", "(") else None
        if source is None or column is None or not self._match(TokenType.R_PAREN):
            raise WrongCall(f"{form} takes DESCRIPTOR(column) second", f"Write TABLE({WINDOWING[form]}).")
        intervals: list[exp.Expr] = []
        while self._match(TokenType.COMMA):
            self._named("SIZE", "SLIDE", "STEP", "GAP", "OFFSET")
            interval = self._parse_disjunction()
            intervals += [interval] if interval is not None else []
        self._match_r_paren()
        return Windowing(form, source, column.name, intervals, keys)

    def _partition_keys(self) -> list[str]:
        """The columns of PARTITION BY a, b or PARTITION BY (a, b), up to the next argument."""
        found: list[str] = []
        if not self._match(TokenType.PARTITION_BY):
            return found
        in_parentheses = bool(self._match(TokenType.L_PAREN))
        while (name := self._parse_id_var()) is not None:
            found.append(exp.to_identifier(name.name).sql(dialect="spark"))
            behind = self._next.text.upper() if self._next else ""
            if behind in ("DESCRIPTOR", "TIMECOL") or not self._match(TokenType.COMMA):
                break
        if in_parentheses:
            self._match_r_paren()
        return found

    def _named(self, *names: str) -> None:
        """Pass over the name of an argument: SIZE => INTERVAL '10' MINUTES."""
        if self._curr and self._curr.text.upper() in names and self._next and self._next.text == "=>":
            self._advance(2)

    def _parse_pivot_aggregation(self) -> exp.Expr | None:
        """Also PIVOT (SUM(n) + 1 AS more FOR ...)."""
        # What stands above sums and products takes FOR for a word of its own.
        found = self._parse_bitwise()
        if found is None or found.find(exp.AggFunc, exp.Anonymous) is None:
            self.raise_error("Expecting an aggregation function in PIVOT")
        is_last = self._match(TokenType.FOR, advance=False)
        return found if is_last else self._parse_alias(found)

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """A row of VALUES; one without brackets ends before AS, which names the whole."""
        if self._match(TokenType.L_PAREN, advance=False):
            return super()._parse_value(values)
        cell = self._parse_disjunction()
        return None if cell is None else exp.Tuple(expressions=[cell])

    def _warn_unsupported(self) -> None:
        # Asked before the library gives up and takes the text as an opaque command.
        self.raise_error("this is not part of a query", self._tokens[0])

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        begin = self._index
        found = super()._parse_types(check_func, schema, allow_identifiers, with_collation)
        if isinstance(found, exp.DataType):
            words = {token.text.upper() for token in self._tokens[begin : self._index]}
            if "ZONE" in words and not words & {"LOCAL", "WITHOUT"}:
                self.raise_error("type TIMESTAMP WITH TIME ZONE is not supported yet", self._tokens[begin])
            found = self._with_length(found, self._tokens[begin : self._index])
        return found

    def _with_length(self, found: exp.DataType, tokens: list[Token]) -> exp.DataType:
        """The library takes VARCHAR(n) and CHAR(n) for STRING; here the length counts."""
        name, *rest = [token.text.upper() for token in tokens]
        if name not in ("VARCHAR", "CHAR") or len(rest) != 3 or not rest[1].isdecimal():
            return found
        size = exp.DataTypeParam(this=exp.Literal.number(int(rest[1])))
        return exp.DataType(this=exp.DataType.Type[name], expressions=[size])


class Headwater(Spark):
    """Reads Flink-style SQL, writes Spark SQL."""

    # A path that cannot be read is Spark's to judge, not a line in somebody's terminal.
    STRICT_JSON_PATH_SYNTAX = False

    class Tokenizer(Spark.Tokenizer):
        """Flink's strings, and no words that swallow the rest of a statement."""

        STRING_ESCAPES: ClassVar = ["'", '"']
        NESTED_COMMENTS = False
        COMMANDS: ClassVar = set()
        KEYWORDS: ClassVar = {
            **Spark.Tokenizer.KEYWORDS,
            "BYTES": TokenType.VARBINARY,
            "CURRENT_TIME": TokenType.CURRENT_TIME,
            "LOCALTIME": TokenType.LOCALTIME,
            "LOCALTIMESTAMP": TokenType.LOCALTIMESTAMP,
            "ROW": TokenType.STRUCT,
        }

    Parser = HeadwaterParser

    def generator(self, **opts: Any) -> Generator:
        """Spark's own generator: what leaves here is read by Spark."""
        return Spark().generator(**opts)


_KINDS = {
    exp.DataType.Type.TIMESTAMP: exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.TIMESTAMPTZ: exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.VARBINARY: exp.DataType.Type.BINARY,
    exp.DataType.Type.VARCHAR: exp.DataType.Type.TEXT,
    exp.DataType.Type.CHAR: exp.DataType.Type.TEXT,
}
_UNSIZED = (
    exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.TIMESTAMPLTZ,
    exp.DataType.Type.BINARY,
    exp.DataType.Type.TEXT,
)


def with_flink_types(tree: exp.Expr) -> exp.Expr:
    """The tree with each type as Flink means it and Spark can write it, changed in place.

    >>> with_flink_types(parse("CAST(x AS TIMESTAMP(3))")).sql("spark")
    'CAST(x AS TIMESTAMP_NTZ)'
    """
    for node in tree.find_all(exp.DataType):
        kind = _KINDS.get(node.this, node.this)
        node.set("this", kind)
        if kind in _UNSIZED:
            node.set("expressions", None)
    return tree
