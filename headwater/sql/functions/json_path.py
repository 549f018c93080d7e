"""JSON paths: `lax $.a['b c'][0].d[*]` as a mode and steps.

$            the whole document
.a  ['a']    a field
[0]  [-1]    an element, counted from the front or from the end
[*]  .*      all elements of an array, all values of an object
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from headwater.sql.functions.trees import WrongCall

_MODE = re.compile(r"\s*(?:(strict|lax)\s+)?(.*?)\s*", re.IGNORECASE | re.DOTALL)
_STEP = re.compile(
    r"""
    \.?\[\s*(?P<index>-?\d+)\s*\]
  | \.?\[\s*(?P<all>\*)\s*\]
  | \.?\[\s*(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\s*\]
  | \.(?P<every>\*)
  | \.(?P<name>[^.\[\]()*\s'"?@]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HINT = "A path is made of $, .field, ['field'], [0], [-1], [*] and .*; write strict or lax before it."


@dataclass(frozen=True)
class Field:
    """The value of one field of an object."""

    name: str


@dataclass(frozen=True)
class Element:
    """One element of an array; negative numbers count from the end."""

    index: int


@dataclass(frozen=True)
class All:
    """Every element of an array, every value of an object."""


Step = Field | Element | All


@dataclass(frozen=True)
class JsonPath:
    """A path and how it treats what is not there: strict makes it an error, lax makes it empty."""

    mode: Literal["strict", "lax"]
    steps: tuple[Step, ...]
    text: str

    @property
    def is_definite(self) -> bool:
        """True if it leads to at most one value; any other path gives an array."""
        return not any(isinstance(step, All) for step in self.steps)


def parse_path(written: str) -> JsonPath:
    """Read a path; without a mode it is strict, as in Flink."""
    found = _MODE.fullmatch(written)
    assert found is not None
    mode, rest = found[1], found[2]
    if not rest:
        raise WrongCall("the JSON path is empty", _HINT)
    steps: list[Step] = []
    at = 1 if rest.startswith("$") else 0
    rest = rest if rest.startswith("$") else f".{rest}"
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            raise WrongCall(f"the JSON path cannot be read at {rest[at:]!r}", _HINT)
        steps.append(_step(step))
        at = step.end()
    return JsonPath("lax" if (mode or "").lower() == "lax" else "strict", tuple(steps), written)


def _step(found: re.Match[str]) -> Step:
    if found["index"] is not None:
        return Element(int(found["index"]))
    if found["all"] or found["every"]:
        return All()
    name: str = found["name"] if found["name"] is not None else found["quoted"]
    if "'" in name and '"' in name:
        raise WrongCall("a field name with both kinds of quotes cannot be part of a JSON path", _HINT)
    return Field(name)


def spark_path(steps: tuple[Step, ...]) -> str:
    """A path of fields and elements as Spark's `variant_get` reads it: `$.a['b c'][0]`."""
    return "$" + "".join(map(_written, steps))


def _written(step: Step) -> str:
    match step:
        case Field(name) if _PLAIN.match(name):
            return f".{name}"
        case Field(name):
            quote = '"' if "'" in name else "'"
            return f"[{quote}{name}{quote}]"
        case Element(index):
            return f"[{index}]"
    raise AssertionError("a step to many values is no part of one path")
