"""The table's columns, from the fields that were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.formats.layers import Layers
from headwater.formats.shapes import Shape
from headwater.formats.trees import Tree, case, null
from headwater.formats.values import Language, complaint, misfits, typed


@dataclass(frozen=True)
class Field:
    """One value as it was read: what it is, how it is written, and what errors call it."""

    raw: Tree
    shape: Shape
    language: Language
    path: str


@dataclass(frozen=True)
class Made:
    """Typed values in the order of their fields, and what can be wrong with them: conditions and complaints."""

    values: tuple[Tree, ...]
    wrongs: tuple[tuple[Tree, Tree], ...]

    @property
    def wrong(self) -> Tree:
        """The first complaint, NULL if there is none."""
        return case(*self.wrongs) if self.wrongs else null("string")


def make(layers: Layers, fields: Sequence[Field]) -> Made:
    """Convert fields, each once."""
    values, branches = [], []
    for field in fields:
        value = typed(field.raw, field.shape, field.language, bind=layers.bind)
        if value is not field.raw:
            value = layers.put(value)
        values.append(value)
        wrong = misfits(field.raw, field.shape, field.language, value=value)
        if wrong is not None:
            branches.append((wrong, complaint(field.raw, field.shape, field.language, path=field.path)))
    return Made(tuple(values), tuple(branches))
