"""Cut a plan into blocks.

Project(Filter(Aggregate(Join(a, Alias(Aggregate(b))))))  becomes  [hidden block over b, block over a and hidden].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.incremental.batch import declared
from headwater.incremental.block import HIDDEN_KEY, Block, Core, First
from headwater.incremental.change_plan import Analyse
from headwater.incremental.floating import is_floating
from headwater.incremental.grow import NotLocal, grown, needs_tree
from headwater.incremental.peel import above, below_projections, bottom, peel, wanted
from headwater.incremental.rules.sums import measures_of
from headwater.incremental.tree import Tree
from headwater.incremental.tree_sql import Environment, query_of_plan, substituted
from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Item,
    Join,
    Opaque,
    Plan,
    Project,
    Renamed,
    Scan,
    Top,
    Union,
    columns,
    output,
    relations,
)
from headwater.plan.prune import pruned
from headwater.plan.push import conjuncts, pushed
from headwater.schema import Schema, can_keep


@dataclass(frozen=True)
class _Flat:
    """A plan without aggregates: scans, conditions, and what its columns stand for."""

    scans: tuple[Scan, ...]
    conditions: tuple[exp.Expr, ...]
    columns: Environment


@dataclass
class Cutter:
    """Makes blocks, innermost first.

    `store` takes each hidden one as soon as it is made and tells which relation keeps it, a new one or one that did
    already; `schema_of` and `analyse` know it from then on.
    """

    name: str
    store: Callable[[Block], str]
    schema_of: Callable[[str], Schema]
    analyse: Analyse
    aliases: set[str] = field(default_factory=set)

    def cut(self, plan: Plan) -> Block:
        """The block of a plan's result; hidden ones that it needs are stored by then."""
        return self._block(pruned(pushed(plan)), self.name)

    def _block(self, plan: Plan, name: str) -> Block:
        """The block of a whole plan; blocks it needs are made on the way."""
        if isinstance(plan, Opaque):
            return Block(name, output(plan), opaque=plan)
        self.aliases = set()
        if isinstance(first := below_projections(plan), Top):
            return self._first(name, plan, first)
        if isinstance(bottom(plan), Aggregate | Distinct):
            return self._grouped(name, plan)
        if needs_tree(plan):
            return self._tree(name, plan)
        cores = tuple(_core(flat, output(plan)) for flat in self._flats(plan))
        return Block(name, output(plan), cores)

    def _tree(self, name: str, plan: Plan) -> Block:
        made = self._grown(plan, is_stored=True)
        if isinstance(made, Tree):
            return Block(name, output(plan), tree=made)
        return Block(name, output(plan), opaque=made)

    def _grown(self, plan: Plan, *, is_stored: bool) -> Tree | Opaque:
        """A plan as a tree that is run on slices, else as a query that is run as it stands.

        Rows that are stored, and show of which slice they are, are taken back as they are; all others are computed again.
        """

        def is_unsteady(tree: Tree, part: Plan) -> bool:
            return not (is_stored and tree.way.at) and is_floating(part, self.analyse, declared)

        try:
            return grown(plan, self.schema_of, self._stored, is_unsteady)
        except NotLocal as why:
            query = query_of_plan(why.plan, declared)
            return Opaque(query, output(plan), relations(why.plan), why.reason)

    def _grouped(self, name: str, plan: Plan) -> Block:
        aggregate, _, _ = peel(plan)
        if needs_tree(aggregate.input):
            return self._grouped_tree(name, plan, aggregate)
        if self._hides_groups(plan, aggregate):
            return self._above_groups(name, plan)
        asked, group = wanted(aggregate)
        cores = tuple(
            Core(
                flat.scans,
                flat.conditions,
                tuple(Item(i.name, substituted(i.expression, flat.columns)) for i in asked),
            )
            for flat in self._flats(aggregate.input)
        )
        return self._finished(name, plan, Block(name, (), cores, group))

    def _grouped_tree(self, name: str, plan: Plan, aggregate: Aggregate) -> Block:
        """An aggregate above a tree: sums take its change; any other is part of the tree or stands on its rows."""
        asked, group = wanted(aggregate)
        rows = Project(aggregate.input, asked or (_ONE,))
        if self._has_inverse(aggregate):
            made = self._grown(rows, is_stored=False)
            if isinstance(made, Tree):
                return self._finished(name, plan, Block(name, (), group=group, tree=made))
        elif self._hides_groups(plan, aggregate):
            return self._above_groups(name, plan)
        else:
            try:
                return Block(name, output(plan), tree=grown(plan, self.schema_of, None))
            except NotLocal:
                pass
        stored = self._stored(pruned(rows))
        assert isinstance(stored, Renamed) and isinstance(stored.input, Scan)
        scan = self._named(stored.input)
        items = tuple(
            Item(i.name, exp.column(c, scan.alias)) for i, c in zip(asked, scan.columns, strict=False)
        )
        return self._finished(name, plan, Block(name, (), (Core((scan,), (), items),), group))

    def _hides_groups(self, plan: Plan, aggregate: Aggregate) -> bool:
        """True if what is stored of a plan would not tell of which group a row is, where a rule has to know it."""
        return bool(_hidden_keys(plan)) and not self._has_inverse(aggregate)

    def _above_groups(self, name: str, plan: Plan) -> Block:
        """What the plan gives is stored with the keys that it hides; the block itself leaves them out again."""
        aggregate, conditions, known = peel(plan)
        groups: Plan = aggregate
        for condition in conditions:
            groups = Filter(groups, condition)
        shown = [Item(c, known["", c]) for c in output(plan)]
        types = self.analyse(query_of_plan(Project(groups, _as_keys(plan)), declared))
        hidden = [
            # Where a type cannot be kept its text can, and tells one value from another as well.
            item if can_keep(types[item.name]) else Item(item.name, exp.cast(item.expression, "string"))
            for item in _as_keys(plan)
        ]
        stored = self._stored(Project(groups, (*shown, *hidden)))
        return self._block(Project(stored, tuple(Item(c, exp.column(c)) for c in output(plan))), name)

    def _has_inverse(self, aggregate: Aggregate) -> bool:
        asked, group = wanted(aggregate)
        rows = query_of_plan(pruned(Project(aggregate.input, asked or (_ONE,))), declared)
        return measures_of(group.measures, rows, self.analyse) is not None

    def _finished(self, name: str, plan: Plan, block: Block) -> Block:
        """A grouped block with HAVING and the select list that stand above its aggregate."""
        aggregate, conditions, known = peel(plan)
        assert block.group is not None
        positional: Environment = {
            **{("", key.name): exp.column(f"k{i}") for i, key in enumerate(aggregate.keys)},
            **{("", m.name): exp.column(m.name) for m in aggregate.measures},
        }
        items = tuple(Item(c, substituted(known["", c], positional)) for c in output(plan))
        having = tuple(substituted(c, positional) for c in conditions)
        return Block(name, output(plan), block.cores, block.group, having, items, tree=block.tree)

    def _first(self, name: str, plan: Plan, top: Top) -> Block:
        """The first rows of a stored relation, and the columns of them that are asked for."""
        stored = self._stored(top.input)
        assert isinstance(stored, Renamed) and isinstance(stored.input, Scan)
        scan = self._named(stored.input)
        names: Environment = {
            key: exp.column(c, scan.alias) for key, c in zip(stored.names, scan.columns, strict=True)
        }
        order = tuple(substituted(key, names) for key in top.order)
        items = tuple(Item(c, e) for c, e in above(plan, top, names).items())
        return Block(name, output(plan), items=items, first=First(scan, order, top.limit, top.offset))

    def _flats(self, plan: Plan) -> Iterator[_Flat]:
        """The parts of a UNION ALL at the top of a plan, each without aggregates."""
        match plan:
            case Union(parts):
                names = output(plan)
                for part in parts:
                    flats = [self._flat(self._stored(part))] if needs_tree(part) else self._flats(part)
                    for flat in flats:
                        by_place = [flat.columns["", name] for name in output(part)]
                        renamed = {("", n): e for n, e in zip(names, by_place, strict=True)}
                        yield _Flat(flat.scans, flat.conditions, renamed)
            case Project(below, items):
                for flat in self._flats(below):
                    made = {("", i.name): substituted(i.expression, flat.columns) for i in items}
                    yield _Flat(flat.scans, flat.conditions, made)
            case Filter(below, condition):
                for flat in self._flats(below):
                    met = substituted(condition, flat.columns)
                    yield _Flat(flat.scans, flat.conditions + tuple(conjuncts(met)), flat.columns)
            case Alias(below, alias):
                for flat in self._flats(below):
                    renamed = {(alias, name): e for (_, name), e in flat.columns.items()}
                    yield _Flat(flat.scans, flat.conditions, renamed)
            case _:
                yield self._flat(plan)

    def _flat(self, plan: Plan) -> _Flat:
        """A plan as one join of scans; an aggregate or union inside is stored and scanned."""
        match plan:
            case Scan():
                scan = self._named(plan)
                return _Flat((scan,), (), {(plan.alias, c): exp.column(c, scan.alias) for c in scan.columns})
            case Renamed(Scan() as below, names):
                scan = self._named(below)
                return _Flat(
                    (scan,),
                    (),
                    {n: exp.column(c, scan.alias) for n, c in zip(names, scan.columns, strict=True)},
                )
            case Join(left, right, condition) if not needs_tree(plan):
                one, other = self._one(left), self._one(right)
                both = {**one.columns, **other.columns}
                met = conjuncts(substituted(condition, both)) if condition is not None else []
                return _Flat(one.scans + other.scans, one.conditions + other.conditions + tuple(met), both)
        return self._flat(self._stored(plan))

    def _one(self, plan: Plan) -> _Flat:
        """A plan as exactly one flat part; one with several (a UNION ALL) is stored first."""
        if isinstance(bottom(plan), Union | Aggregate | Distinct | Opaque | Top) or needs_tree(plan):
            return self._flat(self._stored(plan))
        (flat,) = self._flats(plan)
        return flat

    def _stored(self, plan: Plan) -> Plan:
        """A plan as a hidden relation that is scanned."""
        if isinstance(plan, Renamed):
            return plan
        names = columns(plan)
        whole = plan
        if any(qualifier for qualifier, _ in names):
            items = [Item(f"c{i}", exp.column(n, q or None)) for i, (q, n) in enumerate(names)]
            whole = Project(plan, tuple(items))
        taken, self.aliases = self.aliases, set()
        made = self._block(whole, "")
        self.aliases = taken
        hidden = self.store(made)
        return Renamed(Scan(hidden, hidden, made.columns), names)

    def _named(self, scan: Scan) -> Scan:
        """A scan under a name of its own."""
        alias, number = scan.alias, 2
        while alias in self.aliases:
            alias, number = f"{scan.alias}_{number}", number + 1
        self.aliases.add(alias)
        return Scan(scan.relation, alias, scan.columns)


_ONE = Item("one", exp.true())


def _as_keys(plan: Plan) -> tuple[Item, ...]:
    """The keys that a plan hides, under names of ours."""
    return tuple(Item(f"{HIDDEN_KEY}{i}", exp.column(key)) for i, key in enumerate(_hidden_keys(plan)))


def _hidden_keys(plan: Plan) -> list[str]:
    """The keys of the aggregate at the bottom that no column of a plan shows as they are."""
    aggregate, _, known = peel(plan)
    shown = {e.unnest() for e in known.values()}
    # A text of the user's own may be the same for two keys, as that of ['a, b'] and ['a', 'b'].
    texts = {e.unnest() for (_, name), e in known.items() if name.startswith(HIDDEN_KEY)}
    return [
        key.name
        for key in aggregate.keys
        if exp.column(key.name) not in shown and exp.cast(exp.column(key.name), "string") not in texts
    ]


def _core(flat: _Flat, names: tuple[str, ...]) -> Core:
    return Core(flat.scans, flat.conditions, tuple(Item(c, flat.columns["", c]) for c in names))
