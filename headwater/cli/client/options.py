"""The options that completion offers inside of WITH (...) and behind SET, from the dataclasses that declare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.formats.kinds import FORMATS
from headwater.options import options_of
from headwater.settings import Settings
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.registry import CATALOG_TYPES, SOURCE_TYPES

FORMAT_OPTIONS = ("format", "value.format", "key.format")


@dataclass(frozen=True)
class Offered:
    """An option: its name, what it means, the values it takes if these are few."""

    name: str
    doc: str
    choices: tuple[str, ...] = ()


def connectors() -> dict[str, str]:
    """All connectors, and which ways they go."""
    ways = (("read", SOURCE_TYPES), ("write", SINK_TYPES))
    both = sorted({*SOURCE_TYPES, *SINK_TYPES})
    return {name: ", ".join(way for way, known in ways if name in known) for name in both}


def table_options(given: Mapping[str, str]) -> dict[str, Offered]:
    """What WITH (...) of CREATE TABLE takes, in the light of what it says already."""
    offered = {"connector": Offered("connector", "what the table stands for", tuple(connectors()))}
    name = given.get("connector", "")
    for kind in (SOURCE_TYPES.get(name), SINK_TYPES.get(name)):
        for one in _declared(kind.options, given) if kind is not None else ():
            offered.setdefault(one.name, one)
    return offered


def catalog_options(given: Mapping[str, str]) -> dict[str, Offered]:
    """What WITH (...) of CREATE CATALOG takes."""
    offered = {"type": Offered("type", "what kind of catalog", tuple(CATALOG_TYPES))}
    kind = CATALOG_TYPES.get(given.get("type", ""))
    return offered | {one.name: one for one in (_declared(kind.options, given) if kind is not None else ())}


def settings() -> dict[str, Offered]:
    """What SET takes."""
    return {one.name: one for one in _declared(Settings, {})}


def _declared(options: type, given: Mapping[str, str]) -> Iterator[Offered]:
    formats = {given[name] for name in FORMAT_OPTIONS if name in given}
    for option, field in options_of(options):
        name = option.name.removesuffix(".")
        if option.prefix and name in FORMATS:
            inner = options_of(FORMATS[name]) if name in formats else []
            yield from (
                Offered(f"{name}.{one.name}", one.doc, _choices(one.choices, f.type)) for one, f in inner
            )
        elif option.name in FORMAT_OPTIONS:
            yield Offered(option.name, option.doc, tuple(FORMATS))
        elif not (option.prefix and option.name in ("value.", "key.")):
            yield Offered(option.name, option.doc, _choices(option.choices, field.type))


def _choices(choices: tuple[str, ...], kind: object) -> tuple[str, ...]:
    return choices or (("true", "false") if str(kind).startswith("bool") else ())
