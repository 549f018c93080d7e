"""The SQL files and connectors of the package, with the addresses of one demo in the place of their own.

The files name hosts as a network of containers would: `postgres:5432`, `kafka:9092`, `elasticsearch:9200`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources

from headwater.demo.stage import Ports
from headwater.services.ports import HOST


def packaged(name: str) -> str:
    """The text of a file as it stands in the package."""
    return resources.files("headwater.demo").joinpath(name).read_text(encoding="utf-8")


def sql_file(name: str, ports: Ports, *, more: Mapping[str, str] | None = None) -> str:
    """A SQL file with the demo's addresses, and with some words in the place of others; all else stays as it is."""
    text = packaged(name)
    for old, new in {
        "//postgres:5432/": f"//{HOST}:{ports.postgres}/",
        "'hostname' = 'postgres'": f"'hostname' = '{HOST}'",
        "'port' = '5432'": f"'port' = '{ports.postgres}'",
        "'kafka:9092'": f"'{ports.broker}'",
        "'properties.bootstrap.servers' = ''": f"'properties.bootstrap.servers' = '{ports.broker}'",
        "http://elasticsearch:9200": ports.search,
        **(more or {}),
    }.items():
        text = text.replace(old, new)
    return text


def connector_file(name: str, ports: Ports, *, more: Mapping[str, str] | None = None) -> str:
    """A connector's JSON with the demo's addresses, and with some options more or other ones."""
    said = json.loads(packaged(name))
    address = {"database.hostname": HOST, "database.port": str(ports.postgres)}
    said["config"] |= address | dict(more or {})
    return json.dumps(said, indent=2) + "\n"
