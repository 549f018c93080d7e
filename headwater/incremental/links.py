"""Which rows of two scans have to do with each other, as conditions say it.

Links are followed from a scan that changed to scans whose values are touched by that; each must be necessary: a row makes
no difference to rows for which the condition is not true. A condition of a LEFT JOIN says so of its right side, whose
rows come in only where it is true. A row of the left is there without it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.incremental.ways import Link, Name, Origin
from headwater.plan.nodes import JoinKind

_NOT_TRUE_OF_NULL = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NULL_OF_NULL = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Neg)
_CANNOT_RAISE = (
    *_NOT_TRUE_OF_NULL,
    *_NULL_OF_NULL,
    exp.NullSafeEQ,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.Null,
    exp.Boolean,
    exp.Between,
    exp.In,
    exp.Like,
)
"""What may stand in a condition that is asked of more rows than the query asks it of."""
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def links_of(conditions: list[exp.Expr], origins: Mapping[Name, Origin]) -> tuple[Link, ...]:
    """The links of conditions that all rows above have to meet."""
    return tuple(link for condition in conditions for link in _links(condition, origins, {}))


def joining_links(
    kind: JoinKind, conditions: list[exp.Expr], left: Mapping[Name, Origin], right: Mapping[Name, Origin]
) -> tuple[Link, ...]:
    """The links of a join's conditions."""
    match kind:
        case JoinKind.INNER | JoinKind.SEMI:
            return links_of(conditions, {**left, **right})
        case JoinKind.LEFT | JoinKind.ANTI:
            return tuple(link for condition in conditions for link in _links(condition, right, left))
        case JoinKind.FULL:
            return ()


def _links(condition: exp.Expr, starts: Mapping[Name, Origin], ends: Mapping[Name, Origin]) -> list[Link]:
    """The links of one condition; from columns of `ends` none starts."""
    known = {**ends, **starts}
    named = {(c.table, c.name) for c in condition.find_all(exp.Column)}
    meant = {name: known[name] for name in named if name in known}
    if len(meant) < len(named) or any(len(origin.columns) != 1 for origin in meant.values()):
        return []
    if not _is_safe(condition, [origin.type for origin in meant.values()]):
        return []
    if any(origin.may_miss for origin in meant.values()) and not _is_strict(condition):
        return []
    scans = sorted({alias for origin in meant.values() for alias, _ in origin.columns})
    if len(scans) != 2:
        return []
    barred = {
        alias
        for name, origin in meant.items()
        for alias, _ in origin.columns
        if origin.spreads or name not in starts
    }
    on_scans = _on_scans(condition, meant)
    both = ((scans[0], scans[1]), (scans[1], scans[0]))
    return [Link(start, end, on_scans) for start, end in both if start not in barred]


def _is_safe(condition: exp.Expr, types: list[str]) -> bool:
    """True if a condition cannot raise, whatever other conditions would have kept from it: no division, no cast."""
    alike = len(set(types)) == 1 or all(kind.startswith(_NUMBERS) for kind in types)
    return alike and all(isinstance(node, _CANNOT_RAISE) for node in condition.walk())


def _is_strict(condition: exp.Expr) -> bool:
    """True if a condition is surely not true where one of its columns is NULL."""
    whole = condition.unnest()
    if not isinstance(whole, _NOT_TRUE_OF_NULL):
        return False
    return all(
        isinstance(node, _NULL_OF_NULL) for side in (whole.this, whole.expression) for node in side.walk()
    )


def _on_scans(condition: exp.Expr, meant: Mapping[Name, Origin]) -> exp.Expr:
    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        ((alias, name),) = meant[node.table, node.name].columns
        return exp.column(name, alias)

    return condition.copy().transform(swap)
