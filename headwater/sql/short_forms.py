"""Forms of SQL that are short for others are written out, so that what plans a query need not know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from headwater.plan.walk import relations_of
from headwater.sql.calls import calls_in

_NAMES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Explode: ("col",),
    exp.Posexplode: ("pos", "col"),
}
"""What the columns of a generator are called if the query does not say."""

_ROWS = 1_000_000
"""A range of more rows than that is none to keep in a view."""

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def name_laterals(query: exp.Query) -> None:
    """Give LATERAL VIEW EXPLODE(...) and LATERAL (SELECT ...) the names of columns that they have anyway."""
    for number, lateral in enumerate(query.find_all(exp.Lateral)):
        alias = lateral.args.get("alias") or exp.TableAlias()
        if alias.columns:
            continue
        made = lateral.this.this if isinstance(lateral.this, exp.Subquery) else lateral.this
        names = made.named_selects if isinstance(made, exp.Query) else _NAMES.get(type(made), ())
        if not all(names) or "*" in names:
            continue
        alias.set("columns", [exp.to_identifier(name) for name in names])
        if not alias.this:
            alias.set("this", exp.to_identifier(f"generated{number}"))
        lateral.set("alias", alias)


def name_given(query: exp.Query) -> None:
    """FROM c AS x (a, b), where WITH gives c, as a derived table: the binder names the columns of these anew."""
    declared = {id(table) for table in relations_of(query)}
    for table in list(query.find_all(exp.Table)):
        alias = table.args.get("alias")
        is_given = isinstance(table.this, exp.Identifier) and id(table) not in declared
        if is_given and alias is not None and alias.columns:
            bare = exp.Table(this=table.this.copy())
            named = exp.Subquery(this=exp.select("*").from_(bare), alias=alias.copy())
            for clause in ("pivots", "joins", "laterals", "sample"):
                named.set(clause, table.args.get(clause))
            table.replace(named)


def name_constants(query: exp.Query) -> None:
    """Let a constant that is selected, and a key of ROLLUP and the like, be told from others that are equal to it.

    SELECT 2 AS two, 2 AS n ... GROUP BY ROLLUP (1)   is NULL and 2 where the set leaves out its first column
    """
    for group in query.find_all(exp.Group):
        select = group.parent
        if not isinstance(select, exp.Select) or select.is_star:
            continue
        for special in group.find_all(*_SETS):
            for key in list(special.find_all(exp.Literal, exp.Column)):
                if _is_key(key, special) and (item := _selected(key, select)) is not None:
                    _told_apart(item, select)


def _selected(key: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """What a key names in the select list, by its place or by its name."""
    if isinstance(key, exp.Literal):
        is_place = key.is_int and 0 < int(key.name) <= len(select.selects)
        return select.selects[int(key.name) - 1] if is_place else None
    named = (item for item in select.selects if isinstance(item, exp.Alias) and not key.args.get("table"))
    return next((item for item in named if item.alias.lower() == key.name.lower()), None)


def _told_apart(item: exp.Expr, select: exp.Select) -> None:
    """Write a constant as nothing else in the select list is written."""
    constant = item.unalias()
    if isinstance(constant.unnest(), exp.Literal | exp.Boolean | exp.Null | exp.Neg | exp.Cast) and not (
        constant.find(exp.Column, exp.Query)
    ):
        others = [other.unalias() for other in select.selects if other is not item]
        made = exp.func("COALESCE", constant.copy())
        while made in others:
            made = exp.func("COALESCE", made)
        constant.replace(made)


def _write_out_places(group: exp.Group, select: exp.Select) -> None:
    for special in list(group.find_all(*_SETS)):
        for number in list(special.find_all(exp.Literal)):
            if _is_key(number, special) and (item := _selected(number, select)) is not None:
                # A number that is selected is none that means a place.
                _told_apart(item, select)
                number.replace(item.unalias().copy())


def write_out_ranges(query: exp.Query) -> None:
    """FROM RANGE(6): a table of Spark's, with the column id, as rows that an array makes."""
    for table in list(query.find_all(exp.Table)):
        call = table.this
        if not isinstance(call, exp.Anonymous) or call.name.upper() != "RANGE":
            continue
        numbers = [_number(argument) for argument in call.expressions]
        if not 1 <= len(numbers) <= 3 or None in numbers or numbers[2:] == [0]:
            continue
        given = [number for number in numbers if number is not None]
        rows = range(*given)
        if len(rows) <= _ROWS:
            ends = [exp.cast(_literal(n), "bigint") for n in ((rows[0], rows[-1]) if rows else (0, 0))]
            sequence = exp.func(
                "SEQUENCE", *ends, _literal(rows.step if len(rows) > 1 else 1), dialect="spark"
            )
            made = exp.select("made.id").from_("(SELECT TRUE AS one) AS o")
            made.append("laterals", _made(exp.Explode(this=sequence)))
            named = exp.Subquery(
                this=made if rows else made.where(exp.false()),
                alias=table.args.get("alias") or exp.TableAlias(this=exp.to_identifier("range")),
            )
            for clause in ("pivots", "joins", "laterals", "sample"):
                named.set(clause, table.args.get(clause))
            table.replace(named)


