"""A subquery by itself: what ties it to the query around it is taken out of it and becomes a join condition.

SELECT MAX(i.price) FROM items i WHERE i.order = o.id AND i.kind = 'a'
becomes   SELECT i.order AS tie__0, MAX(i.price) AS value FROM items i WHERE i.kind = 'a' GROUP BY i.order
to be joined on   o.id = sub.tie__0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.plan.reasons import NotMaintained, Reason
from headwater.plan.walk import note_alone
from headwater.sql.calls import aggregates, calls_in, is_count
from headwater.sql.compared import is_one_to_one
from headwater.sql.free_columns import free_columns, has_subquery, own_sources

FLAG = "found"
"""The column that is TRUE in every row: NULL after a left join says that nothing was found."""
VALUE = "value"
"""The column of what a scalar subquery stands for, or of what IN looks for."""
MANY = "many"
"""The column that is TRUE if there is more than the one value."""

_SKETCHES = ("approx_top_k", "bitmap_", "count_min_sketch", "hll_", "kll_", "theta_")
"""How aggregates are called that make something of no rows that only Spark can make."""


@dataclass(frozen=True)
class Inner:
    """A query without ties, the name it is joined under, and the condition on which it is joined."""

    query: exp.Query
    alias: str
    condition: exp.Expr | None = None

    def column(self, name: str) -> exp.Column:
        """One of its columns, as the query around it says it."""
        return exp.column(name, self.alias)


@dataclass(frozen=True)
class _Tie:
    """An equality between something inside and something outside."""

    inside: exp.Expr
    outside: exp.Expr
    kind: type[exp.Expr]


def rows(query: exp.Query, alias: str, names: Sequence[str]) -> Inner:
    """The rows of a subquery to join: its first columns by these names; any condition ties them."""
    if not free_columns(query):
        return Inner(_named(query, names), alias)
    select = _plain(query)
    if select.args.get("group") or aggregates(select):
        return _joined(*_tied_rows(query, names), alias)
    rest, tied = _split(select)
    own = own_sources(select)
    used = dict.fromkeys(c for t in tied for c in t.find_all(exp.Column) if c.table in own)
    inside = {c: _tie_name(i) for i, c in enumerate(used)}
    chosen = [exp.alias_(c.copy(), n) for c, n in inside.items()]
    chosen += [exp.alias_(e.unalias().copy(), n) for e, n in zip(select.selects, names, strict=False)]
    made = _with(select, rest, chosen or [exp.alias_(exp.true(), FLAG)])

    def outside(node: exp.Expr) -> exp.Expr:
        return exp.column(inside[node], alias) if isinstance(node, exp.Column) and node in inside else node

    return Inner(made, alias, exp.and_(*[t.copy().transform(outside) for t in tied]))


def found(query: exp.Query, alias: str, names: Sequence[str]) -> Inner:
    """Each tie and value once, with the flag: for a left join that tells what is there."""
    made, ties = _tied_rows(query, names)
    chosen = [exp.column(n, "r") for n in made.named_selects]
    once = exp.select(*chosen, exp.alias_(exp.true(), FLAG)).distinct().from_(made.subquery("r"))
    return _joined(once, ties, alias)


def facts(query: exp.Query, alias: str) -> Inner:
    """What NOT IN wants to know of the other side: nothing is in it, a NULL is in it; by ties if there are any."""
    made, ties = _tied_rows(query, [VALUE])
    keys = [exp.column(_tie_name(i), "r") for i in range(len(ties))]
    told = exp.select(*keys, "COUNT(*) = 0 AS is_empty", "COUNT(*) > COUNT(r.value) AS has_null").from_(
        made.subquery("r")
    )
    return _joined(told.group_by(*[k.copy() for k in keys]) if keys else told, ties, alias)


def value(query: exp.Query, alias: str) -> tuple[Inner, exp.Expr | None]:
    """A scalar subquery by its ties, and its value where nothing is found; None if there may be many."""
    select = query if isinstance(query, exp.Select) else None
    is_group = select is not None and not select.args.get("group") and bool(aggregates(select))
    if select is not None and is_group and not select.args.get("having"):
        made, ties = _tied_rows(query, [VALUE], of_everything=True)
        flagged = made.select(exp.alias_(exp.true(), FLAG))
        return _joined(flagged, ties, alias), _of_nothing(select.selects[0].unalias())
    made, ties = _tied_rows(query, [VALUE])
    keys = [exp.column(_tie_name(i), "r") for i in range(len(ties))]
    first = exp.func("FIRST", exp.column(VALUE, "r"), dialect="spark")
    note_alone(first)
    if isinstance(query, exp.Select) and query.args.get("distinct"):
        made = made.distinct()
    one = exp.select(*keys, exp.alias_(first, VALUE), f"COUNT(*) > 1 AS {MANY}").from_(made.subquery("r"))
    return _joined(one.group_by(*[k.copy() for k in keys]) if keys else one, ties, alias), None


def lateral(query: exp.Query, alias: str, names: Sequence[str]) -> tuple[Inner, bool]:
    """The rows of a LATERAL subquery to join, and whether a row that meets none still has one: of NULLs."""
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        raise NotMaintained(Reason.LATERAL)
    if not aggregates(query) and not query.args.get("group"):
        return rows(query, alias, names), False
    of_nothing = [_of_nothing(item.unalias()) for item in query.selects]
    if query.args.get("group") or query.args.get("having") or any(e != exp.null() for e in of_nothing):
        raise NotMaintained(Reason.LATERAL)
    return _joined(*_tied_rows(query, names, of_everything=True), alias), True


def is_one_row(query: exp.Query) -> bool:
    """True if a query always has exactly one row: an aggregate of everything."""
    if not isinstance(query, exp.Select) or any(
        query.args.get(c) for c in ("group", "having", "limit", "offset")
    ):
        return False
    return bool(aggregates(query))


def _named(query: exp.Query, wanted: Sequence[str]) -> exp.Query:
    """The query with its first columns called as wanted."""
    width = len(query.named_selects)
    names = [exp.to_identifier(n) for n in (*wanted, *(f"rest{i}" for i in range(width - len(wanted))))]
    inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("r"), columns=names))
    chosen: list[exp.Expr] = [exp.column(n, "r") for n in wanted]
    return exp.select(*(chosen or [exp.alias_(exp.true(), FLAG)])).from_(inner)


def _tied_rows(
    query: exp.Query, names: Sequence[str], *, of_everything: bool = False
) -> tuple[exp.Select, list[_Tie]]:
    """The rows of a subquery with what its ties compare, and its first columns by these names.

    `of_everything` says that whoever asks knows what an aggregate without GROUP BY gives where nothing is found.
    """
    if not free_columns(query):
        named = _named(query, names)
        assert isinstance(named, exp.Select)
        return named, []
    select = _plain(query)
    rest, tied = _split(select)
    ties = [_tie(t, own_sources(select)) for t in tied]
    chosen = [exp.alias_(t.inside.copy(), _tie_name(i)) for i, t in enumerate(ties)]
    chosen += [exp.alias_(e.unalias().copy(), n) for e, n in zip(select.selects, names, strict=False)]
    made = _with(select, rest, chosen)
    is_group = not select.args.get("group") and bool(aggregates(select))
    if is_group and not (of_everything and not select.args.get("having")):
        # It has a row also where nothing is found, which no group stands for.
        raise NotMaintained(Reason.CORRELATION)
    if select.args.get("group") or is_group:
        made = made.group_by(*[t.inside.copy() for t in ties])
    return made, ties


def _tie_name(number: int) -> str:
    return f"tie__{number}"


def refuse_conversion(inside: exp.Expr, outside: exp.Expr) -> None:
    """Raise if an equality may take several values inside for one outside.

    Where each value inside is there once, each row outside has to meet at most one of them.
    """
    if not is_one_to_one(inside, outside):
        raise NotMaintained(Reason.CONVERSION)


def _joined(query: exp.Select, ties: Sequence[_Tie], alias: str) -> Inner:
    for tie in ties:
        refuse_conversion(tie.inside, tie.outside)
    same = [
        t.kind(this=t.outside.copy(), expression=exp.column(_tie_name(i), alias)) for i, t in enumerate(ties)
    ]
    return Inner(query, alias, exp.and_(*same) if same else None)


def _plain(query: exp.Query) -> exp.Select:
    """A subquery whose ties can be taken out: they stand in its WHERE or in ON of its inner joins."""
    if not isinstance(query, exp.Select):
        raise NotMaintained(Reason.CORRELATION)
    select = query.copy()
    for clause in ("qualify", "offset", "windows", "limit"):
        if select.args.get(clause):
            raise NotMaintained(Reason.CORRELATION)
    if any(node.find_ancestor(exp.Select) is select for node in select.find_all(exp.Window)):
        raise NotMaintained(Reason.CORRELATION)
    group = select.args.get("group")
    if group is not None and any(group.find(k) for k in (exp.Rollup, exp.Cube, exp.GroupingSets)):
        raise NotMaintained(Reason.CORRELATION)
    select.set("distinct", None)
    select.set("order", None)
    joins = select.args.get("joins") or []
    # What a RIGHT or FULL JOIN behind it adds has not met an earlier ON: of those conditions none can wait for WHERE.
    last = max((i for i, join in enumerate(joins) if join.side.upper() in ("RIGHT", "FULL")), default=-1)
    for join in joins[last + 1 :]:
        on = join.args.get("on")
        if on is not None and not join.side and join.kind.upper() not in ("SEMI", "ANTI"):
            select.where(on.copy(), copy=False)
            join.set("on", None)
            join.set("kind", "CROSS")
    return select


def _split(select: exp.Select) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The conditions of a subquery: its own, and those that tie it; a tie anywhere else is too much."""
    where = select.args.get("where")
    whole = where.this.unnest() if where is not None else None
    parts = [] if whole is None else list(whole.flatten()) if isinstance(whole, exp.And) else [whole]
    free = {id(column) for column in free_columns(select)}
    counts = [sum(id(c) in free for c in p.find_all(exp.Column)) for p in parts]
    tied = [p for p, count in zip(parts, counts, strict=True) if count]
    if sum(counts) != len(free) or any(has_subquery(p) for p in tied):
        raise NotMaintained(Reason.CORRELATION)
    return [p for p, count in zip(parts, counts, strict=True) if not count], tied


