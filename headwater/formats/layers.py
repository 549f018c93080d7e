"""Queries in layers: a value that is used twice is computed once, in the layer below.

layers = Layers("messages")
parsed = layers.put(from_json(...))
layers.put(part(parsed, "a"), "a")
layers.query(["a"])     # SELECT a FROM (SELECT *, c0.a AS a FROM (SELECT *, FROM_JSON(...) AS c0 FROM messages))
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.formats.trees import Body, Tree, aliased, column


class Layers:
    """Named values over a relation, each in the lowest layer in which all it needs is there."""

    def __init__(self, relation: str) -> None:
        self._relation = relation
        self._layers: list[dict[str, Tree]] = []
        self._heights: dict[str, int] = {}

    def put(self, value: Tree) -> Tree:
        """Compute a value once; the answer is the column that holds it."""
        name = f"c{len(self._heights)}"
        needed = {found.name for found in value.find_all(exp.Column)}
        height = max((self._heights[n] + 1 for n in needed if n in self._heights), default=0)
        while len(self._layers) <= height:
            self._layers.append({})
        self._layers[height][name] = value
        self._heights[name] = height
        return column(name)

    def bind(self, value: Tree, body: Body) -> Tree:
        """`body` of a value that is computed once."""
        return body(self.put(value))

    def query(self, outputs: Sequence[tuple[str, Tree]], *, where: Tree | None = None) -> exp.Select:
        """The outputs under their names, over the rows of the relation for which `where` holds."""
        made = exp.select(exp.Star()).from_(exp.to_table(self._relation))
        if where is not None:
            made = made.where(where.copy())
        needed = self._needed([value for _, value in outputs])
        for layer in self._layers:
            values = [aliased(value, name) for name, value in layer.items() if name in needed]
            if values:
                made = exp.select(exp.Star(), *values).from_(made.subquery("m"))
        return exp.select(*[aliased(value, name) for name, value in outputs]).from_(made.subquery("m"))

    def _needed(self, outputs: Sequence[Tree]) -> set[str]:
        """The values that the outputs are made of, directly or not."""
        found = {c.name for value in outputs for c in value.find_all(exp.Column)}
        for layer in reversed(self._layers):
            for name, value in layer.items():
                if name in found:
                    found |= {c.name for c in value.find_all(exp.Column)}
        return found
