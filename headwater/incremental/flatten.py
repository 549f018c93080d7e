"""Cut a plan into blocks.

Project(Filter(Aggregate(Join(a, Alias(Aggregate(b))))))  becomes  [hidden block over b, block over a and hidden].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.incremental.block import Block, Core, Group
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
    Scan,
    Union,
    output,
)

Environment = Mapping[tuple[str, str], exp.Expr]
"""What a column reference (qualifier, name) stands for, as an expression over scans."""


@dataclass(frozen=True)
class _Flat:
    """A plan without aggregates: scans, conditions, and what its columns stand for."""

    scans: tuple[Scan, ...]
    conditions: tuple[exp.Expr, ...]
    columns: Environment


@dataclass
class _Cutter:
    """Makes blocks, innermost first; hidden ones are named after the view they serve."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)

    def block(self, plan: Plan, name: str) -> Block:
        """The block of a whole plan; blocks it needs are made on the way."""
        if isinstance(plan, Opaque):
            return Block(name, output(plan), opaque=plan)
        self.aliases = set()
        if isinstance(_bottom(plan), Aggregate | Distinct):
            return self._grouped(name, plan)
        flats = tuple(self._flats(plan))
        cores = tuple(_core(flat, output(plan)) for flat in flats)
        return Block(name, output(plan), cores)

    def _grouped(self, name: str, plan: Plan) -> Block:
        aggregate, conditions, columns = _peel(plan)
        used = [c for m in aggregate.measures for c in m.expression.find_all(exp.Column)]
        arguments = {c: f"a{i}" for i, c in enumerate(dict.fromkeys(used))}
        wanted = tuple(Item(f"k{i}", key.expression) for i, key in enumerate(aggregate.keys))
        wanted += tuple(Item(n, column) for column, n in arguments.items())
        cores = tuple(
            Core(
                flat.scans,
                flat.conditions,
                tuple(Item(i.name, substituted(i.expression, flat.columns)) for i in wanted),
            )
            for flat in self._flats(aggregate.input)
        )
        inner: Environment = {(c.table, c.name): exp.column(n) for c, n in arguments.items()}
        measures = tuple(Item(m.name, substituted(m.expression, inner)) for m in aggregate.measures)
        keys = tuple(f"k{i}" for i in range(len(aggregate.keys)))
        positional: Environment = {
            **{("", key.name): exp.column(f"k{i}") for i, key in enumerate(aggregate.keys)},
            **{("", m.name): exp.column(m.name) for m in measures},
        }
        items = tuple(Item(column, substituted(columns["", column], positional)) for column in output(plan))
        above = tuple(substituted(c, positional) for c in conditions)
        return Block(name, output(plan), cores, Group(keys, measures), above, items)

    def _flats(self, plan: Plan) -> Iterator[_Flat]:
        """The parts of a UNION ALL at the top of a plan, each without aggregates."""
        match plan:
            case Union(parts):
                names = output(plan)
                for part in parts:
                    for flat in self._flats(part):
                        by_place = [flat.columns["", name] for name in output(part)]
                        renamed = {("", n): e for n, e in zip(names, by_place, strict=True)}
                        yield _Flat(flat.scans, flat.conditions, renamed)
            case Project(below, items):
                for flat in self._flats(below):
                    columns = {("", i.name): substituted(i.expression, flat.columns) for i in items}
                    yield _Flat(flat.scans, flat.conditions, columns)
            case Filter(below, condition):
                for flat in self._flats(below):
                    met = substituted(condition, flat.columns)
                    yield _Flat(flat.scans, flat.conditions + tuple(conjuncts(met)), flat.columns)
            case Alias(below, alias):
                for flat in self._flats(below):
                    columns = {(alias, name): e for (_, name), e in flat.columns.items()}
                    yield _Flat(flat.scans, flat.conditions, columns)
            case _:
                yield self._flat(plan)

    def _flat(self, plan: Plan) -> _Flat:
        """A plan as one join of scans; an aggregate or union inside is stored and scanned."""
        match plan:
            case Scan():
                return self._scan(plan)
            case Join(left, right, condition):
                one, other = self._one(left), self._one(right)
                columns = {**one.columns, **other.columns}
                met = conjuncts(substituted(condition, columns)) if condition is not None else []
                return _Flat(one.scans + other.scans, one.conditions + other.conditions + tuple(met), columns)
            case Aggregate() | Distinct() | Opaque() | Union():
                hidden = self._hidden(plan)
                flat = self._scan(Scan(hidden, hidden, output(plan)))
                return _Flat(flat.scans, (), {("", name): e for (_, name), e in flat.columns.items()})
        return self._one(plan)

    def _one(self, plan: Plan) -> _Flat:
        """A plan as exactly one flat part; one with several (a UNION ALL) is stored first."""
        if isinstance(_bottom(plan), Union | Aggregate | Distinct | Opaque):
            return self._stored(plan)
        (flat,) = self._flats(plan)
        return flat

    def _stored(self, plan: Plan) -> _Flat:
        alias = plan.alias if isinstance(plan, Alias) else ""
        hidden = self._hidden(plan.input if isinstance(plan, Alias) else plan)
        flat = self._scan(Scan(hidden, hidden, output(plan)))
        return _Flat(flat.scans, (), {(alias, name): e for (_, name), e in flat.columns.items()})

    def _hidden(self, plan: Plan) -> str:
        name = f"{self.name}__part{len(self.blocks) + 1}"
        taken, self.aliases = self.aliases, set()
        made = self.block(plan, name)
        self.aliases = taken
        self.blocks.append(made)
        return made.name

    def _scan(self, scan: Scan) -> _Flat:
        alias, number = scan.alias, 2
        while alias in self.aliases:
            alias, number = f"{scan.alias}_{number}", number + 1
        self.aliases.add(alias)
        columns = {(scan.alias, c): exp.column(c, table=alias) for c in scan.columns}
        return _Flat((Scan(scan.relation, alias, scan.columns),), (), columns)