def _tie(condition: exp.Expr, own: set[str]) -> _Tie:
    whole = condition.unnest()
    if isinstance(whole, exp.EQ | exp.NullSafeEQ):
        for inside, outside in ((whole.this, whole.expression), (whole.expression, whole.this)):
            ours = [c.table in own for c in inside.find_all(exp.Column)]
            others = [c.table in own for c in outside.find_all(exp.Column)]
            if all(ours) and not any(others):
                return _Tie(inside, outside, type(whole))
    raise NotMaintained(Reason.CORRELATION)


def _with(select: exp.Select, conditions: list[exp.Expr], chosen: list[exp.Expr]) -> exp.Select:
    made = select.copy()
    made.set("expressions", chosen)
    made.set("where", None)
    return made.where(*[c.copy() for c in conditions], copy=False) if conditions else made


def _of_nothing(item: exp.Expr) -> exp.Expr:
    """What an expression over aggregates gives for no rows: a COUNT is 0, a list is empty, any other is NULL."""
    made = item.copy()
    for call in calls_in([made]):
        instead = _alone(call)
        made = instead if call is made else made
        call.replace(instead)
    return made


def _alone(call: exp.Expr) -> exp.Expr:
    """What an aggregate gives for no rows."""
    inside = call
    while isinstance(inside, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        inside = inside.this
    if isinstance(inside, exp.Func) and _called(inside).startswith(_SKETCHES):
        raise NotMaintained(Reason.CORRELATION)
    if is_count(inside):
        return exp.Literal.number(0)
    is_list = isinstance(inside, exp.ArrayAgg | exp.ArrayUniqueAgg | exp.ArrayConcatAgg)
    return exp.array() if is_list else exp.null()


def _called(call: exp.Func) -> str:
    return (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
