"""Which columns a format can hold."""

from __future__ import annotations

from collections.abc import Collection

from headwater.errors import Place
from headwater.formats.kinds import Formats
from headwater.schema import Schema


def check_types(found: Formats, schema: Schema, *, metadata: Collection[str], place: Place | None) -> None:
    """Raise OptionError for a column that a format cannot hold."""
