"""The queries that the table functions over a history stand for.

Each field that a change changed is a row; each version of a row with the time from which and to which it was true; the
last version of each row, also of those that are gone.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.errors import Place, SqlError
from headwater.nearest import nearest_hint
from headwater.schema import Schema
from headwater.sql.history_calls import Asked


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
