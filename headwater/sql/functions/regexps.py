"""Regular expressions: what is not found is NULL, a replacement is plain text, SIMILAR TO is one of them."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.sql.functions.trees import (
    TEXT,
    WrongCall,
    call,
    case,
    cast,
    counted,
    enclosed,
    literal_int,
    literal_text,
    number,
    text,
)

_CLASSES = {
    "[:ALPHA:]": r"\p{Alpha}",
    "[:UPPER:]": r"\p{Upper}",
    "[:LOWER:]": r"\p{Lower}",
    "[:DIGIT:]": r"\d",
    "[:ALNUM:]": r"\p{Alnum}",
    "[:SPACE:]": " ",
    "[:WHITESPACE:]": r"\s",
}


def regexp_replace(arguments: list[exp.Expr]) -> exp.Expr:
    """REGEXP_REPLACE: `$1` in the replacement is just these two characters."""
    value, pattern, replacement = counted("REGEXP_REPLACE", arguments, 3, 3)
    assert value is not None and pattern is not None and replacement is not None
    written = literal_text(replacement)
    if written is not None:
        plain: exp.Expr = text(re.sub(r"([\\$])", r"\\\1", written))
    else:
        doubled = call("replace", replacement, text("\\"), text("\\\\"))
        plain = call("replace", doubled, text("$"), text("\\$"))
    return call("regexp_replace", value, pattern, plain)


def regexp_extract(arguments: list[exp.Expr]) -> exp.Expr:
    """REGEXP_EXTRACT: the whole match if no group is named, NULL if nothing matches."""
    value, pattern, index = counted("REGEXP_EXTRACT", arguments, 2, 3)
    assert value is not None and pattern is not None
    group = 0 if index is None else literal_int(index)
    if group == 0:
        return call("regexp_substr", value, pattern)
    written = literal_text(pattern)
    if group is not None and written is not None and not 0 <= group <= groups_of(written):
        return cast(exp.Null(), TEXT)
    assert index is not None
    return case((call("regexp_like", value, pattern), call("regexp_extract", value, pattern, index)))


def groups_of(pattern: str) -> int:
    """How many groups a regular expression captures."""
    plain = re.sub(r"\\Q.*?(\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]])*\]", "", pattern, flags=re.DOTALL)
    return len(re.findall(r"\((?!\?)|\(\?<(?![=!])", plain))


def regexp(arguments: list[exp.Expr]) -> exp.Expr:
    """REGEXP: whether a part of the text matches; an empty expression matches nothing."""
    value, pattern = counted("REGEXP", arguments, 2, 2)
    assert value is not None and pattern is not None
    matches = call("regexp_like", value, pattern)
    if literal_text(pattern):
        return matches
    return case((exp.EQ(this=enclosed(pattern), expression=text("")), exp.false()), otherwise=matches)


def regexp_extract_all(arguments: list[exp.Expr]) -> exp.Expr:
    """REGEXP_EXTRACT_ALL: NULL if the expression has no such group."""
    value, pattern, index = counted("REGEXP_EXTRACT_ALL", arguments, 2, 3)
    assert value is not None and pattern is not None
    group, written = 1 if index is None else literal_int(index), literal_text(pattern)
    if group is not None and written is not None and not 0 <= group <= groups_of(written):
        return cast(exp.Null(), "ARRAY<STRING>")
    return call("regexp_extract_all", value, pattern, index or number(1))


def similar(node: exp.SimilarTo) -> exp.Expr:
    """`x SIMILAR TO 'pattern' [ESCAPE c]` as a regular expression over the whole text."""
    outer = node.parent if isinstance(node.parent, exp.Escape) else None
    written = literal_text(node.expression)
    escape = literal_text(outer.expression) if outer is not None else ""
    if written is None or escape is None or len(escape) > 1:
        raise WrongCall("the pattern of SIMILAR TO is not a string literal", "Write it in quotes.", node)
    return call("regexp_like", node.this, text(f"(?s)^(?:{_as_regexp(written, escape)})$"))


def _as_regexp(pattern: str, escape: str) -> str:
    made, at, in_class = "", 0, False
    while at < len(pattern):
        name = next((n for n in _CLASSES if pattern[at:].upper().startswith(n)), None)
        sign = pattern[at]
        if escape and sign == escape and at + 1 < len(pattern):
            made, at = made + re.escape(pattern[at + 1]), at + 2
            continue
        if name is not None:
            made, at = made + _CLASSES[name], at + len(name)
            continue
        if sign in "[]":
            in_class, made = sign == "[", made + sign
        elif in_class:
            made += "\\\\" if sign == "\\" else sign
        else:
            made += {"%": ".*", "_": "."}.get(sign, f"\\{sign}" if sign in ".^$\\" else sign)
        at += 1
    return made
