"""The table `headwater.dead_letters`: messages that could not be read, put aside by choice.

Nobody delivers it: the run-time adds what it could not decode. To everyone else it is a table like others.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.schema import Column, Schema
from headwater.sources.base import SourceType
from headwater.sources.silent import SilentSource, forget_nothing

TABLE = "headwater.dead_letters"

SCHEMA = Schema(
    (
        Column("table_name", "string"),
        Column("topic", "string"),
        Column("partition", "int"),
        Column("offset", "bigint"),
        Column("key", "binary"),
        Column("value", "binary"),
        Column("error", "string"),
    )
)


@dataclass(frozen=True)
class DeadLetterOptions:
    """It has none."""


DEAD_LETTERS = SourceType(
    options=DeadLetterOptions,
    describe=lambda options: SCHEMA,
    group=lambda options: "headwater",
    open=SilentSource,
    forget=forget_nothing,
    append_only=True,
)
