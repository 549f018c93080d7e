"""PNGs of few colours: a quarter of what a browser makes of the same picture, and nobody sees a difference."""

from __future__ import annotations

import base64
import struct
import zlib
from array import array
from collections import Counter
from pathlib import Path

from playwright.sync_api import Page

COLOURS = 256

_PIXELS = """async (png) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const bytes = pen.getImageData(0, 0, image.width, image.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def write_small(png: bytes, file: Path, blank: Page) -> None:
    """Write a picture with a palette; `blank` is an empty page, whose browser reads the pixels."""
    wide, high, text = blank.evaluate(_PIXELS, base64.b64encode(png).decode())
    pixels = array("I", base64.b64decode(text))
    palette, places = _palette(Counter(pixels))
    rows = bytes(map(places.__getitem__, pixels))
    lines = b"".join(b"\0" + rows[at : at + wide] for at in range(0, len(rows), wide))
    head = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    colours = b"".join(bytes((one & 255, one >> 8 & 255, one >> 16 & 255)) for one in palette)
    pieces = (b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_piece(kind, data) for kind, data in pieces))


def _palette(counted: Counter[int]) -> tuple[list[int], dict[int, int]]:
    """The colours that are there most, and for each colour the one that is nearest."""
    most: dict[int, int] = {}
    for colour, _ in counted.most_common():
        # Letters have hundreds of shades between two colours: neighbours share a place.
        most.setdefault(colour & 0xF8F8F8F8, colour)
        if len(most) == COLOURS:
            break
    palette = list(most.values())
    parts = [(one & 255, one >> 8 & 255, one >> 16 & 255) for one in palette]
    places = {one: at for at, one in enumerate(palette)}
    for colour in counted:
        if colour not in places:
            red, green, blue = colour & 255, colour >> 8 & 255, colour >> 16 & 255
            far = [(r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2 for r, g, b in parts]
            places[colour] = far.index(min(far))
    return palette, places


def _piece(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
