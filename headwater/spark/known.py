"""What a session has found out about statements: their plans and the types of their columns.

It belongs to the session and not to a pipeline. Who opens another pipeline in the same process, or the same one with a
view more, as every cell of a notebook does, finds what did not change planned and analysed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pyspark.sql import SparkSession

from headwater.schema import Schema
from headwater.spark.kept import KeptPlans

MOST_ANALYSED = 2_000
"""So many queries are remembered; then all are asked for again."""

Types = Mapping[str, str]


@dataclass
class Known:
    """The plans that are kept, and the types that Spark told."""

    plans: KeptPlans
    _types: dict[tuple[object, ...], Types] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._types)

    def types(self, schemas: Mapping[str, Schema], text: str, ask: Callable[[], Types]) -> Types:
        """The types of a query's columns over relations of these schemas; `ask` is called if they are not known."""
        key = (text, *sorted(schemas.items(), key=lambda pair: pair[0]))
        if key not in self._types:
            if len(self._types) >= MOST_ANALYSED:
                self._types.clear()
            self._types[key] = ask()
        return self._types[key]

    def forget(self) -> None:
        """A function means something else now: plans hold the functions that they call, and types are theirs."""
        self.plans.forget()
        self._types.clear()


@lru_cache(maxsize=4)
def known_to(spark: SparkSession) -> Known:
    """What a session knows; of some sessions that nobody uses any more it is kept, too."""
    return Known(KeptPlans(spark))
