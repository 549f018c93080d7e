"""Forms of SQL that are short for others are written out, so that what plans a query need not know them."""

from __future__ import annotations

from sqlglot import exp

from headwater.sql.calls import calls_in

_NAMES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Explode: ("col",),
    exp.Posexplode: ("pos", "col"),
}
"""What the columns of a generator are called if the query does not say."""


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


def write_out_groups(query: exp.Query) -> None:
    """GROUP BY ALL: by all that is selected and is no aggregate."""
    for group in query.find_all(exp.Group):
        select = group.parent
        if group.args.get("all") and isinstance(select, exp.Select):
            keys = [item.unalias() for item in select.selects if not calls_in([item])]
            group.set("all", None)
            group.set("expressions", [key.copy() for key in keys if key.find(exp.Column)])
            if not group.expressions:
                select.set("group", None)
                if not calls_in(select.selects):
                    select.set("distinct", exp.Distinct())
