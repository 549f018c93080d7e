"""Functions of strings whose edges differ: lengths below zero, empty texts, what is not found."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.sql.functions.trees import (
    TEXT,
    WrongCall,
    call,
    case,
    cast,
    counted,
    enclosed,
    is_not_null,
    lambda_,
    literal_int,
    literal_text,
    number,
    text,
    try_cast,
    variable,
)

Builder = Callable[[list[exp.Expr]], exp.Expr]
_ZERO = number(0)


def from_base64(arguments: list[exp.Expr]) -> exp.Expr:
    """FROM_BASE64: text from text."""
    (value,) = counted("FROM_BASE64", arguments, 1, 1)
    return cast(exp.FromBase64(this=value), TEXT)


def substring(string: exp.Expr, start: exp.Expr, length: exp.Expr | None) -> exp.Expr:
    """SUBSTRING: a start before the first character gives an empty text, a length below zero NULL."""
    plain = exp.Substring(this=string.copy(), start=start.copy(), length=length and length.copy())
    branches: list[tuple[exp.Expr, exp.Expr]] = []
    if length is not None and (literal_int(length) is None or (literal_int(length) or 0) < 0):
        branches.append((exp.LT(this=enclosed(length), expression=_ZERO.copy()), exp.Null()))
    if literal_int(start) is None or (literal_int(start) or 0) < 0:
        before = exp.Add(this=call("char_length", string), expression=enclosed(start))
        is_before: exp.Expr = exp.LT(this=before, expression=_ZERO.copy())
        if literal_int(start) is None:
            is_before = exp.and_(exp.LT(this=enclosed(start), expression=_ZERO.copy()), is_before)
        branches.append((is_before, text("")))
    return case(*branches, otherwise=plain) if branches else plain


def trimmed(name: str, position: str) -> Builder:
    """LTRIM and RTRIM: Flink names the string first."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        value, taken = counted(name, arguments, 1, 2)
        assert value is not None
        if taken is None:
            return call(name, value)
        return exp.Trim(this=value.copy(), expression=taken.copy(), position=position)

    return build


