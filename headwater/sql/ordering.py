"""ORDER BY with LIMIT: the keys of an order in terms of what is selected, and the first rows by them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from headwater.plan.nodes import Item, Plan, Top
from headwater.plan.reasons import NotMaintained, Reason
from headwater.sql.free_columns import has_subquery


def has_limit(query: exp.Query) -> bool:
    """True if only some of its rows are asked for."""
    return bool(query.args.get("limit") or query.args.get("offset"))


def is_name(node: exp.Expr, names: Collection[str]) -> bool:
    """True for the name of an output column."""
    return isinstance(node, exp.Column) and not node.table and node.name in names


def in_terms_of(items: Mapping[str, exp.Expr], key: exp.Expr) -> exp.Expr:
    """A key of an order with what output columns stand for in place of their names: ORDER BY -total."""
    return key.transform(lambda node: exp.paren(items[node.name]) if is_name(node, items) else node)


def order_of(
    keys: Sequence[exp.Expr], shown: Sequence[bool], items: Sequence[Item]
) -> tuple[list[Item], tuple[exp.Expr, ...]]:
    """The order of a LIMIT in terms of the output; what is not in the output comes along as columns of its own.

    `shown` says of each key whether it is the name of an output column.
    """
    by_expression = {item.expression: item.name for item in items}
    names = {item.name for item in items}
    extra: list[Item] = []
    order: list[exp.Expr] = []
    for key, is_shown in zip(keys, shown, strict=True):
        bare = key.this.unnest()
        if is_shown:
            order.append(ordered(key, exp.column(bare.name)))
            continue
        name = by_expression.get(bare)
        if name is None:
            if has_subquery(bare):
                raise NotMaintained(Reason.SUBQUERY_PLACE)
            name = next(n for n in (f"o{i}" for i in itertools.count(len(extra))) if n not in names)
            extra.append(Item(name, bare))
        order.append(ordered(key, exp.column(name)))
    return extra, tuple(order)


def ordered(key: exp.Expr, by: exp.Expr) -> exp.Expr:
    """A key with its direction, by something else."""
    made = key.copy()
    made.set("this", by)
    return made


def top_of(plan: Plan, order: tuple[exp.Expr, ...], query: exp.Query) -> Top:
    """The rows that LIMIT and OFFSET of a query leave."""
    counts = []
    for clause in ("limit", "offset"):
        node = query.args.get(clause)
        given = None if node is None else node.args.get("expression") or node.args.get("count")
        if given is not None and not (isinstance(given, exp.Literal) and given.is_int):
            raise NotMaintained(Reason.LIMIT)
        counts.append(None if given is None else int(given.name))
    limit, offset = counts
    if limit is None or not order:
        raise NotMaintained(Reason.LIMIT)
    return Top(plan, order, limit, offset or 0)
