"""The few things SQL does with weights. They cancel in `consolidated` and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.schema import WEIGHT


def weight(table: str = "") -> exp.Column:
    """The weight column: `weight("o")` is `o.__hw_weight`."""
    return exp.column(WEIGHT, table=table or None)


def signed(value: exp.Expr, by: exp.Expr | None = None) -> exp.Expr:
    """A value with the sign of its weight; never multiplied, because decimals would lose digits.

    `CASE WHEN __hw_weight < 0 THEN -x ELSE x END`
    """
    sign = by if by is not None else weight()
    negative = exp.Neg(this=exp.paren(value.copy()))
    return exp.case().when(exp.LT(this=sign, expression=exp.Literal.number(0)), negative).else_(value.copy())


def consolidated(rows: exp.Query, columns: Sequence[str]) -> exp.Select:
    """Cancel weights: each row that is left stands there as often as its weights add up to, with +1 or -1."""
    names = [exp.column(name) for name in columns]
    total = exp.func("SUM", weight())
    net = (
        exp.select(*names, exp.alias_(total, WEIGHT))
        .from_(rows.subquery("r"))
        .group_by(*[name.copy() for name in names])
        .having(exp.NEQ(this=total.copy(), expression=exp.Literal.number(0)))
    )
    if not names:
        net = exp.select(exp.alias_(total, WEIGHT)).from_(rows.subquery("r"))
    sign = exp.cast(exp.func("SIGN", weight("n")), "tinyint")
    times = exp.cast(exp.func("ABS", weight("n")), "int")
    repeated = exp.func("EXPLODE", exp.func("ARRAY_REPEAT", sign, times, dialect="spark"), dialect="spark")
    return exp.select(*[exp.column(c, table="n") for c in columns], exp.alias_(repeated, WEIGHT)).from_(
        net.subquery("n")
    )


def bag(rows: exp.Query, columns: Sequence[str]) -> exp.Select:
    """Weighted rows as a plain bag: what is true, without weights.

    A row that went more often than it came is nothing that can be true: the query fails rather than show it.
    """
    gone = exp.func("RAISE_ERROR", exp.Literal.string("a stored row went more often than it came"))
    sound = exp.case().when(
        exp.LT(this=weight("b"), expression=exp.Literal.number(0)), exp.cast(gone, "boolean")
    )
    chosen = [exp.column(name, table="b") for name in columns]
    return exp.select(*chosen).from_(consolidated(rows, columns).subquery("b")).where(sound.else_(exp.true()))


def view(name: str) -> exp.Table:
    """A view by its name, whatever signs stand in it."""
    return exp.Table(this=exp.to_identifier(name))


def union_all(parts: Sequence[exp.Query]) -> exp.Query:
    """All rows of all parts."""
    if len(parts) == 1:
        return parts[0]
    whole = exp.union(parts[0], parts[1], distinct=False)
    for part in parts[2:]:
        whole = exp.union(whole, part, distinct=False)
    return whole