def _made(call: exp.Expr) -> exp.Lateral:
    alias = exp.TableAlias(this=exp.to_identifier("made"), columns=[exp.to_identifier("id")])
    return exp.Lateral(this=call, view=True, alias=alias)


def _number(node: exp.Expr) -> int | None:
    bare = node.unnest()
    if isinstance(bare, exp.Neg):
        inside = _number(bare.this)
        return None if inside is None else -inside
    return int(bare.name) if isinstance(bare, exp.Literal) and bare.is_int else None


def _literal(number: int) -> exp.Expr:
    made = exp.Literal.number(abs(number))
    return exp.Neg(this=made) if number < 0 else made


def _is_key(node: exp.Expr, special: exp.Expr) -> bool:
    """True if only brackets stand between a node and the set that it is a key of."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.Tuple):
        above = above.parent
    return above is special


def write_out_windows(query: exp.Query) -> None:
    """WINDOW w AS (...): what OVER w means stands where it is said."""
    for select in list(query.find_all(exp.Select)):
        named = {window.name.lower(): window for window in select.args.pop("windows", None) or []}
        for window in select.find_all(exp.Window) if named else ():
            if window.parent_select is select:
                _write_out_window(window, named)


def _write_out_window(window: exp.Window, named: Mapping[str, exp.Window]) -> None:
    """Take what is meant from the definition that is named, and from the one that this names."""
    for _ in named:
        if (meant := named.get(window.alias.lower())) is None:
            return
        window.set("alias", _copied(meant.args.get("alias")))
        for part in ("partition_by", "order", "spec"):
            if not window.args.get(part):
                window.set(part, _copied(meant.args.get(part)))


def _copied(part: Any) -> Any:
    return [one.copy() for one in part] if isinstance(part, list) else part and part.copy()


def keep_field_names(query: exp.Query) -> None:
    """The fields of STRUCT(k AS Total) are data, in JSON for example: they stay as they are written."""
    for struct in query.find_all(exp.Struct):
        for field in struct.expressions:
            if isinstance(field, exp.PropertyEQ):
                field.this.meta["case_sensitive"] = True


def write_out_groups(query: exp.Query) -> None:
    """GROUP BY ALL: by all that is selected and is no aggregate. ROLLUP (1, 2): by what is selected there."""
    for group in query.find_all(exp.Group):
        select = group.parent
        if isinstance(select, exp.Select):
            _write_out_places(group, select)
        if group.args.get("all") and isinstance(select, exp.Select):
            keys = [item.unalias() for item in select.selects if not calls_in([item])]
            group.set("all", None)
            if not keys:
                select.set("group", None)
            else:
                # Where all of them are constants there is one group, and none if there are no rows.
                group.set("expressions", [key.copy() for key in keys if key.find(exp.Column)] or [exp.true()])