def _bottom(plan: Plan) -> Plan:
    """The first node below any Project, Filter and Alias."""
    while isinstance(plan, Project | Filter | Alias):
        plan = plan.input
    return plan


def _peel(plan: Plan) -> tuple[Aggregate, tuple[exp.Expr, ...], Environment]:
    """The aggregate at the bottom, and conditions and columns above it in terms of its output."""
    match plan:
        case Project(below, items):
            bottom, conditions, columns = _peel(below)
            made = {("", i.name): substituted(i.expression, columns) for i in items}
            return bottom, conditions, made
        case Filter(below, condition):
            bottom, conditions, columns = _peel(below)
            return bottom, (*conditions, *conjuncts(substituted(condition, columns))), columns
        case Alias(below, alias):
            bottom, conditions, columns = _peel(below)
            return bottom, conditions, {(alias, name): e for (_, name), e in columns.items()}
        case Distinct(below):
            keys = tuple(Item(name, exp.column(name, table="d")) for name in output(below))
            plan = Aggregate(Alias(below, "d"), keys, ())
    assert isinstance(plan, Aggregate)
    return plan, (), {("", name): exp.column(name) for name in output(plan)}


def _core(flat: _Flat, columns: tuple[str, ...]) -> Core:
    return Core(flat.scans, flat.conditions, tuple(Item(c, flat.columns["", c]) for c in columns))


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND joins."""
    whole = condition.unnest()
    return list(whole.flatten()) if isinstance(whole, exp.And) else [whole]


def substituted(expression: exp.Expr, columns: Environment) -> exp.Expr:
    """The expression with every column replaced by what it stands for."""

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        meant = columns[node.table, node.name].copy()
        return (
            meant if isinstance(meant, exp.Column | exp.Literal | exp.Func) else exp.paren(meant, copy=False)
        )

    return expression.copy().transform(swap)


def flatten(plan: Plan, name: str) -> tuple[Block, ...]:
    """The blocks that keep a plan's result: hidden ones first, the result itself, named `name`, last."""
    cutter = _Cutter(name)
    last = cutter.block(plan, name)
    return (*cutter.blocks, last)