def padded(name: str) -> Builder:
    """LPAD and RPAD: NULL for a length below zero and for an empty padding."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        value, length, padding = counted(name, arguments, 3, 3)
        assert value is not None and length is not None and padding is not None
        plain = call(name, value, length, padding)
        branches: list[tuple[exp.Expr, exp.Expr]] = []
        if literal_int(length) is None or (literal_int(length) or 0) < 0:
            branches.append((exp.LT(this=enclosed(length), expression=_ZERO.copy()), exp.Null()))
        if not literal_text(padding):
            branches.append((exp.EQ(this=enclosed(padding), expression=text("")), exp.Null()))
        return case(*branches, otherwise=plain) if branches else plain

    return build


def initcap(arguments: list[exp.Expr]) -> exp.Expr:
    """INITCAP: a word is made of letters and digits, so `a-b` has two."""
    (value,) = counted("INITCAP", arguments, 1, 1)
    assert value is not None
    words = call("regexp_extract_all", value, text("[A-Za-z0-9]+|[^A-Za-z0-9]+"), _ZERO)
    x = variable("x_")
    first, rest = call("left", x, number(1)), call("substring", x, number(2))
    raised = call("concat", call("upper", first), call("lower", rest))
    is_word = call("regexp_like", x, text("^[A-Za-z0-9]"))
    each = lambda_(case((is_word, raised), otherwise=x), "x_")
    return call("array_join", call("transform", words, each), text(""))


def _quoted(delimiter: exp.Expr) -> exp.Expr:
    """A delimiter as the regular expression that means just it."""
    written = literal_text(delimiter)
    if written is None:
        return call("concat", text("\\Q"), delimiter, text("\\E"))
    return text("".join(c if c.isalnum() or c.isspace() or ord(c) > 127 else f"\\{c}" for c in written))


def split(arguments: list[exp.Expr]) -> exp.Expr:
    """SPLIT: the delimiter is a text, not a regular expression."""
    value, delimiter = counted("SPLIT", arguments, 2, 2)
    assert value is not None and delimiter is not None
    if literal_text(delimiter) is None:
        quoted = case((exp.NEQ(this=enclosed(delimiter), expression=text("")), _quoted(delimiter)))
        every = case((exp.EQ(this=enclosed(delimiter), expression=text("")), text("")))
        pattern: exp.Expr = exp.Coalesce(this=quoted, expressions=[every], is_nvl=False)
    else:
        pattern = _quoted(delimiter)
    return call("split", value, pattern, number(-1))


def split_index(arguments: list[exp.Expr]) -> exp.Expr:
    """SPLIT_INDEX: one part, counted from zero, NULL if there is no such part."""
    value, delimiter, index = counted("SPLIT_INDEX", arguments, 3, 3)
    assert value is not None and delimiter is not None and index is not None
    code = literal_int(delimiter)
    separator = text(chr(code)) if code is not None and 0 < code < 256 else delimiter
    return call("get", call("split", value, _quoted(separator), number(-1)), index)


def str_to_map(arguments: list[exp.Expr]) -> exp.Expr:
    """STR_TO_MAP: keys and values are parted by `=`."""
    value, pairs, parts = counted("STR_TO_MAP", arguments, 1, 3)
    assert value is not None
    return call("str_to_map", value, pairs or text(","), parts or text("="))


def elt(arguments: list[exp.Expr]) -> exp.Expr:
    """ELT: NULL if there is no such expression."""
    if len(arguments) < 2:
        raise WrongCall("ELT takes an index and at least one expression", "Write ELT(1, a, b).")
    return call(
        "get", call("array", *arguments[1:]), exp.Sub(this=enclosed(arguments[0]), expression=number(1))
    )


def instr(arguments: list[exp.Expr]) -> exp.Expr:
    """INSTR of two strings."""
    value, sought = counted("INSTR", arguments, 2, 2)
    assert value is not None and sought is not None
    return call("instr", value, sought)


def like(node: exp.Like) -> exp.Expr:
    """LIKE without ESCAPE, also LIKE ANY and LIKE ALL: a backslash in a pattern is an ordinary character."""
    if isinstance(node.parent, exp.Escape):
        return node
    given = node.expression
    if isinstance(given, exp.Any | exp.All):
        several = given.this.unnest()
        patterns = several.expressions if isinstance(several, exp.Tuple) else [several]
    else:
        patterns = [given]
    for pattern in patterns:
        pattern.replace(_as_it_stands(pattern))
    return node


def _as_it_stands(pattern: exp.Expr) -> exp.Expr:
    """A pattern in which a backslash stands for itself."""
    written = literal_text(pattern)
    if written is None:
        return call("replace", pattern.copy(), text("\\"), text("\\\\"))
    return text(written.replace("\\", "\\\\"))


def tested(name: str, pattern: str) -> Builder:
    """IS_ALPHA and IS_DIGIT: every character is one of these; NULL is not."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        (value,) = counted(name, arguments, 1, 1)
        assert value is not None
        matches = call("regexp_like", cast(value, TEXT), text(pattern))
        return exp.Coalesce(this=matches, expressions=[exp.false()], is_nvl=False)

    return build


def is_decimal(arguments: list[exp.Expr]) -> exp.Expr:
    """IS_DECIMAL: whether a text is a number."""
    (value,) = counted("IS_DECIMAL", arguments, 1, 1)
    assert value is not None
    return is_not_null(try_cast(cast(value, TEXT), "double"))


def hashed(name: str, bits: int) -> Builder:
    """SHA224, SHA256, SHA384 and SHA512."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        (value,) = counted(name, arguments, 1, 1)
        assert value is not None
        return call("sha2", value, number(bits))

    return build


def renamed(name: str, to: str, least: int, most: int) -> Builder:
    """A function that Spark has under another name."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        counted(name, arguments, least, most)
        return call(to, *arguments)

    return build


def of_text(name: str, to: str) -> Builder:
    """A function of bytes that Spark has for texts."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        (value,) = counted(name, arguments, 1, 1)
        assert value is not None
        return call(to, cast(value, TEXT))

    return build
