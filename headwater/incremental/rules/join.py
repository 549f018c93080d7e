"""Joins, filters and projections: each term starts from one change and takes joins along keys first.

change(A join B) = change(A) join B_old + A_new join change(B); one scan alone is the case of one term.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.incremental.block import Core
from headwater.incremental.change_plan import Input, Restriction, Version
from headwater.incremental.weights import union_all, view, weight
from headwater.plan.nodes import Scan
from headwater.schema import WEIGHT

Keys = Mapping[str, tuple[str, ...]]
"""The key columns of each relation that has a key."""


@dataclass(frozen=True)
class Term:
    """One SELECT of weighted core items, and the views it reads."""

    query: exp.Select
    inputs: tuple[Input, ...]


def change_of_core(core: Core, changed: Collection[str], keys: Keys, *, number: int = 0) -> list[Term]:
    """The terms of a core's change, one for each scan of a changed relation."""
    places = [i for i, scan in enumerate(core.scans) if scan.relation in changed]
    terms: list[Term] = []
    for place in places:
        versions = [
            Version.CHANGE
            if i == place
            else Version.NEW
            if i < place and scan.relation in changed
            else Version.OLD
            for i, scan in enumerate(core.scans)
        ]
        suffix = f"_{number + len(terms) + 1}" if len(places) > 1 or number else ""
        terms.append(term(core, versions, keys, start=place, suffix=suffix))
    return terms


def term(
    core: Core,
    versions: list[Version],
    keys: Keys,
    *,
    start: int | None = None,
    suffix: str = "",
    known: Mapping[str, Restriction] | None = None,
) -> Term:
    """A core over the given version of each scan, as one SELECT with the product of the weights.

    `start` is the scan to begin with: its rows are few, and the others are read only where they join it.
    `known` restricts scans (by alias and column) from outside.
    """
    known = known or {}
    views = {s.alias: f"{s.alias}__{v.value}{suffix}" for s, v in zip(core.scans, versions, strict=True)}
    ordered = _join_order(core, start, keys, known)
    few = {core.scans[start].alias} if start is not None else set()
    inputs: list[Input] = []
    for scan in ordered:
        restriction = known.get(scan.alias) or _restriction(_telling(core, scan, few, keys), views)
        if restriction is not None:
            few.add(scan.alias)
        version = versions[core.scans.index(scan)]
        inputs.append(Input(views[scan.alias], scan.relation, version, _columns(core, scan), restriction))
    return Term(_select(core, ordered, views), tuple(inputs))


def _select(core: Core, ordered: list[Scan], views: Mapping[str, str]) -> exp.Select:
    """The joins in the given order, each condition as soon as what it names is there."""
    query = exp.select(*[exp.alias_(i.expression.copy(), i.name) for i in core.items])
    pending = list(core.conditions)
    seen: set[str] = set()
    for scan in ordered:
        seen.add(scan.alias)
        ready = [c.copy() for c in pending if _aliases(c) <= seen]
        pending = [c for c in pending if not _aliases(c) <= seen]
        table = exp.alias_(view(views[scan.alias]), scan.alias, table=True)
        if len(seen) == 1:
            query = query.from_(table).where(*ready)
        elif ready:
            query = query.join(table, on=exp.and_(*ready))
        else:
            query = query.join(table, join_type="cross")
    product: exp.Expr = weight(core.scans[0].alias)
    for scan in core.scans[1:]:
        product = exp.Mul(this=product, expression=weight(scan.alias))
    return query.select(exp.alias_(product, WEIGHT))


def all_terms(terms: list[Term]) -> tuple[exp.Query, tuple[Input, ...]]:
    """The UNION ALL of terms, and all views they read, each once."""
    inputs = dict.fromkeys(i for t in terms for i in t.inputs)
    return union_all([t.query for t in terms]), tuple(inputs)


def _aliases(expression: exp.Expr) -> set[str]:
    return {column.table for column in expression.find_all(exp.Column)}


def _columns(core: Core, scan: Scan) -> tuple[str, ...]:
    """The columns of a scan that the core uses, in the order of the relation."""
    expressions = [*core.conditions, *[item.expression for item in core.items]]
    used = {c.name for e in expressions for c in e.find_all(exp.Column) if c.table == scan.alias}
    return tuple(name for name in scan.columns if name in used)


def equalities(core: Core) -> list[tuple[exp.Column, exp.Column]]:
    """The conditions of the form `a.x = b.y`."""
    pairs = []
    for condition in core.conditions:
        if isinstance(condition, exp.EQ | exp.NullSafeEQ):
            left, right = condition.this, condition.expression
            if isinstance(left, exp.Column) and isinstance(right, exp.Column) and left.table != right.table:
                pairs.append((left, right))
    return pairs


def _partners(core: Core, scan: Scan, seen: Collection[str]) -> list[tuple[str, exp.Column]]:
    """Columns of a scan that equal a column of a scan seen before."""
    found = []
    for left, right in equalities(core):
        for own, other in ((left, right), (right, left)):
            if own.table == scan.alias and other.table in seen:
                found.append((own.name, other))
    return found


def _restriction(partners: Sequence[tuple[str, exp.Column]], views: Mapping[str, str]) -> Restriction | None:
    if not partners:
        return None
    # Several equalities go from the coarse to the fine, as people write them: a tenant, then a number of its own.
    column, other = partners[-1]
    return Restriction(column, views[other.table], other.name)


def _telling(core: Core, scan: Scan, seen: Collection[str], keys: Keys) -> list[tuple[str, exp.Column]]:
    """Of the partners of a scan those that make up a key of one of both: a status, beside it, tells little."""
    partners = _partners(core, scan, seen)
    own = {name.lower() for name in keys.get(scan.relation, ())}
    if own and own <= {column for column, _ in partners}:
        return [(column, other) for column, other in partners if column in own]
    for there in (one for one in core.scans if one.alias in seen):
        theirs = {name.lower() for name in keys.get(there.relation, ())}
        met = [(column, other) for column, other in partners if other.table == there.alias]
        if theirs and theirs <= {other.name for _, other in met}:
            return [(column, other) for column, other in met if other.name in theirs]
    return partners


def _join_order(core: Core, start: int | None, keys: Keys, known: Mapping[str, Restriction]) -> list[Scan]:
    """From the start along unique keys, then along any equality, then whatever is left."""
    rest = list(core.scans)
    begin = core.scans[start] if start is not None else next((s for s in rest if s.alias in known), rest[0])
    ordered = [begin]
    rest.remove(begin)
    while rest:
        seen = {scan.alias for scan in ordered}
        by_rank = sorted(rest, key=lambda scan: _rank(core, scan, seen, keys))
        ordered.append(by_rank[0])
        rest.remove(by_rank[0])
    return ordered


def _rank(core: Core, scan: Scan, seen: set[str], keys: Keys) -> int:
    joined = {column for column, _ in _partners(core, scan, seen)}
    key = {name.lower() for name in keys.get(scan.relation, ())}
    if key and key <= joined:
        return 0
    return 1 if joined else 2
