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
from headwater.plan.walk import is_map, note_type, noted_type
from headwater.schema import RESERVED_PREFIX
from headwater.sql.calls import calls_in
from headwater.sql.free_columns import inner_query, is_free
from headwater.sql.ordering import in_terms_of, is_name

GROUPS = f"{RESERVED_PREFIX}groups"
"""The name of an aggregate to which queries inside of HAVING or the select list are tied."""

ALIAS = f"{RESERVED_PREFIX}sets"
"""The name under which the keys of grouping sets go."""

_ASKED = f"{RESERVED_PREFIX}asked"

_SPECIAL = (exp.Rollup, exp.Cube, exp.GroupingSets)

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
    if sets == [tuple(range(len(keys)))] and not is_special(group):
        items = tuple(Item(f"k{i}", _compared(key)) for i, key in enumerate(keys))
        shown = [_shown(key, exp.column(item.name)) for key, item in zip(keys, items, strict=True)]
        return Grouping(plan, items, {key: put_for(key, one) for key, one in zip(keys, shown, strict=True)})
    return _by_sets(plan, keys, sets)


def _compared(key: exp.Expr) -> exp.Expr:
    """What is grouped by in the place of a key: of a map, which cannot be compared, its entries in order."""
    if not is_map(key):
        return key
    entries = exp.Anonymous(this="MAP_ENTRIES", expressions=[key.copy()])
    return exp.Anonymous(this="ARRAY_SORT", expressions=[entries])


def _shown(key: exp.Expr, column: exp.Expr) -> exp.Expr:
    """What a key is above the groups."""
    return exp.Anonymous(this="MAP_FROM_ENTRIES", expressions=[column]) if is_map(key) else column


def put_for(node: exp.Expr, column: exp.Expr) -> exp.Expr:
    """A column in the place of what it stands for, whose type it knows."""
    made = column.copy()
    if (kind := noted_type(node)) is not None:
        note_type(made, kind)
    return made


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
        return put_for(node, names[node]) if node in names else node

    made = copy.transform(swap)
    strays = (c for c in made.find_all(exp.Column) if c.table and is_free(c, made))
    own = {column for one in names.values() for column in one.find_all(exp.Column)}
    if any(c.table != GROUPS and c not in own for c in strays):
        raise NotMaintained(Reason.UNGROUPED)
    return made


def as_spark_reads(query: exp.Query) -> exp.Query:
    """The query without aliases that say nothing new, where HAVING stands below grouping sets.

    Of  SELECT o.s AS s ... GROUP BY ROLLUP (o.s) HAVING o.s IS NULL  Spark knows s alone.
    """
    made = query.copy()
    for select in reversed(list(made.find_all(exp.Select))):
        group = select.args.get("group")
        if group is not None and select.args.get("having") and is_special(group):
            for item in list(select.selects):
                column = item.unalias()
                if isinstance(column, exp.Column) and column.name == item.alias_or_name:
                    item.replace(column)
        _write_out_qualify(select)
    return made


def _write_out_qualify(select: exp.Select) -> None:
    """QUALIFY over aggregates as a column that is asked for: Spark has no such clause, and the library leaves them where
    they are."""
    qualify = select.args.get("qualify")
    names = select.named_selects
    if qualify is None or len(set(names)) < len(names) or not calls_in([qualify.this]):
        return
    order = select.args.get("order")
    keys = list(order.expressions) if order is not None else []
    own = {f"{_ASKED}{i}": key for i, key in enumerate(keys) if not is_name(key.this.unnest(), names)}
    if own and select.args.get("distinct"):
        return
    meant = {item.alias_or_name: item.unalias() for item in select.selects}
    inner = select.copy()
    for part in ("qualify", "with_", "distinct", "order", "limit", "offset"):
        inner.set(part, None)
    inner = inner.select(exp.alias_(qualify.this.copy(), _ASKED))
    inner = inner.select(*[exp.alias_(in_terms_of(meant, key).this, name) for name, key in own.items()])
    outer = (
        exp.select(*[exp.column(name, "q") for name in names])
        .from_(inner.subquery("q"))
        .where(exp.column(_ASKED, "q"))
    )
    for part in ("expressions", "from_", "where"):
        select.set(part, outer.args[part])
    for part in ("joins", "laterals", "group", "having", "qualify", "windows"):
        select.set(part, None)
    for name, key in own.items():
        key.set("this", exp.column(name, "q"))


def is_special(group: exp.Group) -> bool:
    """True for a GROUP BY of several sets."""
    clauses = ("rollup", "cube", "grouping_sets")
    return any(isinstance(e, _SPECIAL) for e in group.expressions) or any(group.args.get(c) for c in clauses)


def keys_of(group: exp.Group) -> list[exp.Expr]:
    """All keys of a GROUP BY, each once."""
    try:
        return _sets(group)[0]
    except NotMaintained:
        return [e.unnest() for e in group.expressions]


def _sets(group: exp.Group) -> tuple[list[exp.Expr], list[tuple[int, ...]]]:
    """All keys, each once, and the sets of them by number."""
    written = list(group.expressions)
    behind = [e for clause in ("rollup", "cube", "grouping_sets") for e in group.args.get(clause) or []]
    if behind:
        # GROUP BY a, b WITH ROLLUP and GROUP BY a, b GROUPING SETS ((a), (b)): the keys before are all there are.
        special, *others = behind
        if others:
            raise NotMaintained(Reason.SHAPE)
        whole = type(special)(expressions=[e.copy() for e in special.expressions or written])
        parts = [_expanded(whole)]
    else:
        parts = [_expanded(e) if isinstance(e, _SPECIAL) else [[e.unnest()]] for e in written]
    first = [e.unnest() for e in written] if behind else []
    keys = list(dict.fromkeys([*first, *(e for part in parts for one in part for e in one)]))
    chosen = [[e for part in combination for e in part] for combination in itertools.product(*parts)]
    return keys, [tuple(sorted({keys.index(e) for e in one})) for one in chosen]


def _expanded(node: exp.Expr) -> list[list[exp.Expr]]:
    """The sets of one ROLLUP, CUBE or GROUPING SETS."""
    if isinstance(node, exp.GroupingSets):
        return [
            s for e in node.expressions for s in (_expanded(e) if isinstance(e, _SPECIAL) else [_members(e)])
        ]
    units = [_members(e) for e in node.expressions]
    if isinstance(node, exp.Rollup):
        return [[e for unit in units[:n] for e in unit] for n in range(len(units), -1, -1)]
    picks = [c for n in range(len(units), -1, -1) for c in itertools.combinations(units, n)]
    return [[e for unit in pick for e in unit] for pick in picks]


def _members(node: exp.Expr) -> list[exp.Expr]:
    """The keys that stand in one pair of brackets."""
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
    bits = exp.column("bits", next((column.args.get("table") for column in names.values()), None))
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
