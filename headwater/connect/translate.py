"""A connector's options for today's Debezium, and a note on each thing that was changed.

    translate({"connector.class": "io.debezium...PostgresConnector", "table.whitelist": "a.b", ...})
    # config: {"table.include.list": "a.b", "plugin.name": "pgoutput", ...}
    # notes:  ("'table.whitelist' is now called 'table.include.list'", ...)

Notes name options and never their values, which may be secret; words of Debezium itself are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.connect.renames import (
    DELETES,
    DRIVER_STAYS,
    HISTORIES,
    PREFIXES,
    REMOVED,
    RENAMED,
    SIMPLE_NAMES,
    SNAPSHOT_MODES,
    UNWRAP_TYPES,
    UNWRAPS,
)

_DRIVER = re.compile(r"database\.([a-z]+[A-Z]\w*)")
_TRANSFORM = re.compile(r"transforms\.([^.]+)\.type")

Config = dict[str, str]


@dataclass(frozen=True)
class Translated:
    """The options as today's Debezium has them; without notes nothing was changed."""

    config: Config
    notes: tuple[str, ...]


def translate(config: Mapping[str, str]) -> Translated:
    """Put old options into new words; connectors that are not Debezium's stay as they are."""
    kind = config.get("connector.class", "")
    if not (kind.startswith("io.debezium.") or kind in SIMPLE_NAMES):
        return Translated(dict(config), ())
    now, notes = dict(config), []
    for step in (
        _names,
        _databases,
        _plugin,
        _snapshot_mode,
        _history_class,
        _truncates,
        _field_names,
        _unwraps,
    ):
        notes += list(step(now))
    return Translated(now, tuple(notes))


def _names(config: Config) -> Iterator[str]:
    for old in list(config):
        new = _new_name(old)
        if old in REMOVED:
            del config[old]
            yield f"'{old}' is left out: {REMOVED[old]}"
        elif new != old and new in config:
            del config[old]
            yield f"'{old}' is left out: '{new}', as it is called now, is there too"
        elif new != old:
            _rename(config, old, new)
            yield f"'{old}' is now called '{new}'"


def _new_name(old: str) -> str:
    if old in RENAMED:
        return RENAMED[old]
    for prefix, new in PREFIXES.items():
        if old.startswith(prefix):
            return new + old.removeprefix(prefix)
    driver = _DRIVER.fullmatch(old)
    return f"driver.{driver[1]}" if driver and driver[1] not in DRIVER_STAYS else old


def _rename(config: Config, old: str, new: str) -> None:
    """Put a new name in the place of the old one, so that a file stays recognisable."""
    pairs = [(new if name == old else name, value) for name, value in config.items()]
    config.clear()
    config.update(pairs)


def _databases(config: Config) -> Iterator[str]:
    if "SqlServer" in config["connector.class"] and "database.dbname" in config:
        _rename(config, "database.dbname", "database.names")
        yield "'database.dbname' is now called 'database.names', and may be a list"


def _plugin(config: Config) -> Iterator[str]:
    if "Postgres" not in config["connector.class"]:
        return
    found = config.get("plugin.name")
    if found is None:
        config["plugin.name"] = "pgoutput"
        yield "'plugin.name' is set to pgoutput, which every Postgres has; without it decoderbufs is asked for"
    elif found.startswith("wal2json"):
        config["plugin.name"] = "pgoutput"
        yield "'plugin.name' is set to pgoutput: wal2json is read no more"


def _snapshot_mode(config: Config) -> Iterator[str]:
    old = config.get("snapshot.mode", "").lower()
    if old not in SNAPSHOT_MODES:
        return
    config["snapshot.mode"] = SNAPSHOT_MODES[old]
    more = "; changes are read from now on, not from where the log begins" if old == "never" else ""
    yield f"'snapshot.mode' {old} is now called {SNAPSHOT_MODES[old]}{more}"


def _history_class(config: Config) -> Iterator[str]:
    old = config.get("schema.history.internal", "")
    if old in HISTORIES:
        config["schema.history.internal"] = HISTORIES[old]
        yield f"the class of 'schema.history.internal' is now {HISTORIES[old]}"


def _truncates(config: Config) -> Iterator[str]:
    old = config.pop("truncate.handling.mode", None)
    if old == "include":
        config.setdefault("skipped.operations", "none")
        yield "'truncate.handling.mode' is now 'skipped.operations' = none"
    elif old is not None:
        yield "'truncate.handling.mode' is left out: truncates are skipped unless 'skipped.operations' says otherwise"


def _field_names(config: Config) -> Iterator[str]:
    old = config.pop("sanitize.field.names", None)
    if old is None:
        return
    if old.lower() == "true":
        config.setdefault("field.name.adjustment.mode", "avro")
    yield "'sanitize.field.names' is now 'field.name.adjustment.mode' = " + (
        "avro" if old.lower() == "true" else "none, which is the default"
    )


def _unwraps(config: Config) -> Iterator[str]:
    for option in [name for name in config if _TRANSFORM.fullmatch(name)]:
        prefix, kind = option.removesuffix("type"), config[option]
        if kind in UNWRAPS:
            config[option] = UNWRAPS[kind]
            yield f"the transform of '{option}' is now called {UNWRAPS[kind]}"
        if config[option] in UNWRAP_TYPES:
            yield from _unwrap_options(config, prefix)


def _unwrap_options(config: Config, prefix: str) -> Iterator[str]:
    tombstones = config.pop(f"{prefix}drop.tombstones", None)
    deletes = config.pop(f"{prefix}delete.handling.mode", None)
    if tombstones is not None or deletes is not None:
        new = DELETES.get(((tombstones or "true").lower(), (deletes or "drop").lower()), "drop")
        config.setdefault(f"{prefix}delete.tombstone.handling.mode", new)
        yield (
            f"'{prefix}drop.tombstones' and '{prefix}delete.handling.mode' are now"
            f" '{prefix}delete.tombstone.handling.mode' = {new}"
        )
    header = config.pop(f"{prefix}operation.header", None)
    if header is not None:
        if header.lower() == "true":
            config.setdefault(f"{prefix}add.headers", "op")
        yield f"'{prefix}operation.header' is now '{prefix}add.headers' = op"
    fields = config.pop(f"{prefix}add.source.fields", None)
    if fields is not None:
        config.setdefault(f"{prefix}add.fields", ",".join(f"source.{f.strip()}" for f in fields.split(",")))
        yield f"'{prefix}add.source.fields' is now '{prefix}add.fields'"
