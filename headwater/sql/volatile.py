"""What gives another answer each time it is asked: no maintained result could stay true with it."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from headwater.errors import Place, SqlError

Where = Callable[[exp.Expr | None], Place]
"""Tells the place of a node in the user's text; None asks for the place of the statement."""

CLOCKS: tuple[type[exp.Expr], ...] = (
    exp.CurrentTimestamp,
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentDatetime,
    exp.Localtime,
    exp.Localtimestamp,
)
CLOCK_NAMES = frozenset(["now", "localtimestamp", "unix_timestamp", "proctime", "current_row_timestamp"])

OTHERS: tuple[type[exp.Expr], ...] = (exp.Rand, exp.Randn, exp.Uuid, exp.CurrentUser, exp.TableSample)
OTHER_NAMES = frozenset(
    [
        "random",
        "rand",
        "randn",
        "rand_integer",
        "uuid",
        "shuffle",
        "monotonically_increasing_id",
        "spark_partition_id",
        "input_file_name",
        "input_file_block_start",
        "input_file_block_length",
        "reflect",
        "try_reflect",
        "java_method",
        "current_timezone",
        "user",
        "session_user",
        "current_schema",
        "current_database",
        "current_catalog",
        "randstr",
        "uniform",
    ]
)

_MOMENTS = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
"""Texts that Spark takes for a moment of its own clock, where they become a date or a timestamp."""

_CASTS = (exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.StrToTime)
"""TO_DATE and TO_TIMESTAMP."""

_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)


def refuse_volatile(tree: exp.Expr, where: Where) -> None:
    """Raise if an expression or query asks for something that is another thing each time."""
    for node in tree.find_all(exp.Func, exp.TableSample):
        name = _called(node)
        if _is_clock(node, name):
            raise _clock(node, name, where)
        if isinstance(node, OTHERS) or name in OTHER_NAMES or _draws_a_number(node, name):
            raise SqlError(
                f"{name} gives another answer each time, so no maintained result could stay true",
                hint="Put the value into a column of the source table, and use that column.",
                place=where(node),
            )


def _draws_a_number(node: exp.Expr, name: str) -> bool:
    """True for AES_ENCRYPT(text, key), unless its mode needs no vector or it is given as the fifth argument."""
    given = node.expressions
    is_ecb = len(given) > 2 and given[2].name.upper() == "ECB"
    return name == "aes_encrypt" and not is_ecb and len(given) < 5


def moment_error(query: exp.Query, where: Where) -> SqlError:
    """The complaint about a query of which Spark takes a text for a moment of its clock: day <= 'today'."""
    texts = (
        t
        for t in query.find_all(exp.Literal, exp.RawString)
        if not (isinstance(t, exp.Literal) and t.is_number)
    )
    said = next((text for text in texts if _MOMENTS.match(text.name)), query)
    return _clock(said, "a text" if said is query else f"'{said.name.strip()}'", where)


def _is_clock(node: exp.Expr, name: str) -> bool:
    return _moment(node) is not None or isinstance(node, CLOCKS) or name in CLOCK_NAMES


def _moment(node: exp.Expr) -> str | None:
    """The text that becomes a moment of the clock, as in DATE 'today'."""
    is_made = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEMPORAL_TYPES)
    if not (is_made or isinstance(node, _CASTS)) or not isinstance(node.this, exp.Expr):
        return None
    text = node.this.unnest()
    return text.name.strip() if text.is_string and _MOMENTS.match(text.name) else None


def _clock(node: exp.Expr, name: str, where: Where) -> SqlError:
    moment = _moment(node)
    said = name if moment is None else f"'{moment}'"
    message = f"{said} gives another answer each time, so no maintained result could stay true"
    if node.find_ancestor(*_CONDITIONS) is None:
        hint = "Put the value into a column of the source table, and use that column."
        return SqlError(message, hint=hint, place=where(node))
    return SqlError(
        message,
        detail="A condition on the time of now lets rows come and go while no table changes; only changes are followed.",
        hint="Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join"
        " that, and update it as often as time is to pass.",
        place=where(node),
    )


def _called(node: exp.Expr) -> str:
    """The name under which a function is called."""
    if isinstance(node, exp.TableSample):
        return "tablesample"
    if isinstance(node, exp.Anonymous) or not isinstance(node, exp.Func):
        return node.name.lower()
    return node.sql_name().lower()
