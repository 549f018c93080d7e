"""Options of a WITH clause: a frozen dataclass is the validation, the error text and the docs page.

@dataclass(frozen=True)
class PrintOptions:
    identifier: str = option("print-identifier", "a word before each line", default="")

read_options(PrintOptions, {"print-identifier": "a"}, place=None)
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from importlib.metadata import entry_points
from typing import Any, TypeVar

from headwater.errors import OptionError, Place
from headwater.nearest import did_you_mean

T = TypeVar("T")

SOURCES, SINKS = "headwater.sources", "headwater.sinks"
"""The entry point groups through which others add connectors."""


class Secret(str):
    """Text that is used and never shown: printing, formatting and repr give ***."""

    def __new__(cls, text: str = "") -> Secret:
        # str() of a Secret is ***, so one made from another would lose its text.
        return super().__new__(cls, text.reveal() if isinstance(text, Secret) else text)

    def __repr__(self) -> str:
        return "'***'"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return "***"

    def reveal(self) -> str:
        """The text itself, for the one call that needs it."""
        return str.__str__(self)


class Duration(float):
    """A length of time in seconds, written as Flink does: `500 ms`, `10s`, `5 min`, `1 h`; a bare number is ms."""

    @classmethod
    def of(cls, text: str) -> Duration:
        """The length a text stands for, or a ValueError."""
        found = re.fullmatch(r"\s*(\d+)\s*([a-zµ]*)\s*", text.lower())
        if found is None or found[2] not in _UNITS:
            raise ValueError(text)
        return cls(int(found[1]) * _UNITS[found[2]])


_UNITS = {
    unit: seconds
    for seconds, units in (
        (1e-9, ("ns", "nano", "nanos", "nanosecond", "nanoseconds")),
        (1e-6, ("µs", "micro", "micros", "microsecond", "microseconds")),
        (1e-3, ("", "ms", "milli", "millis", "millisecond", "milliseconds")),
        (1.0, ("s", "sec", "secs", "second", "seconds")),
        (60.0, ("m", "min", "minute", "minutes")),
        (3600.0, ("h", "hour", "hours")),
        (86400.0, ("d", "day", "days")),
    )
    for unit in units
}


class Size(int):
    """A number of bytes, written as Flink does: `512 kb`, `2mb`, `10 gb`; a bare number is bytes."""

    @classmethod
    def of(cls, text: str) -> Size:
        """The size a text stands for, or a ValueError."""
        found = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
        if found is None or found[2] not in _SIZES:
            raise ValueError(text)
        return cls(int(found[1]) << _SIZES[found[2]])


_SIZES = {
    unit: bits
    for bits, units in (
        (0, ("", "b", "byte", "bytes")),
        (10, ("k", "kb", "kib")),
        (20, ("m", "mb", "mib")),
        (30, ("g", "gb", "gib")),
        (40, ("t", "tb", "tib")),
    )
    for unit in units
}


def size_text(size: int) -> str:
    """A number of bytes for people: `size_text(1_288_490_189)` is `1.2 GB`."""
    bits, unit = next(((b, u) for b, u in _SHOWN if size >= 1 << b), (0, "bytes"))
    return f"{size} {unit}" if not bits else f"{size / (1 << bits):.1f} {unit}"


_SHOWN = ((40, "TB"), (30, "GB"), (20, "MB"), (10, "KB"))


@dataclass(frozen=True)
class Option:
    """What an option is called in SQL, what it means, and which values it takes."""

    name: str
    doc: str
    choices: tuple[str, ...] = ()
    prefix: bool = False


def option(
    name: str,
    doc: str,
    *,
    default: Any = MISSING,
    choices: tuple[str, ...] = (),
    prefix: bool = False,
) -> Any:
    """A dataclass field that is an SQL option.

    Without a default it is required. With `prefix=True` the field is a dict of all options that
    start with `name` (`properties.`, `debezium.`), keyed by what follows.
    """
    described = {"option": Option(name, doc, choices, prefix)}
    if prefix:
        return field(default_factory=dict, metadata=described)
    return field(default=default, metadata=described)


def options_of(cls: type) -> list[tuple[Option, dataclasses.Field[Any]]]:
    """The options a dataclass declares, in order."""
    return [(f.metadata["option"], f) for f in dataclasses.fields(cls) if "option" in f.metadata]


def read_options(
    cls: type[T], given: Mapping[str, str], *, owner: str, place: Place | None, prefix: str = ""
) -> T:
    """Build `cls` from the text of a WITH clause, or say which option is wrong and what is near.

    `owner` names what the options belong to, as in `connector 'jdbc'`; all of `given` start with `prefix`.
    """
    declared = [(dataclasses.replace(o, name=prefix + o.name), f) for o, f in options_of(cls)]
    values: dict[str, Any] = {f.name: {} for o, f in declared if o.prefix}
    for name, text in given.items():
        found = _find(declared, name)
        if found is None:
            raise _unknown(name, [o.name for o, _ in declared], owner, place)
        spec, target = found
        if spec.prefix:
            values[target.name][name[len(spec.name) :]] = text
        else:
            values[target.name] = _convert(spec, target, text, place)
    missing = [
        o.name
        for o, f in declared
        if f.name not in values and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        raise OptionError(
            f"{owner} needs option '{missing[0]}'",
            detail=f"The options given are {', '.join(sorted(given)) or 'none'}.",
            hint=f"Add '{missing[0]}' = '...' to the WITH clause.",
            place=place,
        )
    return cls(**values)


def revealed(options: T) -> T:
    """The options with the plain text of every reference, for a connector about to use them.

    Only what is declared as Secret stays one.
    """
    plain: dict[str, Any] = {}
    for spec, target in options_of(type(options)):
        value = getattr(options, target.name)
        if spec.prefix:
            plain[target.name] = {name: _plain(text) for name, text in value.items()}
        elif not str(target.type).startswith("Secret"):
            plain[target.name] = _plain(value)
    return dataclasses.replace(options, **plain)  # type: ignore[type-var]  # a dataclass, as options_of found


def _plain(value: Any) -> Any:
    return value.reveal() if isinstance(value, Secret) else value


def _find(
    declared: list[tuple[Option, dataclasses.Field[Any]]], name: str
) -> tuple[Option, dataclasses.Field[Any]] | None:
    exact = next(((o, f) for o, f in declared if not o.prefix and o.name == name), None)
    return exact or next(((o, f) for o, f in declared if o.prefix and name.startswith(o.name)), None)


def _unknown(name: str, known: list[str], owner: str, place: Place | None) -> OptionError:
    return OptionError(
        f"{owner} has no option '{name}'",
        detail=f"Its options are {', '.join(known)}.",
        hint=did_you_mean(name, known, otherwise="Remove it, or see the docs of the connector."),
        place=place,
    )


def _convert(spec: Option, target: dataclasses.Field[Any], text: str, place: Place | None) -> Any:
    if spec.choices and text not in spec.choices:
        raise OptionError(
            f"option '{spec.name}' does not take the value '{text}'",
            detail=f"It takes {', '.join(spec.choices)}.",
            hint=did_you_mean(text, spec.choices, otherwise=f"Use '{spec.choices[0]}'."),
            place=place,
        )
    kind = str(target.type)
    try:
        if kind.startswith("int"):
            return int(text)
        if kind.startswith("float"):
            return float(text)
        if kind.startswith("Duration"):
            return Duration.of(text)
        if kind.startswith("Size"):
            return Size.of(text)
        if kind.startswith("bool"):
            return {"true": True, "false": False}[text.lower()]
    except (ValueError, KeyError):
        raise OptionError(
            f"option '{spec.name}' does not take the value '{text}'",
            detail=f"It takes {_TAKES.get(kind.split()[0], 'a number')}.",
            place=place,
        ) from None
    return Secret(text) if kind.startswith("Secret") else text


_TAKES = {
    "bool": "true or false",
    "Duration": "a length of time such as 500 ms, 10 s or 5 min",
    "Size": "a size such as 500 mb, 10gb or 1048576",
}


def find_connector(
    name: str | None, known: Mapping[str, T], *, group: str, other_way: tuple[str, ...], place: Place | None
) -> T:
    """What a connector's name stands for: first in `known`, then among the entry points of `group`.

    `other_way` are the connectors that exist for the opposite direction, so that the error can say so.
    """
    if name is not None and name in known:
        return known[name]
    # Looking for entry points reads the metadata of every installed package: only who needs them asks.
    added = {point.name: point for point in entry_points(group=group)}
    names = sorted({*known, *added})
    if name is None:
        raise OptionError(
            "the table has no connector",
            detail=f"The connectors are {', '.join(names)}.",
            hint="Add WITH ('connector' = '...') to the CREATE TABLE statement.",
            place=place,
        )
    if name in added:
        found: T = added[name].load()
        return found
    raise _unknown_connector(name, names, group=group, other_way=other_way, place=place)


def _unknown_connector(
    name: str, names: list[str], *, group: str, other_way: tuple[str, ...], place: Place | None
) -> OptionError:
    verb, other_verb, other_group = (
        ("read", "written", SINKS) if group == SOURCES else ("written", "read", SOURCES)
    )
    if name in {*other_way, *(point.name for point in entry_points(group=other_group))}:
        return OptionError(
            f"connector '{name}' can only be {other_verb}",
            detail=f"The connectors that can be {verb} are {', '.join(names)}.",
            hint=f"Use a table with one of these where rows are {verb}.",
            place=place,
        )
    return OptionError(
        f"unknown connector '{name}'",
        detail=f"The connectors that can be {verb} are {', '.join(names)}.",
        hint=did_you_mean(name, names, otherwise="Use one of these."),
        place=place,
    )
