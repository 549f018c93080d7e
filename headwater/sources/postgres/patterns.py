"""Names of tables that are patterns: a regular expression that has to match the whole name.

'schema-name' = 'shop', 'table-name' = 'orders_\\d+'       # all of shop.orders_1, shop.orders_2, ...
"""

from __future__ import annotations

import re

from headwater.errors import OptionError
from headwater.options import Secret

_LITERAL = re.compile(r"(?:[^\\.^*+?{}\[\]()|]|\\[^A-Za-z0-9])*")
r"""What means only itself. A $ does too: it is a letter of plain names, and at the end of a pattern says nothing more."""


def literal(value: str) -> str | None:
    r"""The one name that a value means; None if it is a pattern.

    >>> literal("orders"), literal(r"a\.b"), literal("orders_.*")
    ('orders', 'a.b', None)
    """
    return re.sub(r"\\(.)", r"\1", value) if _LITERAL.fullmatch(value) else None


def matches(pattern: str, name: str) -> bool:
    """True if a name is meant by a value, pattern or not."""
    plain = literal(pattern)
    return name == plain if plain is not None else name == pattern or bool(re.fullmatch(pattern, name))


def means(schema_pattern: str, table_pattern: str, schema: str, table: str) -> bool:
    """True if a table is meant by two values; the second may also be written with the schema before it."""
    return matches(schema_pattern, schema) and (
        matches(table_pattern, table) or matches(table_pattern, f"{schema}.{table}")
    )


def check_pattern(option: str, value: str) -> None:
    """A value that is no plain name is a regular expression."""
    plain = value.reveal() if isinstance(value, Secret) else value
    if literal(plain) is not None:
        return
    try:
        re.compile(plain)
    except re.error as error:
        shown = "" if isinstance(value, Secret) else f" Up to there it is '{plain[: error.pos]}'."
        raise OptionError(
            f"option '{option}' does not take the value '{value}'",
            detail=f"It is a name or a regular expression, and this is none: {error}.{shown}",
            hint="Write a backslash before signs that mean themselves.",
        ) from None
