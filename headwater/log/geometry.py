"""Shapes on a map, as MySQL stores them: the number of their reference system, and WKB.

geojson(value)      # {"type": "Point", "coordinates": [1.0, 2.0], "srid": 0}
"""

from __future__ import annotations

import json
import struct
from typing import Any

_KINDS = {
    1: "Point",
    2: "LineString",
    3: "Polygon",
    4: "MultiPoint",
    5: "MultiLineString",
    6: "MultiPolygon",
    7: "GeometryCollection",
}
_POINT, _LINE, _POLYGON, _COLLECTION = 1, 2, 3, 7


def geojson(value: bytes) -> str:
    """A shape in words that other systems read."""
    (srid,) = struct.unpack_from("<I", value)
    shape, _ = _shape(value, 4)
    return json.dumps(shape | {"srid": srid})


def _shape(data: bytes, at: int) -> tuple[dict[str, Any], int]:
    order = "<" if data[at] else ">"
    (kind,) = struct.unpack_from(order + "I", data, at + 1)
    if kind == _COLLECTION:
        parts, at = _parts(data, at + 5, order)
        return {"type": _KINDS[kind], "geometries": parts}, at
    if kind > _POLYGON:
        parts, at = _parts(data, at + 5, order)
        return {"type": _KINDS[kind], "coordinates": [part["coordinates"] for part in parts]}, at
    places, at = _places(data, at + 5, kind, order)
    return {"type": _KINDS[kind], "coordinates": places}, at


def _parts(data: bytes, at: int, order: str) -> tuple[list[dict[str, Any]], int]:
    (count,) = struct.unpack_from(order + "I", data, at)
    parts, at = [], at + 4
    for _ in range(count):
        part, at = _shape(data, at)
        parts.append(part)
    return parts, at


def _places(data: bytes, at: int, kind: int, order: str) -> tuple[list[Any], int]:
    if kind == _POINT:
        return list(struct.unpack_from(order + "dd", data, at)), at + 16
    (count,) = struct.unpack_from(order + "I", data, at)
    places, at = [], at + 4
    for _ in range(count):
        place, at = _places(data, at, _LINE if kind == _POLYGON else _POINT, order)
        places.append(place)
    return places, at
