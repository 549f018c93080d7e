"""Completion: what may stand where the cursor is, from the tokens before it and the names that are known.

>>> [one.text for one in complete("SELECT * FROM cl", 16, Known({"clicks": ("id",)}))]
['clicks']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headwater.cli.client.commands import SHORT_FORMS
from headwater.cli.client.options import Offered, catalog_options, connectors, settings, table_options
from headwater.cli.client.words import CLAUSES, FUNCTIONS, STATEMENTS, TYPES
from headwater.runtime.conversation import Known
from headwater.sql.lexer import Token, lex

RELATION_AFTER = ("FROM", "JOIN", "INTO", "TABLE", "VIEW", "DESCRIBE", "DESC", "VERIFY", "ANALYZE", "LIKE")
_JOINING = ("FROM", "JOIN")
_NO_ALIAS = frozenset(CLAUSES)


@dataclass(frozen=True)
class Suggestion:
    """A text to put in the place of the last `back` letters, and words about it."""

    text: str
    back: int
    about: str = ""


def complete(text: str, cursor: int, known: Known) -> list[Suggestion]:
    """What may stand at the cursor, the likeliest first."""
    if text[:cursor].lstrip().startswith("\\"):
        return _short_forms(text[:cursor].lstrip())
    before = _statement(list(lex(text[:cursor])))
    if before and before[-1].kind == "open":
        quote = before[-1]
        return _inside_quotes(quote.raw, text[quote.start + 1 : cursor], before[:-1], known)
    word = before[-1].raw if before and before[-1].kind == "word" and before[-1].end == cursor else ""
    earlier = before[:-1] if word else before
    if (named := _relation_before_point(earlier)) is not None:
        columns = _columns_of(named, _statement_around(text, cursor), known)
        inside = [name[len(named) + 1 :] for name in known.tables if name.startswith(f"{named}.")]
        found = _fitting(((name, f"column of {named}") for name in columns), word)
        return found + _fitting(((name, f"table of {named}") for name in inside), word)
    if (offered := _options_here(earlier)) is not None:
        return [] if word else _keys(offered, "", "'")
    return _words(earlier, word, _statement_around(text, cursor), known)


def _short_forms(typed: str) -> list[Suggestion]:
    if " " in typed:
        return []
    return [
        Suggestion(form, len(typed), about) for form, about in SHORT_FORMS.items() if form.startswith(typed)
    ]


def _statement(tokens: Sequence[Token]) -> list[Token]:
    """The tokens behind the last semicolon."""
    ends = [number for number, token in enumerate(tokens) if token.raw == ";" and token.kind == "symbol"]
    return list(tokens[ends[-1] + 1 :] if ends else tokens)


def _statement_around(text: str, cursor: int) -> list[Token]:
    """All tokens of the statement at the cursor, also those behind it."""
    found: list[Token] = []
    for token in lex(text):
        if token.raw == ";" and token.kind == "symbol":
            if token.start >= cursor:
                break
            found = []
        else:
            found.append(token)
    return found


def _words(earlier: list[Token], word: str, around: Sequence[Token], known: Known) -> list[Suggestion]:
    """Names, functions and keywords."""
    last = earlier[-1].upper if earlier else ""
    started = [token.upper for token in earlier]
    is_listed = bool(earlier) and earlier[-1].raw == "," and _is_from_list(earlier)
    if last in RELATION_AFTER or started == ["SUBSCRIBE", "TO"] or is_listed:
        return _fitting(_relations(known), word)
    found = _fitting(_next_words(started, word), word)
    if found or not earlier or started[0] in ("SHOW", "STOP", "USE", "DROP", "RESET"):
        return found
    found = _fitting(((name, f"column of {table}") for table, name in _columns_around(around, known)), word)
    if word:
        found += _fitting(((name, "type") for name in TYPES), word) if started[0] == "CREATE" else []
        found += _fitting(((name, "function") for name in (*known.functions, *FUNCTIONS)), word, ending="(")
        found += _fitting(((name, "") for name in CLAUSES), word)
        found += _fitting(_relations(known), word)
    return list({suggestion.text.lower(): suggestion for suggestion in reversed(found)}.values())[::-1]


def _next_words(started: list[str], word: str) -> Iterable[tuple[str, str]]:
    """The next word of every statement that begins as this one does."""
    count = len(started)
    for statement in STATEMENTS:
        words = statement.split()
        if words[:count] == started and len(words) > count:
            yield (" ".join(words[count:]) if word or count else statement), "statement"


def _relations(known: Known) -> Iterable[tuple[str, str]]:
    yield from ((name, "view" if name in known.views else "table") for name in known.tables)
    yield from ((name, "catalog") for name in known.catalogs)


def _fitting(words: Iterable[tuple[str, str]], typed: str, *, ending: str = "") -> list[Suggestion]:
    """Those that begin as it was typed, in the case in which it was typed."""
    found = []
    for word, about in words:
        if word.lower().startswith(typed.lower()) and word.lower() != typed.lower():
            is_plain = about.startswith(("column", "table", "view", "catalog"))
            shown = word.lower() if typed and typed.islower() and not is_plain else word
            found.append(Suggestion(shown + ending, len(typed), about))
    return found


def _is_from_list(tokens: Sequence[Token]) -> bool:
    """True if the last comma stands between tables."""
    words = [token.upper for token in tokens]
    behind = [word for word in reversed(words) if word in ("FROM", "SELECT", "WHERE", "BY", "ON", "WITH")]
    return bool(behind) and behind[0] == "FROM" and words.count("(") == words.count(")")


def _relation_before_point(earlier: Sequence[Token]) -> str | None:
    if len(earlier) >= 2 and earlier[-1].raw == "." and earlier[-2].kind in ("word", "name"):
        return earlier[-2].value
    return None


def _named_tables(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """The tables of a query, each with the name by which its columns are called."""
    found = []
    for at, token in enumerate(tokens):
        is_named = token.upper in _JOINING or (token.raw == "," and _is_from_list(tokens[: at + 1]))
        if not is_named or at + 1 >= len(tokens) or tokens[at + 1].kind not in ("word", "name"):
            continue
        behind = [one for one in tokens[at + 2 : at + 4] if one.upper != "AS"]
        is_alias = bool(behind) and behind[0].kind in ("word", "name") and behind[0].upper not in _NO_ALIAS
        found.append((tokens[at + 1].value, behind[0].value if is_alias else tokens[at + 1].value))
    return found


def _columns_around(tokens: Sequence[Token], known: Known) -> list[tuple[str, str]]:
    return [(table, name) for table, _ in _named_tables(tokens) for name in _columns(table, known)]


def _columns_of(named: str, tokens: Sequence[Token], known: Known) -> Sequence[str]:
    table = next((t for t, alias in _named_tables(tokens) if alias.lower() == named.lower()), named)
    return _columns(table, known)


def _columns(table: str, known: Known) -> Sequence[str]:
    return next((columns for name, columns in known.tables.items() if name.lower() == table.lower()), ())


def _options_here(tokens: Sequence[Token]) -> dict[str, Offered] | None:
    """The options that the WITH (...) takes in which the cursor stands, before a name; None if it stands elsewhere."""
    if not tokens or tokens[-1].raw not in ("(", ","):
        return None
    return _offered(tokens)


def _offered(tokens: Sequence[Token]) -> dict[str, Offered] | None:
    """What may be given, less what is given already."""
    words = [token.upper for token in tokens]
    begins = [at for at in range(len(tokens) - 1) if words[at] == "WITH" and tokens[at + 1].raw == "("]
    if words[:1] != ["CREATE"] or not begins or any(t.raw == ")" for t in tokens[begins[-1] :]):
        return None
    given = _pairs(tokens[begins[-1] + 2 :])
    offered = catalog_options(given) if "CATALOG" in words[:3] else table_options(given)
    return {name: one for name, one in offered.items() if name not in given}


def _pairs(tokens: Sequence[Token]) -> dict[str, str]:
    """The options that are given, as far as they are whole."""
    strings = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return {
        name.value: value.value
        for name, sign, value in strings
        if (name.kind, sign.raw, value.kind) == ("string", "=", "string")
    }


def _inside_quotes(quote: str, typed: str, before: list[Token], known: Known) -> list[Suggestion]:
    """Names in backquotes; options, their values, settings and ids of jobs in single quotes."""
    if quote == "`":
        return [Suggestion(f"{one}`", len(typed), "") for one in known.tables if one.startswith(typed)]
    if quote != "'" or not before:
        return []
    words = [token.upper for token in before]
    if words[:2] == ["STOP", "JOB"]:
        return _values(known.jobs, typed)
    is_value = before[-1].raw == "=" and len(before) > 1
    name = before[-2].value if is_value else ""
    if words[0] in ("SET", "RESET"):
        return _values(_choices(name, settings()), typed) if is_value else _keys(settings(), typed, "")
    if is_value:
        earlier = _offered(before[:-2])
        return _values(_choices(name, earlier), typed, connectors() if name == "connector" else {})
    offered = _offered(before)
    return [] if offered is None else _keys(offered, typed, "")


def _choices(name: str, offered: Mapping[str, Offered] | None) -> tuple[str, ...]:
    found = (offered or {}).get(name)
    return found.choices if found is not None else ()


def _keys(offered: Mapping[str, Offered], typed: str, opening: str) -> list[Suggestion]:
    """Names of options; behind a whole one its value is begun."""
    return [
        Suggestion(f"{opening}{name}" + ("" if name.endswith(".") else "' = '"), len(typed), one.doc)
        for name, one in offered.items()
        if name.startswith(typed)
    ]


def _values(values: Iterable[str], typed: str, about: Mapping[str, str] | None = None) -> list[Suggestion]:
    return [
        Suggestion(f"{value}'", len(typed), (about or {}).get(value, ""))
        for value in values
        if value.startswith(typed)
    ]
