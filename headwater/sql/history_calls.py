"""Calls of the table functions over the history of a relation.

CHANGES(holding)
UNPIVOT_CHANGES(holding, KEY(holding_id), FIELDS(holding_stock, holding_quantity))
VERSIONS(holding, KEY(holding_id))
WITH_DELETED(holding, KEY(holding_id))
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.errors import Place, SqlError

CHANGES, UNPIVOT, VERSIONS, DELETED = "CHANGES", "UNPIVOT_CHANGES", "VERSIONS", "WITH_DELETED"
FORMS = (CHANGES, UNPIVOT, VERSIONS, DELETED)

_USAGE = {
    CHANGES: "CHANGES(table [, RETAIN(INTERVAL '7' DAY, 1000000)])",
    UNPIVOT: "UNPIVOT_CHANGES(table, KEY(column, ...), FIELDS(column, ...) "
    "[, SNAPSHOT()] [, UNCHANGED()] [, RETAIN(INTERVAL '7' DAY, 1000000)])",
    VERSIONS: "VERSIONS(table, KEY(column, ...))",
    DELETED: "WITH_DELETED(table, KEY(column, ...))",
}
_NEEDS = {CHANGES: (), UNPIVOT: ("KEY", "FIELDS"), VERSIONS: ("KEY",), DELETED: ("KEY",)}
# A version that is true may be as old as the table, so the last two forms need the whole history.
_MAY = {CHANGES: ("RETAIN",), UNPIVOT: ("SNAPSHOT", "UNCHANGED", "RETAIN"), VERSIONS: (), DELETED: ()}

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}


@dataclass(frozen=True)
class Asked:
    """A call of a table function: which, of what relation, with what."""

    form: str
    relation: tuple[str, ...]
    key: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    snapshot: bool = False
    """Rows that were there from the beginning count as created."""
    unchanged: bool = False
    """Fields that did not change are rows too."""
    seconds: float | None = None
    """How long a change is kept after it was committed; for ever if None."""
    rows: int | None = None
    """How many changes are kept; all if None."""


def asked_of(table: exp.Table, place: Place) -> Asked | None:
    """What a name in FROM asks for; None if it is no call of ours."""
    call = table.this
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in FORMS:
        return None
    form = call.name.upper()
    first, *rest = call.expressions or [None]
    if not isinstance(first, exp.Column):
        raise SqlError(
            f"{form} takes the name of a table or view", hint=f"Write {_USAGE[form]}.", place=place
        )
    given = _given(form, rest, place)
    seconds, rows = _retained(given.get("RETAIN"), place)
    return Asked(
        form,
        tuple(part.name for part in first.parts),
        tuple(column.name for column in given.get("KEY", ())),
        tuple(column.name for column in given.get("FIELDS", ())),
        "SNAPSHOT" in given,
        "UNCHANGED" in given,
        seconds,
        rows,
    )


def _given(form: str, arguments: list[exp.Expr], place: Place) -> dict[str, list[exp.Expr]]:
    """What stands behind the table's name, by its word."""
    given: dict[str, list[exp.Expr]] = {}
    for argument in arguments:
        word = argument.name.upper() if isinstance(argument, exp.Anonymous) else ""
        if word not in (*_NEEDS[form], *_MAY[form]):
            said = argument.sql(dialect="spark")
            raise SqlError(f"{form} does not know '{said}'", hint=f"Write {_USAGE[form]}.", place=place)
        if word in given:
            raise SqlError(f"{form} was given {word} twice", hint=f"Write {_USAGE[form]}.", place=place)
        given[word] = argument.expressions
        _check_names(form, word, argument.expressions, place)
    missing = [word for word in _NEEDS[form] if not given.get(word)]
    if missing:
        raise SqlError(
            f"{form} needs {' and '.join(missing)}",
            detail="KEY has the columns that tell rows apart, FIELDS those whose changes are wanted.",
            hint=f"Write {_USAGE[form]}.",
            place=place,
        )
    return given


def _check_names(form: str, word: str, given: list[exp.Expr], place: Place) -> None:
    """KEY and FIELDS have columns, each once; SNAPSHOT and UNCHANGED have nothing."""
    if word == "RETAIN":
        return
    names = [column.name.lower() for column in given if isinstance(column, exp.Column)]
    if len(names) != len(given) or len(set(names)) != len(names) or (given and word not in _NEEDS[form]):
        said = ", ".join(one.sql(dialect="spark") for one in given)
        what = "names of columns, each once" if word in _NEEDS[form] else "nothing"
        raise SqlError(f"{word} takes {what}, not '{said}'", hint=f"Write {_USAGE[form]}.", place=place)


def _retained(given: list[exp.Expr] | None, place: Place) -> tuple[float | None, int | None]:
    """How long and how many changes are kept."""
    if given is None:
        return None, None
    seconds: float | None = None
    rows: int | None = None
    for argument in given:
        unit = str(argument.args.get("unit") or "").lower().removesuffix("s")
        if isinstance(argument, exp.Interval) and unit in _SECONDS and _is_number(argument.name):
            seconds = float(argument.name) * _SECONDS[unit]
        elif isinstance(argument, exp.Literal) and not argument.is_string and argument.is_int:
            rows = int(argument.name)
    if len(given) != (seconds is not None) + (rows is not None) or not given or 0 in (seconds, rows):
        raise SqlError(
            "RETAIN does not say how long or how many changes are kept",
            detail=f"It was given {', '.join(one.sql(dialect='spark') for one in given) or 'nothing'}.",
            hint="Write an interval in weeks, days, hours, minutes or seconds, a number of changes, or both: "
            "RETAIN(INTERVAL '7' DAY), RETAIN(1000000).",
            place=place,
        )
    return seconds, rows


def _is_number(text: str) -> bool:
    whole, _, part = text.partition(".")
    return whole.isdecimal() and (not part or part.isdecimal())
