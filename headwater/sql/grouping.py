"""GROUP BY: the keys of a SELECT, and ROLLUP, CUBE and GROUPING SETS as one row a set.

GROUP BY ROLLUP (a, b)   groups by what INLINE(ARRAY(STRUCT(a, b, 0), STRUCT(a, NULL, 1), STRUCT(NULL, NULL, 2))) makes
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.plan.nodes import Generate, Item, Plan
from headwater.plan.reasons import NotMaintained, Reason
from headwater.sql.free_columns import inner_query, is_free

ALIAS = "sets"
"""The name under which the keys of grouping sets go."""

Names = Mapping[exp.Expr, exp.Expr]
"""What expressions below an aggregate are called above it."""


@dataclass(frozen=True)
class Grouping:
    """The input of an aggregate, its keys, and what stands for keys and GROUPING() above it."""

    plan: Plan
    keys: tuple[Item, ...]
    names: Names


def grouped(query: exp.Select, plan: Plan) -> Grouping:
    """The keys of a SELECT above a plan; no GROUP BY: no keys."""
    group = query.args.get("group")
    if group is None:
        return Grouping(plan, (), {})
    if group.args.get("all"):
        raise NotMaintained(Reason.SHAPE)
    keys, sets = _sets(group)
    if sets == [tuple(range(len(keys)))] and not _is_special(group):
        items = tuple(Item(f"k{i}", key) for i, key in enumerate(keys))
        return Grouping(plan, items, {key: exp.column(f"k{i}") for i, key in enumerate(keys)})
    return _by_sets(plan, keys, sets)


def renamed(expression: exp.Expr, names: Names) -> exp.Expr:
    """An expression above an aggregate: keys and calls become the aggregate's columns.

    In a query inside it only its ties to the aggregate are renamed.
    """
    copy = expression.copy()

    def swap(node: exp.Expr) -> exp.Expr:
        if inner_query(node, copy) is not None and not (isinstance(node, exp.Column) and is_free(node, copy)):
            return node
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return _grouping(node, names)
        return names[node].copy() if node in names else node

    made = copy.transform(swap)
    strays = (c for c in made.find_all(exp.Column) if c.table and is_free(c, made))
    if any(c not in set(names.values()) for c in strays):
        raise NotMaintained(Reason.UNGROUPED)
    return made


def as_spark_reads(query: exp.Query) -> exp.Query:
    """The query without aliases that say nothing new, where HAVING stands below grouping sets.

    Of  SELECT o.s AS s ... GROUP BY ROLLUP (o.s) HAVING o.s IS NULL  Spark knows s alone.
    """
    made = query.copy()
    for select in made.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and select.args.get("having") and _is_special(group):
            for item in list(select.selects):
                column = item.unalias()
                if isinstance(column, exp.Column) and column.name == item.alias_or_name:
                    item.replace(column)
    return made


def _is_special(group: exp.Group) -> bool:
    kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
    clauses = ("rollup", "cube", "grouping_sets")
    return any(isinstance(e, kinds) for e in group.expressions) or any(group.args.get(c) for c in clauses)


def _sets(group: exp.Group) -> tuple[list[exp.Expr], list[tuple[int, ...]]]:
    """All keys, each once, and the sets of them by number."""
    parts: list[list[list[exp.Expr]]] = []
    plain = [e for e in group.expressions if not isinstance(e, exp.Rollup | exp.Cube | exp.GroupingSets)]
    special = [e for e in group.expressions if e not in plain]
    for clause in ("rollup", "cube", "grouping_sets"):
        special += group.args.get(clause) or []
    bare = [s for s in special if not s.expressions]
    if bare:
        # GROUP BY a, b WITH ROLLUP: the keys before are meant.
        parts.append(_expanded(type(bare[0])(expressions=[p.copy() for p in plain])))
        special.remove(bare[0])
    else:
        parts += [[[e.unnest()]] for e in plain]
    parts += [_expanded(e) for e in special]
    chosen = [[e for part in combination for e in part] for combination in itertools.product(*parts)]
    keys = list(dict.fromkeys(e for part in parts for one in part for e in one))
    return keys, [tuple(sorted({keys.index(e) for e in one})) for one in chosen]


def _expanded(node: exp.Expr) -> list[list[exp.Expr]]:
    """The sets of one ROLLUP, CUBE or GROUPING SETS."""
    if isinstance(node, exp.GroupingSets):
        nested = (exp.Rollup, exp.Cube, exp.GroupingSets)
        return [
            s for e in node.expressions for s in (_expanded(e) if isinstance(e, nested) else [_members(e)])
        ]
    units = [_members(e) for e in node.expressions]
    if isinstance(node, exp.Rollup):
        return [[e for unit in units[:n] for e in unit] for n in range(len(units), -1, -1)]
    picks = [c for n in range(len(units), -1, -1) for c in itertools.combinations(units, n)]
    return [[e for unit in pick for e in unit] for pick in picks]


def _members(node: exp.Expr) -> list[exp.Expr]:
    inside = node.unnest()
    return [e.unnest() for e in inside.expressions] if isinstance(inside, exp.Tuple) else [inside]


def _by_sets(plan: Plan, keys: list[exp.Expr], sets: list[tuple[int, ...]]) -> Grouping:
    rows = []
    for number, chosen in enumerate(sets):
        # The first key is the highest bit; a bit is set where the key is left out.
        bits = sum(1 << (len(keys) - 1 - i) for i in range(len(keys)) if i not in chosen)
        values = [keys[i].copy() if i in chosen else exp.null() for i in range(len(keys))]
        fields = {f"k{i}": value for i, value in enumerate(values)}
        fields |= {"bits": exp.cast(exp.Literal.number(bits), "bigint"), "number": exp.Literal.number(number)}
        named = [exp.PropertyEQ(this=exp.to_identifier(n), expression=value) for n, value in fields.items()]
        rows.append(exp.Struct(expressions=named))
    call = exp.Inline(this=exp.array(*rows, dialect="spark"))
    columns = (*(f"k{i}" for i in range(len(keys))), "bits", "number")
    made = Generate(plan, call, ALIAS, columns)
    items = tuple(Item(name, exp.column(name, ALIAS)) for name in columns)
    names: dict[exp.Expr, exp.Expr] = {key: exp.column(f"k{i}") for i, key in enumerate(keys)}
    return Grouping(made, items, names)


def _grouping(node: exp.Expr, names: Names) -> exp.Expr:
    """GROUPING(key): the bit of the key; GROUPING_ID(): all bits."""
    keys = [key for key, column in names.items() if column.name.startswith("k")]
    bits = exp.column("bits", next(iter(names.values())).args.get("table"))
    if isinstance(node, exp.GroupingId):
        if node.expressions and [e.unnest() for e in node.expressions] != keys:
            raise NotMaintained(Reason.SHAPE)
        return bits
    (asked,) = node.expressions or [node.this]
    if (key := asked.unnest()) not in keys:
        raise NotMaintained(Reason.UNGROUPED)
    place = len(keys) - 1 - keys.index(key)
    shifted = exp.func("SHIFTRIGHT", bits, exp.Literal.number(place), dialect="spark")
    return exp.cast(exp.paren(exp.BitwiseAnd(this=shifted, expression=exp.Literal.number(1))), "tinyint")
