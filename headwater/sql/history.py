"""Table functions over the history of a relation.

    CHANGES(holding)
    UNPIVOT_CHANGES(holding, KEY(holding_id), FIELDS(holding_stock, holding_quantity))

The second is a query over the first: each field that a change changed is a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.errors import Place, SqlError
from headwater.nearest import nearest_hint
from headwater.schema import Schema

FORMS = ("CHANGES", "UNPIVOT_CHANGES")

_WORDS = {"KEY": "key", "FIELDS": "fields", "SNAPSHOT": "snapshot", "UNCHANGED": "unchanged"}
_USAGE = "UNPIVOT_CHANGES(table, KEY(column, ...), FIELDS(column, ...) [, SNAPSHOT()] [, UNCHANGED()])"


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


def asked_of(table: exp.Table, place: Place) -> Asked | None:
    """What a name in FROM asks for; None if it is no call of ours."""
    call = table.this
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in FORMS:
        return None
    form = call.name.upper()
    first, *rest = call.expressions or [None]
    if not isinstance(first, exp.Column) or (form == "CHANGES" and rest):
        raise SqlError(
            f"{form} takes the name of a table or view",
            hint="Write CHANGES(orders)." if form == "CHANGES" else f"Write {_USAGE}.",
            place=place,
        )
    relation = tuple(part.name for part in first.parts)
    if form == "CHANGES":
        return Asked(form, relation)
    given: dict[str, tuple[str, ...]] = {}
    for argument in rest:
        word = argument.name.upper() if isinstance(argument, exp.Anonymous) else ""
        if word not in _WORDS:
            raise SqlError(
                f"{form} does not know '{argument.sql(dialect='spark')}'",
                hint=f"Write {_USAGE}.",
                place=place,
            )
        given[word] = tuple(column.name for column in argument.expressions)
    if not given.get("KEY") or not given.get("FIELDS"):
        raise SqlError(
            f"{form} needs KEY and FIELDS",
            detail="The columns that tell rows apart, and those whose changes are wanted.",
            hint=f"Write {_USAGE}.",
            place=place,
        )
    return Asked(form, relation, given["KEY"], given["FIELDS"], "SNAPSHOT" in given, "UNCHANGED" in given)


def unpivoted(asked: Asked, schema: Schema, history: exp.Table, *, place: Place) -> exp.Query:
    """Each changed field of each change as a row: its old and new value as text, and when it was what.

    What is created has no old value; of what is deleted the new value is an empty text.
    """
    key = [_found(name, schema, place) for name in asked.key]
    parts = [_field(asked, key, _found(name, schema, place)).from_(history.copy()) for name in asked.fields]
    whole: exp.Query = parts[0]
    for part in parts[1:]:
        whole = exp.union(whole, part, distinct=False, copy=False)
    return whole


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
