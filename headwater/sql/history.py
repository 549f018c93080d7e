"""Table functions over the history of a relation.

    CHANGES(holding)
    UNPIVOT_CHANGES(holding, KEY(holding_id), FIELDS(holding_stock, holding_quantity))
    VERSIONS(holding, KEY(holding_id))
    WITH_DELETED(holding, KEY(holding_id))

The others are queries over the first: each field that a change changed is a row; each version of a row with the time
from which and to which it was true; the last version of each row, also of those that are gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.errors import Place, SqlError
from headwater.nearest import nearest_hint
from headwater.schema import Schema

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
        given[word] = argument.expressions
    missing = [word for word in _NEEDS[form] if not given.get(word)]
    if missing:
        raise SqlError(
            f"{form} needs {' and '.join(missing)}",
            detail="KEY has the columns that tell rows apart, FIELDS those whose changes are wanted.",
            hint=f"Write {_USAGE[form]}.",
            place=place,
        )
    return given


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


def query_of(asked: Asked, schema: Schema, history: exp.Table, *, place: Place) -> exp.Query:
    """What a form other than CHANGES is, over the history of a relation of this schema."""
    match asked.form:
        case "UNPIVOT_CHANGES":
            return unpivoted(asked, schema, history, place=place)
        case "VERSIONS":
            return versions(asked, schema, history, place=place)
    return with_deleted(asked, schema, history, place=place)


def unpivoted(asked: Asked, schema: Schema, history: exp.Table, *, place: Place) -> exp.Query:
    """Each changed field of each change as a row: its old and new value as text, and when it was what.

    What is created has no old value; of what is deleted the new value is an empty text.
    """
    key = [_found(name, schema, place) for name in asked.key]
    for name in asked.fields:
        _check_comparable(_found(name, schema, place), schema, place)
    parts = [_field(asked, key, _found(name, schema, place)).from_(history.copy()) for name in asked.fields]
    whole: exp.Query = parts[0]
    for part in parts[1:]:
        whole = exp.union(whole, part, distinct=False, copy=False)
    return whole


def _check_comparable(name: str, schema: Schema, place: Place) -> None:
    column = schema.find(name)
    if column is not None and "map<" in column.type:
        raise SqlError(
            f'field "{name}" is a MAP, of which cannot be told whether it changed',
            detail=f"It is of type {column.type}.",
            hint="Leave it out, or declare the column as STRING.",
            place=place,
        )


def _found(name: str, schema: Schema, place: Place) -> str:
    column = schema.find(name)
    if column is None:
        names = list(schema.names)
        raise SqlError(
            f'column "{name}" does not exist in the table whose changes are asked for',
            detail=f"Its columns are {', '.join(names)}.",
            hint=nearest_hint(name, names, "columns"),
            place=place,
        )
    return column.name


def _field(asked: Asked, key: list[str], name: str) -> exp.Select:
    op, moment = exp.column("op"), exp.column("committed_at")
    # First rows were never committed before our eyes; they are as old as their coming.
    created = exp.func("COALESCE", moment.copy(), exp.column("appended_at"))
    is_created, is_deleted = _is_one(op, "c", "r"), _is_one(op, "d")
    old, new = (exp.cast(_part(image, name), "string") for image in ("before", "after"))
    gone = exp.case().when(is_deleted.copy(), exp.Literal.string("")).else_(new.copy())
    items = [
        *[exp.alias_(exp.func("COALESCE", _part("after", k), _part("before", k)), k) for k in key],
        exp.alias_(exp.Literal.string(name), "change_field"),
        exp.alias_(old, "old_value"),
        exp.alias_(gone, "new_value"),
        exp.alias_(exp.case().when(is_created, created), "datetime_created"),
        exp.alias_(exp.case().when(_is_one(op, "u", "d"), moment.copy()), "datetime_updated"),
        exp.alias_(exp.case().when(is_deleted, moment.copy()), "datetime_deleted"),
        exp.alias_(exp.column("appended_at"), "datetime_inserted"),
        exp.alias_(op.copy(), "crud_type"),
    ]
    return exp.select(*items).where(_wanted(asked, name, op))


def _wanted(asked: Asked, name: str, op: exp.Expr) -> exp.Expr:
    told = ("c", "r", "u", "d") if asked.snapshot else ("c", "u", "d")
    is_told = _is_one(op, *told)
    if asked.unchanged:
        return is_told
    same = exp.NullSafeEQ(this=_part("before", name), expression=_part("after", name))
    changed = exp.or_(exp.NEQ(this=op.copy(), expression=exp.Literal.string("u")), exp.not_(same))
    return exp.and_(is_told, changed)


def _is_one(op: exp.Expr, *letters: str) -> exp.Expr:
    return exp.In(this=op.copy(), expressions=[exp.Literal.string(letter) for letter in letters])


def _part(image: str, name: str) -> exp.Expr:
    return exp.Dot(this=exp.column(image), expression=exp.to_identifier(name))


_ROW, _GONE, _AT, _SEQUENCE = "row", "gone", "at", "sequence"


def versions(asked: Asked, schema: Schema, history: exp.Table, *, place: Place) -> exp.Query:
    """Each version of each row, from when and up to when it was true (a slowly changing dimension of type 2)."""
    key = [_found(name, schema, place) for name in asked.key]
    by = [exp.column(f"k{number}") for number in range(len(key))]
    order = [exp.Ordered(this=exp.column(_SEQUENCE)), exp.Ordered(this=exp.column("half"))]
    # What follows may have no time; that something follows is known all the same.
    until, is_followed = (
        exp.Window(this=exp.func("LEAD", of), partition_by=by, order=exp.Order(expressions=order))
        for of in (exp.column(_AT), exp.true())
    )
    timed = exp.select(exp.column(_ROW), exp.column(_GONE), exp.column(_AT)).select(
        exp.alias_(until, "until"), exp.alias_(is_followed, "is_followed")
    )
    inner = timed.from_(_told(key, history).subquery("told")).subquery("timed")
    items = [exp.alias_(_part(_ROW, name), name, quoted=True) for name in schema.names]
    items += [
        exp.alias_(exp.column(_AT), "valid_from"),
        exp.alias_(exp.column("until"), "valid_to"),
        exp.alias_(exp.Is(this=exp.column("is_followed"), expression=exp.Null()), "is_current"),
    ]
    return exp.select(*items).from_(inner).where(exp.not_(exp.column(_GONE)))


def with_deleted(asked: Asked, schema: Schema, history: exp.Table, *, place: Place) -> exp.Query:
    """The last version of every row there ever was; those that are gone are marked (soft deletes)."""
    key = [_found(name, schema, place) for name in asked.key]
    by = [exp.column(f"k{number}") for number in range(len(key))]
    state = exp.func("STRUCT", exp.column(_ROW), exp.column(_GONE), exp.column(_AT), dialect="spark")
    order = exp.func("STRUCT", exp.column(_SEQUENCE), exp.column("half"), dialect="spark")
    last = exp.alias_(exp.Anonymous(this="MAX_BY", expressions=[state, order]), "last")
    inner = (
        exp.select(*by, last).from_(_told(key, history).subquery("told")).group_by(*[c.copy() for c in by])
    )
    row = exp.Dot(this=exp.column("last"), expression=exp.to_identifier(_ROW))
    gone, at = (exp.Dot(this=exp.column("last"), expression=exp.to_identifier(n)) for n in (_GONE, _AT))
    items = [
        exp.alias_(exp.Dot(this=row.copy(), expression=exp.to_identifier(name)), name, quoted=True)
        for name in schema.names
    ]
    items += [
        exp.alias_(gone.copy(), "is_deleted"),
        exp.alias_(exp.case().when(gone.copy(), at.copy()), "deleted_at"),
    ]
    return exp.select(*items).from_(inner.subquery("latest"))


def _told(key: list[str], history: exp.Table) -> exp.Query:
    """For each key what it came to be and when: a row, or that it is gone; `half` orders what one change did."""
    op, come, gone = exp.column("op"), exp.true(), exp.false()
    moved = exp.not_(
        exp.and_(*[exp.NullSafeEQ(this=_part("before", k), expression=_part("after", k)) for k in key])
    )
    left = exp.or_(_is_one(op, "d"), exp.and_(_is_one(op, "u"), moved))
    parts = (
        _half("before", key, is_gone=come, half=0).where(left),
        _half("after", key, is_gone=gone, half=1).where(_is_one(op, "c", "r", "u")),
    )
    return exp.union(*[part.from_(history.copy()) for part in parts], distinct=False, copy=False)


def _half(image: str, key: list[str], *, is_gone: exp.Expr, half: int) -> exp.Select:
    # First rows were never committed before our eyes; they are as old as their coming.
    at = exp.func("COALESCE", exp.column("committed_at"), exp.column("appended_at"))
    return exp.select(
        *[exp.alias_(_part(image, name), f"k{number}") for number, name in enumerate(key)],
        exp.alias_(exp.column(image), _ROW),
        exp.alias_(is_gone, _GONE),
        exp.alias_(at, _AT),
        exp.column(_SEQUENCE),
        exp.alias_(exp.Literal.number(half), "half"),
    )
