"""What EXPLAIN, DESCRIBE and SET answer, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.incremental.differentiate import differentiate
from headwater.options import options_of, read_options
from headwater.plan.explain import tree
from headwater.runtime.program import Result, TableNode, ViewNode
from headwater.settings import Settings
from headwater.spark.text import to_text
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation
from headwater.sql.secrets import masked


def explain(result: Result, views: Mapping[str, ViewNode], tables: Mapping[str, TableNode]) -> str:
    """Plan, keys, strategies and the SQL that maintains a result, for each relation that may change and for all."""
    lines = [f"== {result.kind} {result.name} ==", "", "-- plan", tree(result.plan)]
    lines += ["", "-- keys", *(f"--   {line}" for line in _keys([views[name] for name in result.nodes]))]
    for name in result.reads:
        note = tables[name].type.notes(tables[name].table) if name in tables else None
        lines += ["", f'-- "{name}": {note}'] if note else []
    for name in result.nodes:
        for changed in _changed(views[name].block.inputs):
            lines += ["", *_maintaining(views[name], changed)]
    return "\n".join(lines)


def _changed(inputs: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each relation alone, and all in one batch: every other set is made of the same terms."""
    alone: list[tuple[str, ...]] = [(relation,) for relation in inputs]
    return alone if len(inputs) < 2 else [*alone, inputs]


def _maintaining(node: ViewNode, changed: tuple[str, ...]) -> list[str]:
    """The statements of a step in which these relations changed, and what they read."""
    change = differentiate(node.maintained, changed)
    because = f", because of {change.reason}" if change.reason else ""
    who = " and ".join(f'"{relation}"' for relation in changed)
    when = f"when {who} change{'s' if len(changed) == 1 else ''}"
    lines = [f"-- {node.name}: {change.strategy.value}{because}; {when}"]
    for statement in change.statements:
        for read in statement.inputs:
            few = read.restriction
            only = f", only where {few.column} is in {few.by}.{few.by_column}" if few else ""
            plain = " as plain rows" if read.is_bag else ""
            lines.append(f"--   {read.view} is {read.relation}, {read.version.value}{plain}{only}")
        lines.append(f"{statement.target} :=\n{to_text(statement.query, pretty=True)};")
    return lines


def _keys(nodes: Sequence[ViewNode]) -> list[str]:
    """What is unique in what is read, and the values by which each stored relation falls apart."""
    unique = {name: node.maintained.keys.get(name, ()) for node in nodes for name in node.block.inputs}
    lines = [
        f"{name}: unique by {', '.join(key)}" if key else f"{name}: no key" for name, key in unique.items()
    ]
    for node in nodes:
        block = node.block
        if block.tree is not None:
            lines.append(
                f"{node.name}: sliced by {', '.join(f'{a}.{c}' for a, c in block.tree.way.cover.items())}"
            )
        elif block.group is not None:
            by = [
                item.expression.sql(dialect="spark")
                for item in block.cores[0].items
                if item.name in block.group.keys
            ]
            lines.append(f"{node.name}: grouped by {', '.join(by)}" if by else f"{node.name}: one group")
    return lines


def describe(relation: Relation, types: list[tuple[str, str]]) -> str:
    """The columns of a table or view, one a line, and its key."""
    width = max(len(name) for name, _ in types)
    computed = {column.name for column in relation.computed}
    lines = [f"{n:<{width}}  {t}{'  computed' if n in computed else ''}" for n, t in types]
    if relation.schema.key:
        lines.append(f"key: {', '.join(relation.schema.key)}")
    return "\n".join(lines)


def settings(statement: sql.Set | sql.Reset, values: dict[str, str]) -> list[str]:
    """Carry out SET and RESET; looking at settings is an answer."""
    known = [option.name for option, _ in options_of(Settings)]
    if isinstance(statement, sql.Reset):
        for name in [statement.key] if statement.key else list(values):
            values.pop(name, None)
        return []
    if statement.key is None:
        return [listed([f"{name} = {value}" for name, value in masked(values).items()])]
    read_options(Settings, {statement.key: statement.value or ""}, owner="SET", place=statement.place)
    if statement.value is None:
        return [f"{statement.key} = {values.get(statement.key, '')}"]
    assert statement.key in known
    values[statement.key] = statement.value
    return []


def listed(lines: Sequence[str]) -> str:
    """One a line."""
    return "\n".join(lines) if lines else "(none)"
